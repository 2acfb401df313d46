// The capture that a thread is in.
#include "core/capture.h"

#include "core/backend.h"

namespace ebb::detail {
namespace {
thread_local constinit Capture* capture_of_thread = nullptr;
}

NdArray Capture::array(IntArrayRef sizes, DType dtype, Device device) {
  const Backend& backend = detail::backend(device.type());
  struct Restore {
    const Backend& backend;
    std::shared_ptr<const void> state;
    ~Restore() { backend.set_thread_state(state.get()); }
  } restore{backend, backend.thread_state()};
  backend.leave_capture();
  return NdArray::empty(sizes, dtype, device);
}

Capture* current_capture() noexcept { return capture_of_thread; }
void set_current_capture(Capture* capture) noexcept { capture_of_thread = capture; }

}  // namespace ebb::detail
