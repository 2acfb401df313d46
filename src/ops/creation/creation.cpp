// empty, zeros, ones, full and their _like forms; from_blob.
#include <ebb/ops/creation.h>

#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/factories.h"
#include "ops/common/kernels.h"

#include <algorithm>

namespace ebb {
namespace {

Variable filled(const char* op, NdArray data, const Scalar& value, const TensorOptions& options) {
  ops::check_fits(op, value, data.dtype());
  kernels::fill(data.device(), data, value);
  return ops::finish(std::move(data), options);
}

Variable filled_like(const char* op, const Variable& x, const Scalar& value, const TensorOptions& options,
                     optional<MemoryFormat> format) {
  const ops::LikeRequest request(op, x, options, format);
  return filled(op, request.array(x), value, options);
}

}  // namespace

Variable empty(IntArrayRef sizes, const TensorOptions& options, optional<MemoryFormat> memory_format) {
  const optional<MemoryFormat> given = options.memory_format_opt();
  EBB_CHECK(!memory_format || !given,
            "empty: the memory format is given twice, in the options and as an argument. Give it once.");
  const MemoryFormat format = memory_format ? *memory_format : given.value_or(MemoryFormat::Contiguous);
  EBB_CHECK(format != MemoryFormat::Preserve,
            "empty: there is no tensor whose memory format could be preserved.");
  if (format == MemoryFormat::Contiguous)
    return ops::finish(ops::fresh_array("empty", sizes, options), options);
  const std::size_t dims = format == MemoryFormat::ChannelsLast ? 4 : 5;
  EBB_CHECK(sizes.size() == dims, "empty: this channels-last format needs ", static_cast<std::int64_t>(dims),
            " dimensions, got shape ", sizes, ".");
  checked_numel(sizes);
  return empty_strided(sizes, channels_last_strides(sizes), options);
}

Variable empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  return ops::finish(
      NdArray::empty_strided(sizes, strides, options.dtype(), ops::resolve_device(options.device()),
                             ops::wants_pinned(options)),
      options);
}

Variable zeros(IntArrayRef sizes, const TensorOptions& options) {
  return filled("zeros", ops::fresh_array("zeros", sizes, options), 0, options);
}
Variable ones(IntArrayRef sizes, const TensorOptions& options) {
  return filled("ones", ops::fresh_array("ones", sizes, options), 1, options);
}
Variable full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options) {
  const DType natural = value.is_floating_point() ? get_default_dtype() : value.dtype();
  const TensorOptions typed = options.dtype(options.dtype_or(natural));
  return filled("full", ops::fresh_array("full", sizes, typed), value, typed);
}
Variable scalar_tensor(const Scalar& value, const TensorOptions& options) {
  return filled("scalar_tensor", ops::fresh_array("scalar_tensor", {}, options), value, options);
}

Variable empty_like(const Variable& x, const TensorOptions& options, optional<MemoryFormat> memory_format) {
  return ops::finish(ops::LikeRequest("empty_like", x, options, memory_format).array(x), options);
}
Variable zeros_like(const Variable& x, const TensorOptions& options, optional<MemoryFormat> memory_format) {
  return filled_like("zeros_like", x, 0, options, memory_format);
}
Variable ones_like(const Variable& x, const TensorOptions& options, optional<MemoryFormat> memory_format) {
  return filled_like("ones_like", x, 1, options, memory_format);
}
Variable full_like(const Variable& x, const Scalar& value, const TensorOptions& options,
                   optional<MemoryFormat> memory_format) {
  return filled_like("full_like", x, value, options, memory_format);
}

Variable empty_permuted(IntArrayRef sizes, IntArrayRef physical_layout, const TensorOptions& options) {
  EBB_CHECK(physical_layout.size() == sizes.size(), "empty_permuted: sizes ", sizes, " and physical_layout ",
            physical_layout, " differ in length.");
  checked_numel(sizes);
  DimVector strides(sizes.size(), 0);
  std::int64_t step = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const std::int64_t d = physical_layout[i];
    EBB_CHECK(d >= 0 && d < static_cast<std::int64_t>(sizes.size()) && strides[d] == 0,
              "empty_permuted: physical_layout must contain each dimension exactly once, got ",
              physical_layout, ".");
    strides[d] = step;
    step *= std::max<std::int64_t>(sizes[d], 1);
  }
  return empty_strided(sizes, strides, options);
}

Variable from_blob(void* data, IntArrayRef sizes, const TensorOptions& options,
                   optional<Device> target_device) {
  return detail::from_blob(data, sizes, nullopt, 0, options, target_device, {});
}
Variable from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options,
                   optional<Device> target_device) {
  return detail::from_blob(data, sizes, strides, 0, options, target_device, {});
}
Variable from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, std::int64_t storage_offset,
                   const TensorOptions& options, optional<Device> target_device) {
  return detail::from_blob(data, sizes, strides, storage_offset, options, target_device, {});
}

namespace detail {

Variable from_blob(void* data, IntArrayRef sizes, optional<IntArrayRef> strides, std::int64_t storage_offset,
                   const TensorOptions& options, optional<Device> target_device, BlobOwner owner) {
  const Device device = ops::resolve_device(target_device.value_or(options.device()));
  const DimVector steps = strides ? DimVector(*strides) : contiguous_strides(sizes);
  const std::int64_t extent = checked_extent("from_blob", sizes, steps, storage_offset);
  EBB_CHECK(data || extent == 0, "from_blob: null data for shape ", sizes,
            ". Pass the address of the first element.");
  const DType dtype = options.dtype();
  Ref<Storage> storage = Storage::adopt(data, static_cast<std::size_t>(extent * element_size(dtype)), device,
                                        owner.free, owner.context);
  return ops::finish(NdArray(std::move(storage), DimVector(sizes), steps, extent ? storage_offset : 0, dtype),
                     options);
}

}  // namespace detail
}  // namespace ebb
