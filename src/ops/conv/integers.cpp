// Convolutions of integers: windows are a view of the padded input, and a matrix product computes the sums.
#include "ops/conv/integers.h"

#include <ebb/ops/creation.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/shape.h>

namespace ebb::ops {
namespace {

// Pads x (or crops it, for negative numbers) at both ends of each spatial axis, innermost first.
Variable padded(const Variable& x, const DimVector& ends) { return constant_pad_nd(x, ends, 0).contiguous(); }

// Convolves with `strides` between windows. x contains all windows, and at most a stride more.
Variable convolve_padded(const Variable& x, const Variable& weight, const ConvGeometry& g, int dims,
                         const std::int64_t* strides, const std::int64_t* counts) {
  const std::int64_t batch = x.size(0), groups = g.groups, depth = x.size(1) / groups,
                     outs = weight.size(0) / groups;
  DimVector sizes{batch, groups, depth}, steps{x.stride(0), x.stride(1) * depth, x.stride(1)},
      result{batch, weight.size(0)};
  std::int64_t places = 1, taps = depth;
  for (int a = 3 - dims; a < 3; ++a) {
    sizes.push_back(g.kernel[a]);
    steps.push_back(x.stride(a - 3 + dims + 2) * g.dilation[a]);
    taps *= g.kernel[a];
  }
  for (int a = 3 - dims; a < 3; ++a) {
    sizes.push_back(counts[a]);
    steps.push_back(x.stride(a - 3 + dims + 2) * strides[a]);
    result.push_back(counts[a]);
    places *= counts[a];
  }
  const Variable windows = x.as_strided(sizes, steps).reshape({batch, groups, taps, places});
  return matmul(weight.reshape({groups, outs, taps}), windows).reshape(result);
}

}  // namespace

Variable convolve_integers(ConvKind kind, const Variable& x, const Variable& weight, const ConvGeometry& g,
                           int dims) {
  DimVector ends;
  if (kind == ConvKind::forward) {
    for (int a = 2; a >= 3 - dims; --a) {
      const std::int64_t reach = (g.out[a] - 1) * g.stride[a] + g.dilation[a] * (g.kernel[a] - 1) + 1;
      ends.push_back(g.padding[a]);
      ends.push_back(reach - g.in[a] - g.padding[a]);
    }
    return convolve_padded(padded(x, ends), weight, g, dims, g.stride, g.out);
  }
  // The transpose: elements a stride apart, and the kernel reversed and exchanged between outputs and inputs.
  DimVector spread(x.sizes()), spatial;
  for (int a = 3 - dims; a < 3; ++a) spread[a - 3 + dims + 2] = (g.out[a] - 1) * g.stride[a] + 1;
  Variable wide = zeros(spread, x.options());
  Variable places = wide;
  for (int a = 3 - dims; a < 3; ++a) {
    places = slice(places, a - 3 + dims + 2, 0, nullopt, g.stride[a]);
    spatial.push_back(a - 3 + dims + 2);
  }
  places.copy_(x);
  for (int a = 2; a >= 3 - dims; --a) {
    const std::int64_t before = g.dilation[a] * (g.kernel[a] - 1) - g.padding[a];
    const std::int64_t reach = g.in[a] + g.dilation[a] * (g.kernel[a] - 1);
    ends.push_back(before);
    ends.push_back(reach - before - spread[a - 3 + dims + 2]);
  }
  DimVector split(weight.sizes()), joined(weight.sizes());
  split[0] /= g.groups;
  split.insert(split.begin(), g.groups);
  joined[0] = weight.size(1) * g.groups;
  joined[1] = weight.size(0) / g.groups;
  const Variable reversed = flip(weight.reshape(split).transpose(1, 2).reshape(joined), spatial);
  constexpr std::int64_t kOne[3] = {1, 1, 1};
  return convolve_padded(padded(wide, ends), reversed, g, dims, kOne, g.in);
}

}  // namespace ebb::ops
