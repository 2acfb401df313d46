// CUDAStream: libtorch's name of a stream.
#pragma once

#include <ebb/cuda/stream.h>

#include <torch/csrc/namespaces.h>

#include <new>

struct CUstream_st;  // cudaStream_t is a pointer to one

namespace ebb::cuda {

/// A Stream with the methods of libtorch's class (c10::cuda::CUDAStream).
class CUDAStream : public Stream {
 public:
  CUDAStream(const Stream& stream) : Stream(stream) {}

  CUstream_st* stream() const { return static_cast<CUstream_st*>(handle()); }
  operator CUstream_st*() const { return stream(); }
  std::int8_t device_index() const { return device().index(); }
  DeviceType device_type() const { return DeviceType::CUDA; }
  /// Returns the stream itself, which libtorch converts to a c10::Stream.
  CUDAStream unwrap() const { return *this; }
};

/// Returns a stream of a device's pool. All streams of ebb have the same priority.
inline CUDAStream getStreamFromPool(bool /*is_high_priority*/ = false, std::int64_t device_index = -1) {
  return Stream::from_pool(Device(Device::CUDA, device_index));
}
inline CUDAStream getDefaultCUDAStream(std::int64_t device_index = -1) {
  return Stream::default_stream(Device(Device::CUDA, device_index));
}
inline CUDAStream getCurrentCUDAStream(std::int64_t device_index = -1) {
  return Stream::current(Device(Device::CUDA, device_index));
}
/// Makes `stream` the calling thread's current stream of the stream's device, until the next call.
inline void setCurrentCUDAStream(const CUDAStream& stream) {
  alignas(StreamGuard) unsigned char never_left[sizeof(StreamGuard)];
  ::new (static_cast<void*>(never_left)) StreamGuard(stream);
}
inline void stream_synchronize(const CUDAStream& stream) { stream.synchronize(); }

}  // namespace ebb::cuda
