#include "core/capture.h"

namespace ebb::detail {
namespace {
thread_local constinit Capture* capture_of_thread = nullptr;
}

Capture* current_capture() noexcept { return capture_of_thread; }
void set_current_capture(Capture* capture) noexcept { capture_of_thread = capture; }

}  // namespace ebb::detail
