// pad (which dispatches on the mode), constant_pad_nd, reflection_pad, replication_pad and circular padding.
//
// In all modes but constant, each padded dimension of the result has three segments. A segment is a slice of
// the input: in order, reversed, or one index repeated. All combinations of these segments form the result.
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/dims.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/shape/kernels.h"

#include <algorithm>
#include <array>

namespace ebb {

namespace ops {

namespace {

using autograd::GradList;

enum class PadMode : std::uint8_t { reflect, replicate, circular };

/// Pads the last padding.size() / 2 dimensions of x, and checks the padding.
Variable pad_with(const Variable& x, IntArrayRef padding, PadMode mode);
/// Computes the transpose of pad_with(): each element of the result, of shape `sizes`, is the sum of `grad`
/// over the copies of the element. `x` is the input of pad_with() and may be undefined. As in torch, the
/// graph records a dependence on x with a derivative of zero.
Variable pad_with_backward(const Variable& grad, const Variable& x, IntArrayRef sizes, IntArrayRef padding,
                           PadMode mode);

struct Segment {
  std::int64_t to = 0, from = 0, length = 0;
  bool flipped = false, repeated = false;
};

std::array<Segment, 3> segments(std::int64_t size, std::int64_t before, std::int64_t after, PadMode mode) {
  const std::int64_t left = std::max<std::int64_t>(before, 0), right = std::max<std::int64_t>(after, 0);
  const std::int64_t first = std::max<std::int64_t>(-before, 0),
                     kept = size - first - std::max<std::int64_t>(-after, 0);
  // `out` is the size of the result. If negative padding removes all input elements, a border may be longer
  // than the result; it is then cut to `out`.
  const std::int64_t out = size + before + after;
  std::array<Segment, 3> s;
  s[0].length = std::min(left, out);
  s[1] = {left, first, kept, false, false};
  s[2].length = std::min(right, out);
  s[2].to = out - s[2].length;
  switch (mode) {
    case PadMode::reflect:
      s[0].from = 1;
      s[2].from = size - 1 - right;
      s[0].flipped = s[2].flipped = true;
      break;
    case PadMode::replicate:
      s[0].from = 0;
      s[2].from = size - 1;
      s[0].repeated = s[2].repeated = true;
      break;
    case PadMode::circular:
      s[0].from = first + kept - left;
      s[2].from = first;
  }
  return s;
}

// Calls move(padded, input) for each block, with two views of the same shape. If an index of the input is
// repeated, the view of the input has stride 0.
template <class Move>
void blocks(const NdArray& padded, const NdArray& input, IntArrayRef padding, PadMode mode, std::size_t i,
            Move& move) {
  if (2 * i == padding.size()) return move(padded, input);
  const std::int64_t d = input.dim() - 1 - static_cast<std::int64_t>(i);
  for (const Segment& s : segments(input.sizes()[d], padding[2 * i], padding[2 * i + 1], mode)) {
    if (s.length <= 0) continue;
    NdArray piece = slice_array(input, d, s.from, s.repeated ? 1 : s.length);
    if (s.flipped) piece = flip_array(piece, d);
    if (s.repeated) {
      DimVector sizes(piece.sizes());
      sizes[d] = s.length;
      piece = piece.expand(sizes);
    }
    blocks(slice_array(padded, d, s.to, s.length), piece, padding, mode, i + 1, move);
  }
}

// Computes to += from. If `to` has stride 0, it sums the elements of `from` that belong to the same element
// of `to`.
void add_block(const NdArray& from, NdArray to) {
  DimVector repeated;
  for (std::int64_t d = 0; d < to.dim(); ++d)
    if (to.sizes()[d] > 1 && to.strides()[d] == 0) {
      repeated.push_back(d);
      to = slice_array(to, d, 0, 1);
    }
  kernels::accumulate(to.device(), to, repeated.empty() ? from : sum(Variable(from), repeated, true).array());
}

std::string dims_name(std::size_t padded) { return std::to_string(padded) + "D"; }

struct PadBackward : autograd::Node {
  autograd::SavedVariable x{this};
  DimVector sizes, padding;
  PadMode mode = PadMode::reflect;
  std::string name() const override {
    if (mode == PadMode::circular) return "PadCircularBackward0";
    return (mode == PadMode::reflect ? "ReflectionPad" : "ReplicationPad") + dims_name(padding.size() / 2) +
           "Backward0";
  }
  GradList apply(GradList&& grads) override {
    return {pad_with_backward(grads[0], x.unpack(), sizes, padding, mode)};
  }
};

struct PadBackwardBackward : autograd::Node {
  DimVector sizes, padding;
  PadMode mode = PadMode::reflect;
  std::string name() const override {
    if (mode == PadMode::circular) return "PadCircularBackwardBackward0";
    return (mode == PadMode::reflect ? "ReflectionPad" : "ReplicationPad") + dims_name(padding.size() / 2) +
           "BackwardBackward0";
  }
  GradList apply(GradList&& grads) override {
    GradList out(num_outputs());
    if (needs(0)) out[0] = pad_with(grads[0], padding, mode);
    if (needs(1)) out[1] = Variable(zeros_array(sizes, grads[0].dtype(), grads[0].device()));
    return out;
  }
};

const char* op_name(PadMode mode) {
  return mode == PadMode::reflect     ? "reflection_pad"
         : mode == PadMode::replicate ? "replication_pad"
                                      : "circular pad";
}

DimVector padded_sizes(const Variable& x, IntArrayRef padding, PadMode mode) {
  DimVector sizes(x.sizes());
  const std::size_t batch = x.sizes().size() == padding.size() / 2 + 2 ? 1 : 0;
  EBB_CHECK(mode == PadMode::circular || checked_numel(x.sizes().slice(batch)) > 0, op_name(mode),
            ": only the batch may be empty, got shape ", x.sizes(), ".");
  for (std::size_t i = 0; 2 * i < padding.size(); ++i) {
    const std::int64_t d = x.dim() - 1 - static_cast<std::int64_t>(i), size = sizes[d];
    const std::int64_t before = padding[2 * i], after = padding[2 * i + 1];
    const std::int64_t kept = size + std::min<std::int64_t>(before, 0) + std::min<std::int64_t>(after, 0);
    EBB_CHECK(mode != PadMode::reflect || (before < size && after < size), op_name(mode),
              ": padding size should be ", "less than the corresponding input dimension, but got: padding (",
              before, ", ", after, ") at dimension ", d, " of input ", x.sizes(), ".");
    EBB_CHECK(mode != PadMode::circular || (before <= size && after <= size), op_name(mode),
              ": padding value causes ", "wrapping around more than once: padding (", before, ", ", after,
              ") at dimension ", d, " of input ", x.sizes(), ".");
    const bool some = mode == PadMode::replicate ? size + before + after > 0 : kept > 0;
    EBB_CHECK(size > 0 && some, op_name(mode), ": no element is left to pad with: padding (", before, ", ",
              after, ") at dimension ", d, " of input ", x.sizes(), ".");
    sizes[d] += before + after;
  }
  return sizes;
}

template <class N>
auto keep(IntArrayRef sizes, IntArrayRef padding, PadMode mode) {
  return [=](N& node) {
    node.sizes = DimVector(sizes);
    node.padding = DimVector(padding);
    node.mode = mode;
  };
}

Variable checked_pad(const char* op, const Variable& x, IntArrayRef padding, std::int64_t padded,
                     PadMode mode) {
  EBB_CHECK(static_cast<std::int64_t>(padding.size()) == 2 * padded, op, ": padding size is expected to be ",
            2 * padded, ", got ", padding, ".");
  EBB_CHECK(x.dim() == padded + 1 || x.dim() == padded + 2, op, ": expected ", padded + 1, "D or ",
            padded + 2, "D input, but got shape ", x.sizes(), ".");
  return pad_with(x, padding, mode);
}

Variable pad_with(const Variable& x, IntArrayRef padding, PadMode mode) {
  NdArray out = NdArray::empty(padded_sizes(x, padding, mode), x.dtype(), x.device());
  auto copy = [](NdArray to, const NdArray& from) { kernels::copy(to.device(), to, from); };
  blocks(out, x.array(), padding, mode, 0, copy);
  return record<PadBackward>(
      std::move(out),
      [&](PadBackward& node) {
        keep<PadBackward>(x.sizes(), padding, mode)(node);
        node.x.save(mode == PadMode::circular ? Variable() : x);
      },
      x);
}

Variable pad_with_backward(const Variable& grad, const Variable& x, IntArrayRef sizes, IntArrayRef padding,
                           PadMode mode) {
  const DType wide = wide_dtype(grad.dtype());
  NdArray out = zeros_array(sizes, wide, grad.device());
  blocks(cast_array(grad.array(), wide), out, padding, mode, 0, add_block);
  return record<PadBackwardBackward>(cast_array(out, grad.dtype()),
                                     keep<PadBackwardBackward>(sizes, padding, mode), grad, x);
}

}  // namespace
}  // namespace ops

Variable reflection_pad1d(const Variable& x, IntArrayRef padding) {
  EBB_AUTOCAST_AS("pad", reflection_pad1d, x, padding);
  return ops::checked_pad("reflection_pad1d", x, padding, 1, ops::PadMode::reflect);
}
Variable reflection_pad2d(const Variable& x, IntArrayRef padding) {
  EBB_AUTOCAST_AS("pad", reflection_pad2d, x, padding);
  return ops::checked_pad("reflection_pad2d", x, padding, 2, ops::PadMode::reflect);
}
Variable reflection_pad3d(const Variable& x, IntArrayRef padding) {
  return ops::checked_pad("reflection_pad3d", x, padding, 3, ops::PadMode::reflect);
}
Variable replication_pad1d(const Variable& x, IntArrayRef padding) {
  EBB_AUTOCAST_AS("pad", replication_pad1d, x, padding);
  return ops::checked_pad("replication_pad1d", x, padding, 1, ops::PadMode::replicate);
}
Variable replication_pad2d(const Variable& x, IntArrayRef padding) {
  EBB_AUTOCAST_AS("pad", replication_pad2d, x, padding);
  return ops::checked_pad("replication_pad2d", x, padding, 2, ops::PadMode::replicate);
}
Variable replication_pad3d(const Variable& x, IntArrayRef padding) {
  EBB_AUTOCAST_AS("pad", replication_pad3d, x, padding);
  return ops::checked_pad("replication_pad3d", x, padding, 3, ops::PadMode::replicate);
}

namespace {

using autograd::GradList;

struct ConstantPadNdBackward : autograd::Node {
  DimVector pad;
  std::string name() const override { return "ConstantPadNdBackward0"; }
  GradList apply(GradList&& grads) override {
    DimVector cut(pad);
    for (std::int64_t& p : cut) p = -p;
    return {constant_pad_nd(grads[0], cut, 0)};
  }
};

}  // namespace

Variable constant_pad_nd(const Variable& x, IntArrayRef pad, const Scalar& value) {
  EBB_CHECK(pad.size() % 2 == 0, "constant_pad_nd: length of pad must be even but instead it equals ",
            static_cast<std::int64_t>(pad.size()), ".");
  EBB_CHECK(static_cast<std::int64_t>(pad.size()) <= 2 * x.dim(),
            "constant_pad_nd: length of pad should be no more ",
            "than twice the number of dimensions of the input. Pad ", pad, ", input shape ", x.sizes(), ".");
  ops::check_fits("constant_pad_nd", value, x.dtype());
  const std::size_t padded = pad.size() / 2, dims = static_cast<std::size_t>(x.dim());
  DimVector sizes(x.sizes());
  NdArray part = x.array();
  for (std::size_t i = 0; i < padded; ++i) {
    const std::size_t d = dims - 1 - i;
    const std::int64_t before = pad[2 * i], after = pad[2 * i + 1];
    sizes[d] += before + after;
    EBB_CHECK(sizes[d] >= 0, "constant_pad_nd: the input size ", x.sizes()[d], ", plus negative padding ",
              before, " and ", after, ", resulted in a negative output size for dimension ",
              static_cast<std::int64_t>(d), ".");
    const std::int64_t from = std::max<std::int64_t>(-before, 0);
    const std::int64_t to = x.sizes()[d] - std::max<std::int64_t>(-after, 0);
    EBB_CHECK(from <= to, "constant_pad_nd: negative padding ", before, " and ", after,
              " takes more than the ", x.sizes()[d], " elements of dimension ", static_cast<std::int64_t>(d),
              " of shape ", x.sizes(), ".");
    part = ops::slice_array(part, static_cast<std::int64_t>(d), from, to - from);
  }
  NdArray out = NdArray::empty(sizes, x.dtype(), x.device());
  NdArray inner = out;
  for (std::size_t i = 0; i < padded; ++i) {
    // Fills both borders of a dimension, then continues with the part between them.
    const std::int64_t d = static_cast<std::int64_t>(dims - 1 - i), size = sizes[d];
    const std::int64_t start = std::clamp<std::int64_t>(pad[2 * i], 0, size), length = part.sizes()[d];
    NdArray before = ops::slice_array(inner, d, 0, start);
    NdArray after = ops::slice_array(inner, d, start + length, size - start - length);
    kernels::fill(x.device(), before, value);
    kernels::fill(x.device(), after, value);
    inner = ops::slice_array(inner, d, start, length);
  }
  kernels::copy(x.device(), inner, part);
  return ops::record<ConstantPadNdBackward>(
      std::move(out), [&](ConstantPadNdBackward& node) { node.pad = DimVector(pad); }, x);
}

Variable pad(const Variable& x, IntArrayRef pad, std::string_view mode, optional<double> value) {
  EBB_CHECK(pad.size() % 2 == 0, "pad: padding length must be divisible by 2, got ", pad, ".");
  EBB_CHECK(static_cast<std::int64_t>(pad.size()) <= 2 * x.dim(),
            "pad: padding length should be less than or equal ", "to two times the input dimension. Padding ",
            pad, ", input shape ", x.sizes(), ".");
  if (mode == "constant") return constant_pad_nd(x, pad, value.value_or(0.0));
  EBB_CHECK(!value || *value == 0, "pad: padding mode \"", mode, "\" doesn't take in value argument.");
  const bool known = mode == "reflect" || mode == "replicate" || mode == "circular";
  EBB_CHECK(known, "pad: unrecognised padding mode \"", mode,
            "\". Use constant, reflect, replicate or circular.");
  const std::int64_t padded = static_cast<std::int64_t>(pad.size()) / 2;
  if (padded < 1 || padded > 3 || (x.dim() != padded + 1 && x.dim() != padded + 2))
    detail::fail<NotImplementedError>(
        "pad: mode \"", mode, "\" pads the last n dimensions (n = 1, 2 or 3) of a tensor of n + 1 ",
        "or n + 2 dimensions; got padding ", pad, " for shape ", x.sizes(), ".");
  if (mode == "replicate" || (mode == "reflect" && padded < 3))
    EBB_AUTOCAST_AS("pad", ebb::pad, x, pad, mode, value);
  return ops::pad_with(x, pad,
                       mode == "reflect"     ? ops::PadMode::reflect
                       : mode == "replicate" ? ops::PadMode::replicate
                                             : ops::PadMode::circular);
}

}  // namespace ebb
