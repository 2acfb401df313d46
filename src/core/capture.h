// The CUDA graph that a thread is capturing.
#pragma once

#include <ebb/core/ndarray.h>

#include <functional>
#include <utility>
#include <vector>

namespace ebb::detail {

/// The host's part of a graph that is being captured. The capture freezes the arguments of kernels. Values
/// that the host computes for each step (a learning rate, a step count, the offset of a random draw)
/// therefore are not arguments: kernels read them from device memory, to which the host writes before each
/// replay.
class Capture {
 public:
  /// Runs `prepare` before every replay, on the replaying thread, with the graph's device and stream current.
  /// `prepare` must own the memory that it writes, which comes from array().
  void before_replay(std::function<void()> prepare) { prepares_.push_back(std::move(prepare)); }
  /// Allocates device memory that is written before replays. This memory is not in the graph's pool, because
  /// captured temporaries could overwrite it there.
  EBB_API static NdArray array(IntArrayRef sizes, DType dtype, Device device);
  /// Keeps memory that the captured work accesses alive as long as the graph.
  void keep(Ref<Storage> storage) { kept_.push_back(std::move(storage)); }
  void prepare() const {
    for (const auto& each : prepares_) each();
  }

 private:
  std::vector<std::function<void()>> prepares_;
  std::vector<Ref<Storage>> kept_;
};

/// Returns the capture of the calling thread, or null.
EBB_API Capture* current_capture() noexcept;
EBB_API void set_current_capture(Capture* capture) noexcept;

}  // namespace ebb::detail
