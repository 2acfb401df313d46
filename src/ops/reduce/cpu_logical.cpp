// any, all and count_nonzero on the CPU, which are one count, and hash_tensor.
#include "kernel/cpu/reduce.h"
#include "kernel/reducer_kinds.h"
#include "kernel/reducers.h"
#include "ops/common/kernels.h"
#include "ops/reduce/kernels.h"

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
  const DType wide = is_floating(x.dtype()) ? kDouble : kLong;
  if (x.dtype() != wide) {  // seldom asked for: one copy in place of a loop for each dtype
    NdArray copied = NdArray::empty(x.sizes(), wide);
    copy(copied, x);
    return xor_bits(out, copied, dims);
  }
  if (wide == kDouble)
    reduce(reducing::XorBits<double>(), out, x, dims);
  else
    reduce(reducing::XorBits<std::int64_t>(), out, x, dims);
}

}  // namespace ebb::cpu
