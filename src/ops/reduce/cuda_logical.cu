// any, all and count_nonzero on the device, which are one count, and hash_tensor.
#include "kernel/reducer_kinds.h"
#include "ops/reduce/cuda_run.h"

namespace ebb::cuda {
namespace {

template <class Out>
void count(NdArray& out, const NdArray& x, DimMask dims, std::int64_t at_least) {
  reducing::with_zero_test_type(x.dtype(), [&]<class T> {
    reducing::CountNonzero<T, Out> formula;
    formula.at_least = at_least;
    reduce_into(formula, out, x, dims);
  });
}

}  // namespace

void any(NdArray& out, const NdArray& x, DimMask dims) { count<std::uint8_t>(out, x, dims, 1); }

void all(NdArray& out, const NdArray& x, DimMask dims) {
  count<std::uint8_t>(out, x, dims, reducing::reduced_count(x, dims));
}

void count_nonzero(NdArray& out, const NdArray& x, DimMask dims) { count<std::int64_t>(out, x, dims, 0); }

void xor_bits(NdArray& out, const NdArray& x, DimMask dims) {
  visit_all(x.dtype(), "hash_tensor", [&]<class T> { reduce_into(reducing::XorBits<T>(), out, x, dims); });
}

}  // namespace ebb::cuda
