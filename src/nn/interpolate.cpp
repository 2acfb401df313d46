// Resizing, a spatial dimension at a time: each output place is a weighted sum of few input places.
#include <ebb/nn/functional/padding.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/shape.h>

#include <algorithm>
#include <cmath>

#include "ops/common/autocast.h"

namespace ebb::nn::functional {

namespace {

struct Resize {
  std::int64_t in, out;
  double scale;  // input places an output place
  bool align_corners;

  double source(std::int64_t place) const {
    const auto at = static_cast<double>(place);
    return align_corners ? at * scale : (at + 0.5) * scale - 0.5;
  }
};

/// One tap of the sum: which input place, and its weight, for every output place.
struct Tap {
  std::vector<std::int64_t> index;
  std::vector<double> weight;
};

std::vector<Tap> nearest_taps(const Resize& r, bool exact) {
  Tap tap;
  for (std::int64_t i = 0; i < r.out; ++i) {
    // In float, as torch rounds it.
    const float at =
        std::floor((static_cast<float>(i) + (exact ? 0.5F : 0.0F)) * static_cast<float>(r.scale));
    tap.index.push_back(std::min(static_cast<std::int64_t>(at), r.in - 1));
  }
  return {tap};
}

std::vector<Tap> linear_taps(const Resize& r) {
  std::vector<Tap> taps(2);
  for (std::int64_t i = 0; i < r.out; ++i) {
    const double at = std::max(r.source(i), 0.0);
    const std::int64_t low = std::min(static_cast<std::int64_t>(at), r.in - 1);
    const double part = std::clamp(at - static_cast<double>(low), 0.0, 1.0);
    taps[0].index.push_back(low);
    taps[0].weight.push_back(1 - part);
    taps[1].index.push_back(std::min(low + 1, r.in - 1));
    taps[1].weight.push_back(part);
  }
  return taps;
}

/// Keys' cubic convolution with a = -0.75.
std::vector<Tap> cubic_taps(const Resize& r) {
  constexpr double a = -0.75;
  const auto near = [](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  std::vector<Tap> taps(4);
  for (std::int64_t i = 0; i < r.out; ++i) {
    const double at = r.source(i), low = std::floor(at), part = at - low;
    const double weights[] = {far(part + 1), near(part), near(1 - part), far(2 - part)};
    for (std::int64_t k = 0; k < 4; ++k) {
      Tap& tap = taps[static_cast<std::size_t>(k)];
      tap.index.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(low) + k - 1, 0, r.in - 1));
      tap.weight.push_back(weights[k]);
    }
  }
  return taps;
}

Variable resize_dim(const Variable& x, std::int64_t dim, const std::vector<Tap>& taps) {
  Variable sum;
  for (const Tap& tap : taps) {
    const Variable index = tensor(tap.index, TensorOptions(kLong).device(x.device()));
    Variable part = x.index_select(dim, index);
    if (!tap.weight.empty()) {
      DimVector shape;
      shape.assign(static_cast<std::size_t>(x.dim()), 1);
      shape[static_cast<std::size_t>(dim)] = static_cast<std::int64_t>(tap.weight.size());
      part = part * tensor(tap.weight, TensorOptions(x.dtype()).device(x.device())).view(shape);
    }
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

}  // namespace

Variable interpolate(const Variable& input, const InterpolateFuncOptions& o) {
  const std::int64_t spatial = input.dim() - 2;
  EBB_CHECK(spatial >= 1 && spatial <= 3,
            "interpolate: Input Error: Only 3D, 4D and 5D input Tensors supported (got ", input.dim(), "D)");
  EBB_CHECK(o.size().has_value() != o.scale_factor().has_value(),
            "interpolate: only one of size or scale_factor should be defined, and one must be.");
  const auto mode = o.mode();
  const bool nearest = mode == kNearest || mode == kNearestExact;
  EBB_CHECK(
      !o.align_corners() || !(nearest || mode == kArea),
      "interpolate: align_corners option can only be set with the interpolating modes: linear | bilinear | "
      "bicubic | trilinear");
  EBB_CHECK(!o.antialias(), "interpolate: antialias is not offered. Blur the input first.");
  const std::int64_t needed = mode == kLinear                         ? 1
                              : mode == kBilinear || mode == kBicubic ? 2
                              : mode == kTrilinear                    ? 3
                                                                      : spatial;
  EBB_CHECK(spatial == needed, "interpolate: mode ", mode.name(), " needs ", needed,
            " spatial dimensions, got ", spatial, ".");
  const bool align = o.align_corners().value_or(false);

  std::vector<Resize> resizes;
  for (std::int64_t d = 0; d < spatial; ++d) {
    const auto at = static_cast<std::size_t>(d);
    Resize r{input.size(d + 2), 0, 0, align};
    const auto pick = [&](const auto& list) {
      EBB_CHECK(list.size() == 1 || list.size() == static_cast<std::size_t>(spatial),
                "interpolate: size or scale_factor must have one value, or one for each of the ", spatial,
                " spatial dimensions.");
      return list.size() == 1 ? list[0] : list[at];
    };
    double factor = 0;
    if (o.size()) {
      r.out = pick(*o.size());
    } else {
      factor = pick(*o.scale_factor());
      const double size = std::floor(static_cast<double>(r.in) * factor);
      EBB_CHECK(size < 4.6e18, "interpolate: the scale factor ", factor,
                " asks for a size that no tensor has.");  // nor NaN
      r.out = size < 1 ? 0 : static_cast<std::int64_t>(size);
    }
    EBB_CHECK(r.in > 0 && r.out > 0, "interpolate: Input and output sizes should be greater than 0, got ",
              r.in, " and ", r.out, ".");
    if (align)
      r.scale = r.out > 1 ? static_cast<double>(r.in - 1) / static_cast<double>(r.out - 1) : 0;
    else if (factor > 0 && !o.recompute_scale_factor().value_or(false))
      r.scale = 1 / factor;
    else
      r.scale = static_cast<double>(r.in) / static_cast<double>(r.out);
    resizes.push_back(r);
  }

  if (mode == kArea) {
    DimVector sizes;
    for (const Resize& r : resizes) sizes.push_back(r.out);
    if (spatial == 1) return ebb::adaptive_avg_pool1d(input, sizes);
    return spatial == 2 ? ebb::adaptive_avg_pool2d(input, sizes) : ebb::adaptive_avg_pool3d(input, sizes);
  }
  if (const auto cast = ops::autocast("interpolate", input)) [[unlikely]]
    return interpolate(cast(input), o);
  Variable out = input;
  for (std::int64_t d = 0; d < spatial; ++d) {
    const Resize& r = resizes[static_cast<std::size_t>(d)];
    out = resize_dim(out, d + 2,
                     nearest            ? nearest_taps(r, mode == kNearestExact)
                     : mode == kBicubic ? cubic_taps(r)
                                        : linear_taps(r));
  }
  return out;
}

}  // namespace ebb::nn::functional
