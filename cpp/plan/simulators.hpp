// What simulators of every kind of plan do alike.
#pragma once

#include "core/check.hpp"
#include "core/engine.hpp"
#include "kernels/table.hpp"
#include "plan/programs.hpp"

namespace committal {

template <typename View>
Described describe_quantity(std::string_view name, Array<Quantity<View>> all, const View& view) {
  const std::int64_t number = resolve("outputs", name, all);
  Described described{static_cast<int>(number), all[number].element, {}};
  for (const auto axis : all[number].axes) {
    if (axis != nullptr) described.shape.push_back(view.*axis);
  }
  return described;
}

// The same, or one of the plan's formulas: they are numbered after the others.
template <typename View>
Described describe_quantity(std::string_view name, Array<Quantity<View>> all, const View& view,
                            const ProgramSet& programs, std::int64_t arms) {
  for (std::size_t i = 0; i < programs.quantities().size(); ++i) {
    if (name != programs.quantity_names()[i]) continue;
    Described described{static_cast<int>(all.count) + static_cast<int>(i), Element::kFloat64, {}};
    if (has_arms(programs.quantities()[i]->view().output_shape(0))) described.shape = {arms};
    return described;
  }
  return describe_quantity(name, all, view);
}

inline int choose_lanes(int asked, int narrow, int wide, int best) {
  if (asked == 0) return best;
  if (asked != narrow && asked != wide) {
    refuse("block", std::to_string(asked),
           "0, " + std::to_string(narrow) + " or " + std::to_string(wide));
  }
  return asked;
}

// What the view points to must outlive the block.
template <typename View>
BlockKernel bind_block(const Kernel<View, BlockTask, void>& kernel, const View& view) {
  return {kernel.bytes(view), [run = kernel.run, view](const BlockTask& task) { run(view, task); }};
}

}  // namespace committal
