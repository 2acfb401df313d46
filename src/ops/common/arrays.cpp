// Conversions and copies of arrays, outside of the graph, on one device or between devices.
#include "ops/common/arrays.h"

#include "core/backend.h"
#include "core/capture.h"
#include "core/recorder.h"
#include "ops/common/kernels.h"
#include "ops/common/layout.h"

namespace ebb::ops {

NdArray contiguous_array(const NdArray& x, const ArrayForm& form) {
  const DType dtype = form.dtype.value_or(x.dtype());
  if (form.sizes && x.sizes() != *form.sizes)
    return contiguous_array(x.expand(*form.sizes), {dtype, form.format, nullopt, form.pinned});
  if (x.dtype() == dtype && has_format(x, form.format)) return x;
  const DimVector strides = form.format == MemoryFormat::Contiguous ? contiguous_strides(x.sizes())
                                                                    : channels_last_strides(x.sizes());
  NdArray out = NdArray::empty_strided(x.sizes(), strides, dtype, x.device(), form.pinned);
  kernels::copy(x.device(), out, x);
  return out;
}

NdArray contiguous_array(const Variable& x, const ArrayForm& form) {
  return x.defined() ? contiguous_array(x.array(), form) : NdArray();
}

NdArray cast_array(const NdArray& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  NdArray out = NdArray::empty(x.sizes(), dtype, x.device());
  kernels::copy(x.device(), out, x);
  return out;
}

NdArray copied_array(const NdArray& x) {
  NdArray out = NdArray::empty(x.sizes(), x.dtype(), x.device());
  kernels::copy(x.device(), out, x);
  return out;
}

NdArray zeros_array(IntArrayRef sizes, DType dtype, Device device) {
  NdArray out = NdArray::empty(sizes, dtype, device);
  kernels::fill(device, out, 0);
  return out;
}

NdArray scalar_array(const Scalar& value, DType dtype, Device device) {
  NdArray out = NdArray::empty({}, dtype, device);
  kernels::fill(device, out, value);
  return out;
}

Device resolve_device(Device device) {
  if (device.is_cpu()) return Device(kCPU);
  if (device.has_index()) return device;
  return detail::backend(device.type()).current_device();
}

namespace {

std::size_t bytes_of(const NdArray& x) {
  return static_cast<std::size_t>(x.numel() * element_size(x.dtype()));
}

// Enqueues the copy of one block of bytes without waiting for it. `pinned` is `out` or x, whichever is on the
// CPU; its memory is not reused until the copy has run.
void move_queued(const NdArray& out, const NdArray& x, const NdArray& pinned) {
  detail::not_replayed("elements are copied between devices");
  const Device device = x.device().is_cpu() ? out.device() : x.device();
  const detail::Backend& backend = detail::backend(device.type());
  backend.copy(out.address(), out.device(), x.address(), x.device(), bytes_of(x), false);
  pinned.storage()->used_on(device, backend.current_stream(device));
  if (detail::Capture* capture = detail::current_capture()) capture->keep(pinned.storage());
}

void move(const NdArray& out, const NdArray& x) {
  detail::not_replayed("elements are copied between devices");
  const DeviceType mover = out.device().is_cpu() ? x.device().type() : out.device().type();
  detail::backend(mover).copy(out.address(), out.device(), x.address(), x.device(), bytes_of(x), true);
}

void copy_from_cpu(NdArray& out, const NdArray& x, bool non_blocking) {
  const Device device = out.device();
  // During capture a copy cannot wait. move() then throws the backend's error.
  if (!x.storage()->is_pinned() || (!non_blocking && detail::current_capture())) {
    const NdArray source = contiguous_array(x, {out.dtype()});
    if (out.is_contiguous()) return move(out, source);
    const NdArray landing = NdArray::empty(out.sizes(), out.dtype(), device);
    move(landing, source);
    return kernels::copy(device, out, landing);
  }
  // The elements are copied in the dtype of x, and the device converts them.
  const NdArray source = contiguous_array(x, {.pinned = true});
  if (out.is_contiguous() && out.dtype() == x.dtype()) {
    move_queued(out, source, source);
  } else {
    const NdArray landing = NdArray::empty(out.sizes(), x.dtype(), device);
    move_queued(landing, source, source);
    kernels::copy(device, out, landing);
  }
  if (non_blocking) return;
  const detail::Backend& backend = detail::backend(device.type());
  backend.stream_synchronize(device, backend.current_stream(device));
}

void copy_to_cpu(NdArray& out, const NdArray& x, bool non_blocking) {
  const NdArray source = contiguous_array(x, {out.dtype()});
  if (!out.is_contiguous()) {  // the host rearranges the copied elements
    const NdArray landing = NdArray::empty(out.sizes(), out.dtype());
    move(landing, source);
    return kernels::copy(out.device(), out, landing);
  }
  if (non_blocking && out.storage()->is_pinned())
    move_queued(out, source, out);
  else
    move(out, source);
}

}  // namespace

// Between devices only one contiguous block is copied, without conversion. Each device rearranges the
// elements of its own array.
void copy_array(NdArray& out, const NdArray& x, bool non_blocking) {
  if (out.numel() == 0) return;
  if (out.device() == x.device()) return kernels::copy(out.device(), out, x);
  if (x.device().is_cpu()) return copy_from_cpu(out, x, non_blocking);
  if (out.device().is_cpu()) return copy_to_cpu(out, x, non_blocking);
  const NdArray source = contiguous_array(x, {out.dtype()});
  if (out.is_contiguous()) return move(out, source);
  const NdArray landing = NdArray::empty(out.sizes(), out.dtype(), out.device());
  move(landing, source);
  kernels::copy(out.device(), out, landing);
}

void copy_constant(NdArray& out, const NdArray& numbers) {
  detail::Capture* const capture = out.device().is_cpu() ? nullptr : detail::current_capture();
  if (!capture) {
    detail::host_access(out);  // a recording tape treats `out` as a constant
    const detail::RecorderScope not_recorded(nullptr);
    return copy_array(out, numbers);
  }
  NdArray constant = detail::Capture::array(numbers.sizes(), numbers.dtype(), out.device());
  capture->before_replay([constant, numbers, copied = false]() mutable {
    if (!copied) copy_array(constant, numbers);
    copied = true;
  });
  copy_array(out, constant);
}

}  // namespace ebb::ops
