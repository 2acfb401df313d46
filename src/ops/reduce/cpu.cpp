// The CPU kernels sum, sum_steps, norm, variance, amax and amin.
#include <ebb/core/visit.h>

#include "kernel/cpu/reduce.h"
#include "kernel/levels.h"
#include "ops/common/kernels.h"
#include "ops/reduce/formulas.h"
#include "ops/reduce/kernels.h"

#include <new>

namespace ebb::cpu {
namespace {

// The functions of ElementReduction, which do the steps of reduce_inner() for a single output.
template <class T>
struct SumSteps {
  using Op = reducers::Sum<T>;
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

}  // namespace

void sum_steps(ebb::detail::ElementReduction& steps, DType dtype, std::int64_t count) {
  steps.block = kReduceBlock;
  steps.piece = count > 2 * kReducePiece ? kReducePiece : std::max<std::int64_t>(count, 1);
  const auto take = [&]<class T>(T) {
    using Steps = SumSteps<T>;
    steps.begin = &Steps::begin;
    steps.push = &Steps::push;
    steps.end = &Steps::end;
    steps.finish = &Steps::finish;
  };
  if (dtype == kFloat)
    take(float());
  else
    take(double());
}
/// Refers to sum_steps() at all instruction levels, so that the compiler emits these instances.
[[gnu::used]] static constinit const auto kept_steps = levels_of<sum_steps>;

void sum(NdArray& out, const NdArray& x, DimMask dims, double divisor) {
  reducers::SumFormula()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x, dims, divisor);
}

void norm(NdArray& out, const NdArray& x, DimMask dims, double p) {
  reducers::NormFormula()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x, dims, p);
}

void variance(NdArray& out, NdArray& mean, const NdArray& x, DimMask dims, double divisor, bool root) {
  NdArray wide = mean.dtype() == kDouble ? mean : NdArray::empty(mean.sizes(), kDouble);
  visit_float_double(x.dtype(), "var", [&]<class T> {
    reducers::WideMean<T> average;
    average.divisor = static_cast<double>(reducers::reduced_count(x, dims));
    reduce(average, wide, x, dims);
    reducers::SquaredDeviation<T> op;
    op.divisor = divisor;
    op.mean = wide.address_as<double>();
    op.root = root;
    reduce(op, out, x, dims);
  });
  if (wide.dtype() != mean.dtype()) kernels::copy(mean.device(), mean, wide);
}

void amax(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::ExtremeFormula<true>()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x, dims);
}

void amin(NdArray& out, const NdArray& x, DimMask dims) {
  reducers::ExtremeFormula<false>()([&](const auto& formula) { reduce(formula, out, x, dims); }, out, x,
                                    dims);
}

}  // namespace ebb::cpu
