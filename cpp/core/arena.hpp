// Memory for a block of lanes, aligned for the widest vectors.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace committal {

inline constexpr std::align_val_t kWorkspaceAlignment{64};

struct ReleaseWorkspace {
  void operator()(void* memory) const { ::operator delete(memory, kWorkspaceAlignment); }
};
using Workspace = std::unique_ptr<void, ReleaseWorkspace>;

inline Workspace make_workspace(std::size_t bytes) {
  return Workspace(::operator new(bytes, kWorkspaceAlignment));
}

}  // namespace committal
