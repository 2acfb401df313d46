// Max pooling of integers: gathers the elements of each window, then takes the maximum.
#include <ebb/ops/creation.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/pool/pool.h"

namespace ebb::ops {

std::tuple<Variable, Variable> max_of_integers(const Variable& x, const PoolGeometry& g, int dims) {
  // Positions [windows, taps] in a plane. A position in the padding is replaced by the window's first
  // element.
  Variable places = zeros({1, 1}, TensorOptions(kLong));
  for (int a = 3 - dims; a < 3; ++a) {
    const PoolAxis& axis = g.axis[a];
    std::vector<std::int64_t> along;
    for (std::int64_t o = 0; o < axis.out; ++o)
      for (std::int64_t k = 0; k < axis.kernel; ++k) {
        const std::int64_t at = o * axis.stride - axis.padding + k * axis.dilation;
        along.push_back(at >= 0 && at < axis.in ? at : axis.first(o));
      }
    const Variable next = tensor(along).view({1, axis.out, 1, axis.kernel});
    places = (places.unsqueeze(1).unsqueeze(-1) * axis.in + next)
                 .reshape({places.size(0) * axis.out, places.size(1) * axis.kernel});
  }
  places = places.to(x.device());
  const Variable planes = x.detach().flatten(x.dim() - dims);
  const DimVector sizes = pooled_shape(x, g, dims);
  DimVector windows(planes.sizes());
  windows.back() = places.size(0);
  windows.push_back(places.size(1));
  const Variable all = planes.index_select(-1, places.flatten()).view(windows);
  const auto [value, tap] = all.max(-1);
  const Variable at = places.expand(windows).gather(-1, tap.unsqueeze(-1));
  return {value.view(sizes), at.view(sizes)};
}

}  // namespace ebb::ops
