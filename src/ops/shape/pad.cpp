// constant_pad_nd, and pad, which dispatches on the mode.
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/shape/kernels.h"
#include "ops/shape/pad_modes.h"

#include <algorithm>

namespace ebb {

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
        "pad: mode \"", mode, "\" pads the last 1, 2 or 3 dimensions of a tensor with one ",
        "or two dimensions more; got padding ", pad, " for shape ", x.sizes(), ".");
  if (mode == "replicate" || (mode == "reflect" && padded < 3))
    EBB_AUTOCAST_AS("pad", ebb::pad, x, pad, mode, value);
  return ops::pad_with(x, pad,
                       mode == "reflect"     ? ops::PadMode::reflect
                       : mode == "replicate" ? ops::PadMode::replicate
                                             : ops::PadMode::circular);
}

}  // namespace ebb
