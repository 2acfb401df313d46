// any, all and count_nonzero on the CPU, which are one count, and hash_tensor.
#include "kernel/cpu/reduce.h"
#include "kernel/reducer_kinds.h"
#include "kernel/reducers.h"
#include "ops/reduce/kernels.h"

#include <ebb/core/visit.h>

namespace ebb::cpu {
namespace {

template <class Out>
void count(NdArray& out, const NdArray& x, DimMask dims, std::int64_t at_least) {
  reducing::with_zero_test_type(x.dtype(), [&]<class T> {
    reducing::CountNonzero<T, Out> op;
    op.at_least = at_least;
    reduce(op, out, x, dims);
  });
}

}  // namespace

void any(NdArray& out, const NdArray& x, DimMask dims) { count<std::uint8_t>(out, x, dims, 1); }

void all(NdArray& out, const NdArray& x, DimMask dims) {
  count<std::uint8_t>(out, x, dims, reducing::reduced_count(x, dims));
}

void count_nonzero(NdArray& out, const NdArray& x, DimMask dims) { count<std::int64_t>(out, x, dims, 0); }

void xor_bits(NdArray& out, const NdArray& x, DimMask dims) {
  visit_all(x.dtype(), "hash_tensor", [&]<class T> { reduce(reducing::XorBits<T>(), out, x, dims); });
}

}  // namespace ebb::cpu
