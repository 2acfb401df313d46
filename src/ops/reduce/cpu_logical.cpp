// any, all and count_nonzero on the CPU.
#include "ops/reduce/cpu_engine.h"
#include "ops/reduce/kernels.h"
#include "ops/reduce/math.h"

#include <ebb/core/visit.h>

namespace ebb::cpu {
namespace {

template <bool kAny>
void logical(const char* op, NdArray& out, const NdArray& x, DimMask dims) {
  // bool and std::uint8_t lie alike in memory, so one kernel serves both results.
  visit_all(x.dtype(), op,
            [&]<class T> { reduce(reducing::Logical<T, std::uint8_t, kAny>(), out, x, dims); });
}

}  // namespace

void any(NdArray& out, const NdArray& x, DimMask dims) { logical<true>("any", out, x, dims); }
void all(NdArray& out, const NdArray& x, DimMask dims) { logical<false>("all", out, x, dims); }

void count_nonzero(NdArray& out, const NdArray& x, DimMask dims) {
  visit_all(x.dtype(), "count_nonzero", [&]<class T> { reduce(reducing::CountNonzero<T>(), out, x, dims); });
}

}  // namespace ebb::cpu
