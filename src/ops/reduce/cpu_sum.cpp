// Sums and means on the CPU.
#include "kernel/cpu/reduce.h"
#include "kernel/element_reduction.h"
#include "kernel/reducers.h"
#include "ops/reduce/kernels.h"

#include <ebb/core/visit.h>

#include <new>

namespace ebb::cpu {
namespace {

// reduce_inner() of one output, step by step.
template <class T>
struct SumSteps {
  using Op = reducing::Sum<T>;
  using Acc = typename Op::Acc;
  static_assert(sizeof(Cascade<Op>) <= ebb::detail::ElementReduction::kState);

  static constexpr Op kOp{};
  static void begin(void* state) { new (state) Cascade<Op>(kOp); }
  static void push(void* state, const void* x, std::int64_t n) {
    static_cast<Cascade<Op>*>(state)->push(reduce_run(kOp, static_cast<const T*>(x), n, 0));
  }
  static void end(const void* state, void* sum) {
    *static_cast<Acc*>(sum) = static_cast<const Cascade<Op>*>(state)->total();
  }
  static void finish(const void* sums, std::int64_t pieces, double divisor, void* out) {
    Cascade<Op> all(kOp);
    const auto* sum = static_cast<const std::byte*>(sums);
    for (std::int64_t p = 0; p < pieces; ++p, sum += ebb::detail::ElementReduction::kSum)
      all.push(*reinterpret_cast<const Acc*>(sum));
    Op op;
    op.divisor = divisor;
    *static_cast<typename Op::Out*>(out) = op.finish(all.total());
  }
};

void describe(ebb::detail::ElementReduction& asked, const NdArray& x, double divisor) {
  if (x.dtype() != kFloat && x.dtype() != kDouble) return;
  const std::int64_t count = x.numel();
  asked.block = kReduceBlock;
  asked.piece = count > 2 * kReducePiece ? kReducePiece : std::max<std::int64_t>(count, 1);
  asked.divisor = divisor;
  const auto take = [&]<class T>(T) {
    using Steps = SumSteps<T>;
    asked.begin = &Steps::begin;
    asked.push = &Steps::push;
    asked.end = &Steps::end;
    asked.finish = &Steps::finish;
  };
  if (x.dtype() == kFloat)
    take(float());
  else
    take(double());
}

}  // namespace

void sum(NdArray& out, const NdArray& x, DimMask dims, double divisor) {
  if (out.numel() == 0) [[unlikely]]
    if (ebb::detail::ElementReduction* const asked = ebb::detail::asked_reduction())
      return describe(*asked, x, divisor);
  if (out.dtype() == kDouble && x.dtype() != kDouble)
    return visit_numeric(stored(x.dtype()), "sum", [&]<class T> {
      reducing::WideMean<T> op;
      op.divisor = divisor;
      reduce(op, out, x, dims);
    });
  visit_numeric(stored(x.dtype()), "sum", [&]<class T> {
    reducing::Sum<T> op;
    op.divisor = divisor;
    reduce(op, out, x, dims);
  });
}

}  // namespace ebb::cpu
