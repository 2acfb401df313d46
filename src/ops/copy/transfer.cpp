#include "ops/copy/transfer.h"

#include "core/backend.h"
#include "core/capture.h"
#include "ops/copy/kernels.h"

#include <ebb/core/visit.h>

#include <cmath>
#include <limits>
#include <utility>

namespace ebb {

namespace kernels {
constinit KernelSlot<void(NdArray&, const NdArray&)> copy{"copy", &cpu::copy};
constinit KernelSlot<void(NdArray&, const Scalar&)> fill{"fill", &cpu::fill};
}  // namespace kernels

namespace ops {
namespace {

template <class T>
bool fits(const Scalar& value) {
  using Limits = std::numeric_limits<T>;
  if (value.is_floating_point()) {
    // From below with a bound that is excluded: 2^63 is a double, the largest int64 is not.
    const double v = std::trunc(value.to_double()), end = std::ldexp(1.0, Limits::digits);
    return v < end && v >= (std::is_signed_v<T> ? -end : 1 - end);
  }
  const std::int64_t v = value.to_long();
  // An unsigned type takes small negative numbers modulo its range, as in torch.
  if constexpr (std::is_signed_v<T>)
    return v >= Limits::min() && v <= Limits::max();
  else
    return v <= Limits::max() && v >= -std::int64_t{Limits::max()};
}

}  // namespace

// Broadcast dimensions (stride 0) say nothing about the
// order and stay where they stand; equal strides are ordered by size.
DimVector memory_order(const NdArray& x) {
  const std::int64_t n = x.dim();
  DimVector order(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) order[i] = n - 1 - i;
  const auto compare = [&](std::int64_t inner, std::int64_t outer) {
    const std::int64_t a = x.strides()[inner], b = x.strides()[outer];
    if (a == 0 || b == 0) return 0;
    if (a != b) return a < b ? -1 : 1;
    return x.sizes()[inner] > x.sizes()[outer] ? 1 : 0;
  };
  for (std::int64_t i = 1; i < n; ++i) {
    std::int64_t moving = i;
    for (std::int64_t at = i - 1; at >= 0; --at) {
      const int order_of = compare(order[at], order[moving]);
      if (order_of < 0) break;
      if (order_of > 0) {
        std::swap(order[at], order[moving]);
        moving = at;
      }
    }
  }
  return order;
}

Device resolve_device(Device device) {
  if (device.is_cpu()) return Device(kCPU);
  if (device.has_index()) return device;
  return detail::backend(device.type()).current_device();
}

DimVector strides_like(const NdArray& like, optional<MemoryFormat> format) {
  switch (format.value_or(MemoryFormat::Preserve)) {
    case MemoryFormat::Contiguous:
      return contiguous_strides(like.sizes());
    case MemoryFormat::ChannelsLast:
      EBB_CHECK(like.dim() == 4, "MemoryFormat::ChannelsLast needs a tensor of 4 dimensions, got shape ",
                like.sizes(), ".");
      return channels_last_strides(like.sizes());
    case MemoryFormat::ChannelsLast3d:
      EBB_CHECK(like.dim() == 5, "MemoryFormat::ChannelsLast3d needs a tensor of 5 dimensions, got shape ",
                like.sizes(), ".");
      return channels_last_strides(like.sizes());
    case MemoryFormat::Preserve:
      break;
  }
  if (like.is_contiguous()) return contiguous_strides(like.sizes());
  if (like.is_dense()) return DimVector(like.strides());
  DimVector strides(static_cast<std::size_t>(like.dim()));
  std::int64_t step = 1;
  for (std::int64_t d : memory_order(like)) {
    strides[d] = step;
    if (like.sizes()[d] != 0) step *= like.sizes()[d];
  }
  return strides;
}

NdArray empty_array_like(const NdArray& like, DType dtype, Device device, optional<MemoryFormat> format) {
  const MemoryFormat f = format.value_or(MemoryFormat::Preserve);
  if (f == MemoryFormat::Contiguous || (f == MemoryFormat::Preserve && like.is_contiguous()))
    return NdArray::empty(like.sizes(), dtype, device);
  return NdArray::empty_strided(like.sizes(), strides_like(like, f), dtype, device);
}

namespace {

std::size_t bytes_of(const NdArray& x) {
  return static_cast<std::size_t>(x.numel() * element_size(x.dtype()));
}

// x itself if it is one block of the dtype, else a copy that is.
NdArray packed(const NdArray& x, DType dtype, bool pinned = false) {
  if (x.is_contiguous() && x.dtype() == dtype) return x;
  NdArray out = NdArray::empty_strided(x.sizes(), contiguous_strides(x.sizes()), dtype, x.device(), pinned);
  kernels::copy(x.device(), out, x);
  return out;
}

// One block of bytes, without waiting: `pinned` is the one of the CPU.
void move_queued(const NdArray& out, const NdArray& x, const NdArray& pinned) {
  const Device device = x.device().is_cpu() ? out.device() : x.device();
  const detail::Backend& backend = detail::backend(device.type());
  backend.copy(out.data(), out.device(), x.data(), x.device(), bytes_of(x), false);
  pinned.storage()->used_on(device, backend.current_stream(device));
  if (detail::Capture* capture = detail::current_capture()) capture->keep(pinned.storage());
}

void move(const NdArray& out, const NdArray& x) {
  const DeviceType mover = out.device().is_cpu() ? x.device().type() : out.device().type();
  detail::backend(mover).copy(out.data(), out.device(), x.data(), x.device(), bytes_of(x), true);
}

void copy_from_cpu(NdArray& out, const NdArray& x, bool non_blocking) {
  const Device device = out.device();
  // A capture has no use for a copy that waits; the backend says so.
  if (!x.storage()->is_pinned() || (!non_blocking && detail::current_capture())) {
    const NdArray source = packed(x, out.dtype());
    if (out.is_contiguous()) return move(out, source);
    const NdArray landing = NdArray::empty(out.sizes(), out.dtype(), device);
    move(landing, source);
    return kernels::copy(device, out, landing);
  }
  // As it is: the device converts.
  const NdArray source = packed(x, x.dtype(), true);
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
  const NdArray source = packed(x, out.dtype());
  if (!out.is_contiguous()) {  // the host rearranges what has arrived
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

// Bytes travel between devices only in one block of one dtype; each side rearranges its own.
void copy_array(NdArray& out, const NdArray& x, bool non_blocking) {
  if (out.numel() == 0) return;
  if (out.device() == x.device()) return kernels::copy(out.device(), out, x);
  if (x.device().is_cpu()) return copy_from_cpu(out, x, non_blocking);
  if (out.device().is_cpu()) return copy_to_cpu(out, x, non_blocking);
  const NdArray source = packed(x, out.dtype());
  if (out.is_contiguous()) return move(out, source);
  const NdArray landing = NdArray::empty(out.sizes(), out.dtype(), out.device());
  move(landing, source);
  kernels::copy(out.device(), out, landing);
}

bool has_format(const NdArray& x, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous) return x.is_contiguous();
  if (format == MemoryFormat::Preserve) return true;
  if (x.dim() != (format == MemoryFormat::ChannelsLast ? 4 : 5)) return false;
  const DimVector wanted = channels_last_strides(x.sizes());
  for (std::size_t d = 0; d < wanted.size(); ++d)
    if (x.sizes()[d] != 1 && x.strides()[d] != wanted[d]) return false;
  return true;
}

void check_fits(const char* op, const Scalar& value, DType dtype) {
  if (!is_integral(dtype)) return;
  visit_integral(dtype, op, [&]<class T> {
    EBB_CHECK(fits<T>(value), op, ": the value ", value, " cannot be converted to ", dtype,
              " without overflow. Use a wider dtype.");
  });
}

}  // namespace ops
}  // namespace ebb
