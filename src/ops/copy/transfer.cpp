#include "ops/copy/transfer.h"

#include "core/backend.h"
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

void copy_array(NdArray& out, const NdArray& x) {
  if (out.numel() == 0) return;
  if (out.device() == x.device()) return kernels::copy(out.device(), out, x);
  // Bytes travel between devices only in one block of one dtype; each side rearranges its own.
  NdArray source = x;
  if (!x.is_contiguous() || x.dtype() != out.dtype()) {
    source = NdArray::empty(x.sizes(), out.dtype(), x.device());
    kernels::copy(x.device(), source, x);
  }
  NdArray landing = out.is_contiguous() ? out : NdArray::empty(out.sizes(), out.dtype(), out.device());
  const DeviceType mover = out.device().is_cpu() ? x.device().type() : out.device().type();
  detail::backend(mover).copy(landing.data(), out.device(), source.data(), x.device(),
                              static_cast<std::size_t>(out.numel() * element_size(out.dtype())));
  if (!out.is_contiguous()) kernels::copy(out.device(), out, landing);
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
