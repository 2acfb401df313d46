// Index arithmetic for iterating over arrays with different strides, shared by host and device kernels. For
// devices it uses 32 bits, with division by multiplication. Iterations that are too long for 32 bits are
// divided into parts.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/strided_dims.h"

#include <bit>
#include <cstdint>
#include <cstdlib>

namespace ebb {

/// The maximum number of dimensions after merging; practical arrays need fewer.
constexpr int kPlanDims = 16;

/// Sizes and byte strides of N arrays; operand 0 is the output. Dimension 0 is the innermost. Dimensions of
/// size 1 are dropped, and dimensions that are adjacent in every operand are merged. The struct is plain data
/// and is passed to kernels by value.
template <int N>
struct ElementwisePlan {
  int dims = 0;
  std::int64_t numel = 1;
  std::int64_t sizes[kPlanDims];
  std::int64_t strides[N][kPlanDims];

  /// Returns whether every byte offset and the element count fit 32 bits.
  bool fits_32_bits() const {
    if (numel > INT32_MAX) return false;
    for (int i = 0; i < N; ++i) {
      std::int64_t reach = 0;
      for (int d = 0; d < dims; ++d) reach += (sizes[d] - 1) * std::abs(strides[i][d]);
      if (reach > INT32_MAX) return false;
    }
    return true;
  }
};

/// The dimensions of a plan's operands in the form that StridedPosition requires, starting with operand
/// `operand` and dimension `dim`.
template <int N>
struct PlanOperands {
  using Places = std::array<std::int64_t, kPlanDims>;
  const ElementwisePlan<N>& plan;
  int operand = 0, dim = 0;

  int dims() const { return plan.dims - dim; }
  std::int64_t size(int d) const { return plan.sizes[dim + d]; }
  std::int64_t stride(int i, int d) const { return plan.strides[operand + i][dim + d]; }
};

namespace detail {

/// Returns whether all arrays are contiguous and have the same shape, so that the iteration is a single run.
template <int N>
bool is_one_run(const NdArray* const (&arrays)[N]) {
  for (const NdArray* a : arrays)
    if (a && (!a->is_contiguous() || (a != arrays[0] && a->sizes() != arrays[0]->sizes()))) return false;
  return true;
}

}  // namespace detail

/// Plans an iteration over `out`'s shape, to which the inputs are broadcast. arrays[0] is the output. A null
/// input is a scalar and has no strides.
template <int N>
ElementwisePlan<N> plan_elementwise(const char* op, const NdArray* const (&arrays)[N]) {
  ElementwisePlan<N> plan;
  const NdArray& out = *arrays[0];
  plan.numel = out.numel();
  if (detail::is_one_run(arrays)) {
    plan.dims = plan.numel == 1 ? 0 : 1;
    plan.sizes[0] = plan.numel;
    for (int i = 0; i < N; ++i) plan.strides[i][0] = arrays[i] ? element_size(arrays[i]->dtype()) : 0;
    return plan;
  }
  const int rank = static_cast<int>(out.dim());
  const auto stride = [&](int i, int dim) -> std::int64_t {
    if (!arrays[i]) return 0;
    const NdArray& a = *arrays[i];
    const int own = dim - (rank - static_cast<int>(a.dim()));
    if (own < 0 || a.sizes()[own] == 1) return 0;
    return a.strides()[own] * element_size(a.dtype());
  };
  const auto emit = [&](std::int64_t size, const std::array<std::int64_t, N>& strides) {
    EBB_CHECK(plan.dims < kPlanDims, op, ": the strides are too irregular: more than ", kPlanDims,
              " dimensions of shape ", out.sizes(),
              " remain after merging. Call .contiguous() on the inputs.");
    plan.sizes[plan.dims] = size;
    for (int i = 0; i < N; ++i) plan.strides[i][plan.dims] = strides[i];
    ++plan.dims;
  };
  const auto nearness = [&](int d) { return std::abs(out.strides()[d]); };
  merge_dims<N>(out.sizes(), nesting_order(out.sizes(), nearness), stride, emit);
  return plan;
}

/// Division of numbers below 2^31 by a fixed divisor from 1 to 2^31 - 1, as a multiplication and a shift.
/// Source: Granlund and Montgomery, Division by invariant integers using multiplication, PLDI 1994. A divisor
/// of 0 (the size of an empty dimension) is replaced by 1, because nothing is divided by it.
struct FastDivisor {
  std::uint32_t divisor = 1, multiplier = 1, shift = 0;

  FastDivisor() = default;
  constexpr explicit FastDivisor(std::uint32_t d) : divisor(d == 0 ? 1 : d) {
    shift = static_cast<std::uint32_t>(std::bit_width(divisor - 1));
    multiplier = static_cast<std::uint32_t>((((std::uint64_t{1} << shift) - divisor) << 32) / divisor + 1);
  }
  EBB_HD std::uint32_t divide(std::uint32_t n) const {
    const std::uint32_t high = static_cast<std::uint32_t>((std::uint64_t{n} * multiplier) >> 32);
    return (high + n) >> shift;
  }
};

/// A divisor for which the quotient of every index is 0.
constexpr FastDivisor kUndivided{INT32_MAX};

/// Byte offsets of N arrays for units of `width` adjacent elements of the innermost dimension.
template <int N>
struct IndexPlan {
  int dims = 0;
  std::uint32_t units = 0;
  FastDivisor sizes[kPlanDims];  // all dimensions except the outermost, which needs no division
  std::int32_t strides[N][kPlanDims];

  EBB_HD void offsets(std::uint32_t unit, std::int32_t (&out)[N]) const {
    for (int i = 0; i < N; ++i) out[i] = 0;
    for (int d = 0; d < dims; ++d) {
      const std::uint32_t next = d + 1 == dims ? 0 : sizes[d].divide(unit);
      const auto at = static_cast<std::int32_t>(unit - next * sizes[d].divisor);
      unit = next;
      for (int i = 0; i < N; ++i) out[i] += at * strides[i][d];
    }
  }
};

/// Computes the index plan. `plan` must fit 32 bits. Its innermost size must be divisible by `width`, unless
/// it has only one dimension; the last unit may then be partial.
template <int N>
void index_plan(IndexPlan<N>& out, const ElementwisePlan<N>& plan, std::int64_t width = 1) {
  out.dims = plan.dims;
  std::int64_t units = 1;
  for (int d = 0; d < plan.dims; ++d) {
    const std::int64_t size = d == 0 ? (plan.sizes[0] + width - 1) / width : plan.sizes[d];
    units *= size;
    if (d + 1 < plan.dims) out.sizes[d] = FastDivisor(static_cast<std::uint32_t>(size));
    for (int i = 0; i < N; ++i)
      out.strides[i][d] = static_cast<std::int32_t>(plan.strides[i][d] * (d == 0 ? width : 1));
  }
  if (plan.dims == 0)  // kernels iterate over at least one dimension
    for (int i = 0; i < N; ++i) out.strides[i][0] = 0;
  out.units = static_cast<std::uint32_t>(units);
}

/// Calls f(part, offsets) for parts that fit 32 bits and together cover the plan. `offsets` are the distances
/// in bytes from each array's first element to its first element in the part.
template <int N, class F>
void for_each_32_bit_part(const ElementwisePlan<N>& plan, const F& f, const std::int64_t (&from)[N] = {}) {
  if (plan.fits_32_bits()) return f(plan, from);
  // Halves the dimension with the largest extent, in elements or in bytes.
  int longest = 0;
  std::int64_t farthest = -1;
  for (int d = 0; d < plan.dims; ++d) {
    std::int64_t reach = plan.sizes[d];
    for (int i = 0; i < N; ++i) reach = std::max(reach, (plan.sizes[d] - 1) * std::abs(plan.strides[i][d]));
    if (plan.sizes[d] > 1 && reach > farthest) farthest = reach, longest = d;
  }
  ElementwisePlan<N> half = plan;
  // Divides at a multiple of 64, which preserves the alignment for vectors.
  const std::int64_t size = plan.sizes[longest], cut = size > 128 ? size / 2 / 64 * 64 : size / 2;
  half.sizes[longest] = cut;
  half.numel = plan.numel / size * cut;
  for_each_32_bit_part(half, f, from);
  std::int64_t rest_from[N];
  for (int i = 0; i < N; ++i) rest_from[i] = from[i] + cut * plan.strides[i][longest];
  half.sizes[longest] = size - cut;
  half.numel = plan.numel / size * (size - cut);
  for_each_32_bit_part(half, f, rest_from);
}

}  // namespace ebb
