// The profiler's range of a module's forward: see cuda::emit_nvtx.
#pragma once

#include <ebb/cuda/nvtx.h>

namespace ebb::nn {
class Module;
}

namespace ebb::nn::detail {

/// Lives while the module's forward runs. A module within its own range, as one of ebb's is that was called
/// by its handle, opens no second one.
class EBB_API ModuleRange {
 public:
  explicit ModuleRange(const Module& module) {
    if (ebb::detail::nvtx_emitted.load(std::memory_order_relaxed)) [[unlikely]]
      open(module);
  }
  ~ModuleRange() {
    if (open_) [[unlikely]]
      close();
  }
  ModuleRange(const ModuleRange&) = delete;
  ModuleRange& operator=(const ModuleRange&) = delete;

 private:
  void open(const Module& module);
  void close() noexcept;

  bool open_ = false;
  const Module* outer_ = nullptr;
};

}  // namespace ebb::nn::detail
