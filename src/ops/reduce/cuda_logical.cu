// any, all and count_nonzero on the device: one count.
#include "ops/reduce/cuda_run.h"

namespace ebb::cuda {
namespace {

template <class Out>
void count(NdArray& out, const NdArray& x, DimMask dims, std::int64_t at_least) {
  const auto run = [&]<class T> {
    reducing::CountNonzero<T, Out> formula;
    formula.at_least = at_least;
    reduce_into(formula, out, x, dims);
  };
  // Whether an element is 0 depends on its bits alone, so dtypes of one size share a kernel.
  switch (x.dtype()) {
    case kHalf:
    case kBFloat16:
      return run.template operator()<Half>();
    case kFloat:
      return run.template operator()<float>();
    case kDouble:
      return run.template operator()<double>();
    default:
      break;
  }
  switch (element_size(x.dtype())) {
    case 1:
      return run.template operator()<std::uint8_t>();
    case 2:
      return run.template operator()<std::int16_t>();
    case 4:
      return run.template operator()<std::int32_t>();
    default:
      return run.template operator()<std::int64_t>();
  }
}

}  // namespace

void any(NdArray& out, const NdArray& x, DimMask dims) { count<std::uint8_t>(out, x, dims, 1); }

void all(NdArray& out, const NdArray& x, DimMask dims) {
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < x.sizes().size(); ++d)
    if ((dims >> d) & 1) elements *= x.sizes()[d];
  count<std::uint8_t>(out, x, dims, elements);
}

void count_nonzero(NdArray& out, const NdArray& x, DimMask dims) { count<std::int64_t>(out, x, dims, 0); }

}  // namespace ebb::cuda
