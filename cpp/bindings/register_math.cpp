#include <algorithm>

#include "bindings/arguments.hpp"
#include "bindings/bindings.hpp"
#include "core/check.hpp"
#include "core/rng.hpp"
#include "kernels/table.hpp"

namespace committal {
namespace {

using Words = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;
using LaneMap = void (*KernelTable::*)(const double*, double*, std::size_t);

// f(first, count) for pieces of n numbers, with a look for Ctrl-C between them: some milliseconds.
template <typename F>
void in_pieces(std::size_t n, F&& f) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (std::size_t first = 0; first < n; first += kPiece) {
    f(first, std::min(kPiece, n - first));
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

// Offers one of the kernels' functions of a number.
void def_map(py::module_& m, const char* name, const char* argument, LaneMap function,
             const char* doc) {
  m.def(
      name,
      [function](const Numbers& x, const std::string& isa) {
        py::array_t<double> y(Shape(x.shape(), x.shape() + x.ndim()));
        const auto map = kernel_table(resolve_isa(isa)).*function;
        in_pieces(static_cast<std::size_t>(x.size()), [&](std::size_t i, std::size_t n) {
          map(x.data() + i, y.mutable_data() + i, n);
        });
        return y;
      },
      py::arg(argument), py::kw_only(), py::arg("isa") = "auto", doc);
}

py::array_t<std::uint32_t> philox(const Words& counter, const Words& key) {
  if (counter.ndim() != 2 || counter.shape(1) != 4) {
    throw py::value_error("counter must have shape (n, 4)");
  }
  if (key.ndim() != 1 || key.shape(0) != 2) throw py::value_error("key must have shape (2,)");
  py::array_t<std::uint32_t> out(Shape{counter.shape(0), 4});
  const auto in = counter.unchecked<2>();
  auto words = out.mutable_unchecked<2>();
  const PhiloxKey k{{key.at(0), key.at(1)}};
  for (py::ssize_t i = 0; i < in.shape(0); ++i) {
    const PhiloxCounter x = philox4x32({{in(i, 0), in(i, 1), in(i, 2), in(i, 3)}}, k);
    for (py::ssize_t j = 0; j < 4; ++j) words(i, j) = x.word[j];
  }
  return out;
}

py::array_t<double> draw_uniforms(std::uint64_t key, std::uint64_t run, int slot,
                                  std::uint64_t first, py::ssize_t count, const std::string& isa) {
  if (count < 0) refuse("count", std::to_string(count), "at least 0");
  require_between("slot", slot, 0, 255);
  py::array_t<double> out(count);
  const KernelTable& kernels = kernel_table(resolve_isa(isa));
  in_pieces(static_cast<std::size_t>(count), [&](std::size_t i, std::size_t n) {
    kernels.uniforms(key, run, static_cast<std::uint32_t>(slot), first + i, out.mutable_data() + i,
                     n);
  });
  return out;
}

}  // namespace

void register_math(py::module_& m) {
  using py::arg;
  def_map(m, "exp", "x", &KernelTable::exp, "The exp of the kernels.");
  def_map(m, "log", "x", &KernelTable::log, "The log of the kernels (normal x > 0).");
  def_map(m, "normal_quantile", "u", &KernelTable::normal_quantile,
          "The normal quantile of the kernels.");
  m.def("philox4x32", &philox, arg("counter"), arg("key"), "Philox4x32-10 of each counter.");
  m.def("uniforms", &draw_uniforms, arg("key"), arg("run"), arg("slot"), arg("first"), arg("count"),
        py::kw_only(), arg("isa") = "auto",
        "Uniforms number first .. first + count - 1 of a stream.");
}

}  // namespace committal
