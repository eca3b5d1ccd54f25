#include "core/arena.hpp"

#include <new>
#include <string>
#include <utility>

namespace committal {
namespace {

class NoWorkspace final : public std::bad_alloc {
 public:
  explicit NoWorkspace(const std::string& size)
      : message_("a block of runs needs " + size + " of memory, which cannot be had") {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

}  // namespace

void ReleaseWorkspace::operator()(void* memory) const {
  ::operator delete(memory, std::align_val_t{kWorkspaceAlignment});
}

Workspace make_workspace(std::size_t bytes) {
  if (bytes == kTooManyBytes) throw NoWorkspace("more than 2^64 bytes");
  void* memory = ::operator new(bytes, std::align_val_t{kWorkspaceAlignment}, std::nothrow);
  if (memory == nullptr) throw NoWorkspace(std::to_string(bytes) + " bytes");
  return Workspace(memory);
}

}  // namespace committal
