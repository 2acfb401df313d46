// The range in which a module's forward runs: its name on a profiler's timeline, and in errors of backward.
#pragma once

#include <ebb/autograd/place.h>
#include <ebb/cuda/nvtx.h>

#include <cstdint>

namespace ebb::nn {
class Module;
}

namespace ebb::nn::detail {

/// Lives while the module's forward runs: nodes that are recorded remember the module. With cuda::emit_nvtx
/// it is a range of the timeline; a module within its own range, as one of ebb's is that was called by its
/// handle, opens no second one.
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

/// Within a handler: throws the error anew, with the module's path if there is none in it yet.
[[noreturn]] EBB_API void rethrow_in(const Module& module);

}  // namespace ebb::nn::detail
