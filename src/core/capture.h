// The CUDA graph that a thread is capturing, for those who take part in it.
#pragma once

#include <ebb/core/ndarray.h>

#include <functional>
#include <utility>
#include <vector>

namespace ebb::detail {

/// What a graph being captured must remember besides the device's work. Kernels' arguments are frozen by the
/// capture; whatever the host decides anew for each step (a learning rate, a count of steps, the number of a
/// random draw) lives in device memory, and is written there before each replay.
class Capture {
 public:
  /// Runs `prepare` before every replay, on the thread that replays, with the graph's device and stream
  /// current. It must hold whatever it writes to, which comes from array().
  void before_replay(std::function<void()> prepare) { prepares_.push_back(std::move(prepare)); }
  /// Device memory to be written before replays: not from the graph's own, where the captured work's
  /// temporaries come and go.
  EBB_API static NdArray array(IntArrayRef sizes, DType dtype, Device device);
  /// Keeps memory that the captured work reads or writes for as long as the graph.
  void keep(Ref<Storage> storage) { kept_.push_back(std::move(storage)); }
  void prepare() const {
    for (const auto& each : prepares_) each();
  }

 private:
  std::vector<std::function<void()>> prepares_;
  std::vector<Ref<Storage>> kept_;
};

/// The capture that the calling thread works for; null outside of one.
EBB_API Capture* current_capture() noexcept;
EBB_API void set_current_capture(Capture* capture) noexcept;

}  // namespace ebb::detail
