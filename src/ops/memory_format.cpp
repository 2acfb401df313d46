#include "ops/memory_format.h"

namespace ebb::ops {

MemoryFormat suggested_format(const NdArray& x) {
  const std::size_t dims = x.sizes().size();
  if ((dims != 4 && dims != 5) || x.strides()[1] == 0) return MemoryFormat::Contiguous;
  // From the innermost dimension outwards: channels, the places from the last on, samples.
  std::int64_t least = 0;
  for (std::size_t i = 0; i < dims; ++i) {
    const std::size_t d = i == 0 ? 1 : i == dims - 1 ? 0 : dims - i;
    const std::int64_t size = x.sizes()[d], stride = x.strides()[d];
    // With one channel and one place the strides of both formats are the same.
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

}  // namespace ebb::ops
