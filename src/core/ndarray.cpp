// Shapes, strides and the allocation of arrays.
#include <ebb/core/ndarray.h>

#include <algorithm>
#include <numeric>

namespace ebb {

std::int64_t checked_numel(IntArrayRef sizes) {
  std::int64_t n = 1;
  bool zero = false, overflow = false;
  for (std::int64_t s : sizes) {
    EBB_CHECK(s >= 0, "a size is negative in shape ", sizes, "; sizes must be at least 0.");
    if (s == 0)
      zero = true;
    else
      overflow |= __builtin_mul_overflow(n, s, &n);
  }
  EBB_CHECK(zero || (!overflow && n <= (std::int64_t{1} << 59)), "shape ", sizes,
            " has more elements than memory can address; use smaller sizes.");
  return zero ? 0 : n;
}

std::int64_t checked_extent(const char* op, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) {
  EBB_CHECK(sizes.size() == strides.size(), op, ": sizes ", sizes, " and strides ", strides,
            " differ in length.");
  EBB_CHECK(offset >= 0, op, ": the storage offset must not be negative, got ", offset, ".");
  const bool is_empty = checked_numel(sizes) == 0;
  std::int64_t extent = 0;
  bool overflow = __builtin_add_overflow(offset, 1, &extent);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EBB_CHECK(strides[i] >= 0, op, ": negative strides are not supported, got ", strides, ".");
    std::int64_t span = 0;
    overflow = overflow ||
               __builtin_mul_overflow(std::max<std::int64_t>(sizes[i] - 1, 0), strides[i], &span) ||
               __builtin_add_overflow(extent, span, &extent);
  }
  if (is_empty) return 0;
  EBB_CHECK(!overflow && extent <= (std::int64_t{1} << 59), op, ": strides ", strides, " of shape ", sizes,
            " and storage offset ", offset, " reach further than memory can address.");
  return extent;
}

DimVector contiguous_strides(IntArrayRef sizes) {
  DimVector strides(sizes.size());
  std::uint64_t step = 1;  // may wrap if another size is 0; no element uses the stride then
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = static_cast<std::int64_t>(step);
    step *= static_cast<std::uint64_t>(std::max<std::int64_t>(sizes[i], 1));
  }
  return strides;
}

DimVector channels_last_strides(IntArrayRef sizes) {
  EBB_CHECK(sizes.size() >= 3, "channels-last needs a shape (N, C, spatial...), got ", sizes, ".");
  DimVector strides(sizes.size());
  std::uint64_t step = 1;  // may wrap, as in contiguous_strides
  const auto take = [&](std::size_t i) {
    strides[i] = static_cast<std::int64_t>(step);
    step *= static_cast<std::uint64_t>(std::max<std::int64_t>(sizes[i], 1));
  };
  take(1);
  for (std::size_t i = sizes.size(); i-- > 2;) take(i);
  take(0);
  return strides;
}

DimVector broadcast_shapes(const char* op, IntArrayRef a, IntArrayRef b) {
  if (a.size() < b.size()) std::swap(a, b);
  DimVector out(a);
  const std::size_t lead = a.size() - b.size();
  for (std::size_t i = 0; i < b.size(); ++i) {
    const std::int64_t x = a[lead + i], y = b[i];
    EBB_CHECK(x == y || x == 1 || y == 1, op, ": the shapes ", a, " and ", b,
              " do not broadcast: the size at dimension ", static_cast<std::int64_t>(lead + i),
              " must match or be 1 (", x, " and ", y, ").");
    out[lead + i] = x == 1 ? y : x;
  }
  return out;
}

std::int64_t wrap_dim(const char* op, std::int64_t dim, std::int64_t dims) {
  const std::int64_t n = std::max<std::int64_t>(dims, 1);  // a 0-d tensor has the dimensions 0 and -1
  EBB_CHECK_INDEX(dim >= -n && dim < n, op, ": Dimension out of range (expected to be in range of [", -n,
                  ", ", n - 1, "], but got ", dim, ").");
  return dim < 0 ? dim + n : dim;
}

NdArray::NdArray(Ref<Storage> storage, DimVector sizes, DimVector strides, std::int64_t offset, DType dtype)
    : storage_(std::move(storage)),
      sizes_(std::move(sizes)),
      strides_(std::move(strides)),
      offset_(offset),
      dtype_(dtype) {
  refresh();
}

NdArray NdArray::empty(IntArrayRef sizes, DType dtype, Device device) {
  NdArray a;
  a.sizes_.resize_for_overwrite(sizes.size());
  a.strides_.resize_for_overwrite(sizes.size());
  // The fast path computes strides and size in one pass. If `plain` becomes false, because a size is 0,
  // negative or large, functions with overflow checks compute both again.
  std::int64_t* const own_sizes = a.sizes_.data();
  std::int64_t* const own_strides = a.strides_.data();
  std::int64_t step = 1;
  bool plain = true;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const std::int64_t size = sizes[i];
    own_sizes[i] = size;
    own_strides[i] = step;
    plain = plain && size > 0 && size < (std::int64_t{1} << 31) && step < (std::int64_t{1} << 28);
    step *= plain ? size : 1;
  }
  if (!plain) {
    step = checked_numel(sizes);
    a.strides_ = contiguous_strides(sizes);
  }
  a.numel_ = step;
  a.dtype_ = dtype;
  a.storage_ = Storage::allocate(static_cast<std::size_t>(a.numel_ * element_size(dtype)), device);
  return a;
}

NdArray NdArray::empty_strided(IntArrayRef sizes, IntArrayRef strides, DType dtype, Device device,
                               bool pinned) {
  const std::int64_t extent = checked_extent("empty_strided", sizes, strides);
  const auto bytes = static_cast<std::size_t>(extent * element_size(dtype));
  return NdArray(pinned ? Storage::allocate_pinned(bytes) : Storage::allocate(bytes, device),
                 DimVector(sizes), DimVector(strides), 0, dtype);
}

void NdArray::refresh() {
  numel_ = checked_numel(sizes_);
  contiguous_ = true;
  if (numel_ == 0) return;
  std::int64_t step = 1;
  for (std::size_t i = sizes_.size(); i-- > 0;) {
    if (sizes_[i] == 1) continue;
    if (strides_[i] != step) contiguous_ = false;
    step *= sizes_[i];
  }
}

bool NdArray::is_expanded() const {
  if (contiguous_) return false;
  for (std::size_t i = 0; i < sizes_.size(); ++i)
    if (sizes_[i] > 1 && strides_[i] == 0) return true;
  return false;
}

bool NdArray::is_dense() const {
  if (contiguous_) return true;
  DimVector order(sizes_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto i, auto j) { return strides_[i] < strides_[j]; });
  std::int64_t step = 1;
  for (std::int64_t i : order) {
    if (sizes_[i] == 1) continue;
    if (strides_[i] != step) return false;
    step *= sizes_[i];
  }
  return true;
}

NdArray NdArray::as_strided(IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) const {
  return NdArray(storage_, DimVector(sizes), DimVector(strides), offset, dtype_);
}

NdArray NdArray::expand(IntArrayRef sizes) const {
  DimVector strides(sizes.size(), 0);
  const std::size_t lead = sizes.size() - sizes_.size();
  for (std::size_t i = 0; i < sizes_.size(); ++i)
    if (sizes_[i] == sizes[lead + i]) strides[lead + i] = strides_[i];
  return as_strided(sizes, strides, offset_);
}

}  // namespace ebb
