// CUDAEvent: libtorch's name of an event.
#pragma once

#include <ATen/cuda/CUDAContext.h>

struct CUevent_st;  // cudaEvent_t is a pointer to one

namespace ebb::cuda {

/// An Event with the constructor and methods of libtorch's class (at::cuda::CUDAEvent).
class CUDAEvent : public Event {
 public:
  /// `flags` are those of cudaEventCreateWithFlags; without cudaEventDisableTiming, 2, elapsed_time() works.
  explicit CUDAEvent(unsigned flags = 2) : Event((flags & 2) == 0) {}

  bool isCreated() const { return handle() != nullptr; }
  CUevent_st* event() const { return static_cast<CUevent_st*>(handle()); }
  operator CUevent_st*() const { return event(); }
  using Event::record;
  void recordOnce(const Stream& stream) {
    if (!isCreated()) record(stream);
  }
};

}  // namespace ebb::cuda
