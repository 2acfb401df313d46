// Memory layouts of results: the order of dimensions, and the channels-last formats.
#include "ops/common/layout.h"

#include <utility>

namespace ebb::ops {

MemoryFormat suggested_format(const NdArray& x) {
  const std::size_t dims = x.sizes().size();
  if ((dims != 4 && dims != 5) || x.strides()[1] == 0) return MemoryFormat::Contiguous;
  // Iterates over the dimensions in channels-last order, from the innermost one outwards: channels, spatial
  // dimensions from the last to the first, samples.
  std::int64_t least = 0;
  for (std::size_t i = 0; i < dims; ++i) {
    const std::size_t d = i == 0 ? 1 : i == dims - 1 ? 0 : dims - i;
    const std::int64_t size = x.sizes()[d], stride = x.strides()[d];
    // With one channel and one element per channel both formats have the same strides.
    const bool undecided = d == 0 && least == x.strides()[1];
    if (size == 0 || stride < least || undecided) return MemoryFormat::Contiguous;
    least = size > 1 ? stride * size : stride;
  }
  return dims == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

NdArray empty_in(IntArrayRef sizes, DType dtype, Device device, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous) return NdArray::empty(sizes, dtype, device);
  return NdArray::empty_strided(sizes, channels_last_strides(sizes), dtype, device);
}

// Broadcast dimensions (stride 0) have no order in memory, so they keep their position. Dimensions with equal
// strides are ordered by size.
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

bool has_format(const NdArray& x, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous) return x.is_contiguous();
  if (format == MemoryFormat::Preserve) return true;
  if (x.dim() != (format == MemoryFormat::ChannelsLast ? 4 : 5)) return false;
  const DimVector wanted = channels_last_strides(x.sizes());
  for (std::size_t d = 0; d < wanted.size(); ++d)
    if (x.sizes()[d] != 1 && x.strides()[d] != wanted[d]) return false;
  return true;
}

}  // namespace ebb::ops
