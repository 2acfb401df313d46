// flip, roll, rot90, pixel_shuffle, pixel_unshuffle, channel_shuffle, and native_channel_shuffle (its name in
// ATen).
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/shape/kernels.h"

namespace ebb {

namespace {

using autograd::GradList;

struct FlipBackward : autograd::Node {
  DimVector dims;
  std::string name() const override { return "FlipBackward0"; }
  GradList apply(GradList&& grads) override { return {flip(grads[0], dims)}; }
};

struct RollBackward : autograd::Node {
  DimVector shifts, dims;
  std::string name() const override { return "RollBackward0"; }
  GradList apply(GradList&& grads) override {
    DimVector back(shifts);
    for (std::int64_t& shift : back) shift = -shift;
    return {roll(grads[0], back, dims)};
  }
};

struct Rot90Backward : autograd::Node {
  std::int64_t k = 1;
  DimVector dims;
  std::string name() const override { return "Rot90Backward0"; }
  GradList apply(GradList&& grads) override { return {rot90(grads[0], -k, dims)}; }
};

struct PixelShuffleBackward : autograd::Node {
  std::int64_t factor = 1;
  std::string name() const override { return "PixelShuffleBackward0"; }
  GradList apply(GradList&& grads) override { return {pixel_unshuffle(grads[0], factor)}; }
};

struct PixelUnshuffleBackward : autograd::Node {
  std::int64_t factor = 1;
  std::string name() const override { return "PixelUnshuffleBackward0"; }
  GradList apply(GradList&& grads) override { return {pixel_shuffle(grads[0], factor)}; }
};

NdArray flipped(NdArray x, IntArrayRef dims) {
  NdArray out = NdArray::empty(x.sizes(), x.dtype(), x.device());
  for (const std::int64_t d : dims) x = ops::flip_array(x, d);
  kernels::copy(out.device(), out, x);
  return out;
}

// Writes x, rolled along dims[i] and all later `dims`, to out. A roll divides a dimension into two blocks
// that swap positions. The two blocks of the last of `dims` are joined, once for each combination of the
// blocks of the other `dims`.
void roll_blocks(const NdArray& out, const NdArray& x, IntArrayRef shifts, IntArrayRef dims, std::size_t i) {
  const std::int64_t d = dims[i], size = x.sizes()[d];
  const std::int64_t shift = (shifts[i] % size + size) % size;
  if (i + 1 == dims.size()) {
    NdArray place = out;
    std::vector<NdArray> blocks{ops::slice_array(x, d, 0, size - shift)};
    if (shift > 0) blocks.insert(blocks.begin(), ops::slice_array(x, d, size - shift, shift));
    return kernels::join(out.device(), place, blocks, d);
  }
  const auto block = [&](std::int64_t to, std::int64_t from, std::int64_t length) {
    if (length > 0)
      roll_blocks(ops::slice_array(out, d, to, length), ops::slice_array(x, d, from, length), shifts, dims,
                  i + 1);
  };
  block(shift, 0, size - shift);
  block(0, size - shift, shift);
}

// Returns a contiguous copy. It views x in shape `split`, permutes the dimensions to `order`, and copies to
// shape `sizes`.
NdArray shuffled(const Variable& x, IntArrayRef split, IntArrayRef order, IntArrayRef sizes) {
  const NdArray source = ops::contiguous_array(x.array());
  const NdArray moved =
      ops::permute_array(source.as_strided(split, contiguous_strides(split), source.offset()), order);
  NdArray out = NdArray::empty(moved.sizes(), x.dtype(), x.device());
  kernels::copy(x.device(), out, moved);
  return out.as_strided(sizes, contiguous_strides(sizes), 0);
}

}  // namespace

Variable flip(const Variable& x, IntArrayRef dims) {
  const DimVector wrapped = ops::distinct_dims("flip", dims, x.dim());
  NdArray out = flipped(x.array(), x.dim() == 0 ? IntArrayRef() : IntArrayRef(wrapped));
  return ops::record<FlipBackward>(std::move(out), [&](FlipBackward& node) { node.dims = wrapped; }, x);
}

Variable fliplr(const Variable& x) {
  EBB_CHECK(x.dim() >= 2, "fliplr: input must be at least 2-d, got shape ", x.sizes(), ".");
  return flip(x, {1});
}

Variable flipud(const Variable& x) {
  EBB_CHECK(x.dim() >= 1, "flipud: input must be at least 1-d, got shape ", x.sizes(), ".");
  return flip(x, {0});
}

Variable roll(const Variable& x, IntArrayRef shifts, IntArrayRef dims) {
  EBB_CHECK(!shifts.empty(), "roll: `shifts` required.");
  EBB_CHECK(dims.size() == shifts.size() || (dims.empty() && shifts.size() == 1),
            "roll: shifts and dimensions must align, got shifts ", shifts, " and dims ", dims, ".");
  NdArray out = NdArray::empty(x.sizes(), x.dtype(), x.device());
  DimVector wrapped(dims);
  for (std::int64_t& d : wrapped) d = wrap_dim("roll", d, x.dim());
  if (dims.empty() && x.numel() > 0) {
    const NdArray source = ops::contiguous_array(x.array());
    roll_blocks(out.as_strided({x.numel()}, {1}, 0), source.as_strided({x.numel()}, {1}, source.offset()),
                shifts, IntArrayRef(std::int64_t{0}), 0);
  } else if (x.numel() > 0) {
    EBB_CHECK_INDEX(x.dim() > 0, "roll: a 0-d tensor has no dimension to roll along.");
    roll_blocks(out, x.array(), shifts, wrapped, 0);
  }
  return ops::record<RollBackward>(
      std::move(out),
      [&](RollBackward& node) {
        node.shifts = DimVector(shifts);
        node.dims = wrapped;
      },
      x);
}

Variable rot90(const Variable& x, std::int64_t k, IntArrayRef dims) {
  EBB_CHECK(dims.size() == 2, "rot90: expected 2 rotation dims, got ", dims, ".");
  EBB_CHECK(x.dim() >= 2, "rot90: expected a tensor of at least 2 dims, got shape ", x.sizes(), ".");
  const std::int64_t a = wrap_dim("rot90", dims[0], x.dim()), b = wrap_dim("rot90", dims[1], x.dim());
  EBB_CHECK(a != b, "rot90: expected rotation dims to be different, got ", dims, ".");
  NdArray out;
  switch ((k % 4 + 4) % 4) {
    case 0:
      out = flipped(x.array(), {});
      break;
    case 1:
      out = ops::transpose_array(flipped(x.array(), {b}), a, b);
      break;
    case 2:
      out = flipped(x.array(), {a, b});
      break;
    default:
      out = ops::transpose_array(flipped(x.array(), {a}), a, b);
  }
  return ops::record<Rot90Backward>(
      std::move(out),
      [&](Rot90Backward& node) {
        node.k = k;
        node.dims = DimVector{a, b};
      },
      x);
}

Variable pixel_shuffle(const Variable& x, std::int64_t upscale_factor) {
  const std::int64_t r = upscale_factor, n = x.dim();
  EBB_CHECK(n >= 3, "pixel_shuffle: expects input to have at least 3 dimensions, but got shape ", x.sizes(),
            ".");
  EBB_CHECK(r > 0, "pixel_shuffle: expects a positive upscale_factor, but got ", r, ".");
  const std::int64_t channels = x.size(-3), h = x.size(-2), w = x.size(-1);
  EBB_CHECK(channels % (r * r) == 0,
            "pixel_shuffle: expects its input's 'channel' dimension to be divisible by the ",
            "square of upscale_factor, but ", channels, " is not divisible by ", r * r, ".");
  DimVector split(x.sizes().slice(0, static_cast<std::size_t>(n - 3))), sizes(split), order;
  for (std::int64_t d = 0; d < n - 3; ++d) order.push_back(d);
  for (const std::int64_t s : {channels / (r * r), r, r, h, w}) split.push_back(s);
  for (const std::int64_t d : {0, 3, 1, 4, 2}) order.push_back(n - 3 + d);
  for (const std::int64_t s : {channels / (r * r), h * r, w * r}) sizes.push_back(s);
  return ops::record<PixelShuffleBackward>(
      shuffled(x, split, order, sizes), [&](PixelShuffleBackward& node) { node.factor = r; }, x);
}

Variable pixel_unshuffle(const Variable& x, std::int64_t downscale_factor) {
  const std::int64_t r = downscale_factor, n = x.dim();
  EBB_CHECK(n >= 3, "pixel_unshuffle: expects input to have at least 3 dimensions, but got shape ", x.sizes(),
            ".");
  EBB_CHECK(r > 0, "pixel_unshuffle: expects a positive downscale_factor, but got ", r, ".");
  const std::int64_t channels = x.size(-3), h = x.size(-2), w = x.size(-1);
  EBB_CHECK(h % r == 0 && w % r == 0, "pixel_unshuffle: expects height and width to be divisible by ",
            "downscale_factor, but ", h, " x ", w, " is not divisible by ", r, ".");
  DimVector split(x.sizes().slice(0, static_cast<std::size_t>(n - 3))), sizes(split), order;
  for (std::int64_t d = 0; d < n - 3; ++d) order.push_back(d);
  for (const std::int64_t s : {channels, h / r, r, w / r, r}) split.push_back(s);
  for (const std::int64_t d : {0, 2, 4, 1, 3}) order.push_back(n - 3 + d);
  for (const std::int64_t s : {channels * r * r, h / r, w / r}) sizes.push_back(s);
  return ops::record<PixelUnshuffleBackward>(
      shuffled(x, split, order, sizes), [&](PixelUnshuffleBackward& node) { node.factor = r; }, x);
}

Variable channel_shuffle(const Variable& x, std::int64_t groups) {
  EBB_CHECK(x.dim() > 2, "channel_shuffle: expects input with more than 2 dims, but got shape ", x.sizes(),
            ".");
  EBB_CHECK(groups > 0 && x.size(1) % groups == 0, "channel_shuffle: number of channels (", x.size(1),
            ") must be divisible by a positive number of groups, got ", groups, ".");
  const Variable parts = unflatten(x, 1, {groups, x.size(1) / groups});
  return reshape(transpose(parts, 1, 2), x.sizes());
}

Variable native_channel_shuffle(const Variable& self, std::int64_t groups) {
  return channel_shuffle(self, groups);
}

}  // namespace ebb
