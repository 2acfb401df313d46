// ModuleRange: the scope of a module's forward, which names the module in profiles and in errors of backward.
#pragma once

#include <ebb/autograd/place.h>
#include <ebb/cuda/nvtx.h>

#include <cstdint>

namespace ebb::nn {
class Module;
}

namespace ebb::nn::detail {

/// Exists while the module's forward runs, so that recorded nodes refer to the module. With cuda::emit_nvtx
/// it opens a range of the profiler. If a module of ebb is called by its handle, its forward already runs in
/// its own range, and no second range is opened.
class EBB_API ModuleRange {
 public:
  explicit ModuleRange(const Module& module);  // inline, below Module
  ~ModuleRange() {
    if (open_) [[unlikely]]
      close();
    autograd::current_place = outer_place_;
  }
  ModuleRange(const ModuleRange&) = delete;
  ModuleRange& operator=(const ModuleRange&) = delete;

 private:
  void open(const Module& module);
  void close() noexcept;

  std::uint32_t outer_place_;
  bool open_ = false;
  const Module* outer_ = nullptr;
};

/// Rethrows the current exception, with the module's path added if it has none yet. Call it in a handler.
[[noreturn]] EBB_API void rethrow_in(const Module& module);

}  // namespace ebb::nn::detail
