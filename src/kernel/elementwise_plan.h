// How to walk arrays of different strides together: the index arithmetic that host and device kernels share.
#pragma once

#include <ebb/core/ndarray.h>

#include <cstdint>
#include <cstdlib>

#include "kernel/merge_dims.h"

namespace ebb {

/// Dimensions left after joining neighbours; arrays that need more are not made in practice.
constexpr int kPlanDims = 16;

/// Sizes and byte strides of N arrays, operand 0 being the output. Dimension 0 is the innermost; dimensions
/// of size 1 are gone and dimensions that every operand walks in one go are joined. Plain data: passed to
/// kernels by value.
template <int N>
struct ElementwisePlan {
  int dims = 0;
  std::int64_t numel = 1;
  std::int64_t sizes[kPlanDims];
  std::int64_t strides[N][kPlanDims];

  /// Whether every byte offset, and the element count, fit into 32 bits.
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

/// The dimensions of a plan's operands as StridedPosition takes them: of those from number `operand` on, and
/// from dimension `dim` on.
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

/// Whether all arrays are contiguous and of one shape: a single run.
template <int N>
bool is_one_run(const NdArray* const (&arrays)[N]) {
  for (const NdArray* a : arrays)
    if (a && (!a->is_contiguous() || (a != arrays[0] && a->sizes() != arrays[0]->sizes()))) return false;
  return true;
}

}  // namespace detail

/// Plans a walk over `out`'s shape; inputs broadcast to it. arrays[0] is the output; an input that is null is
/// a single value, which is walked nowhere.
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
    EBB_CHECK(plan.dims < kPlanDims, op, ": strides too irregular to walk: more than ", kPlanDims,
              " dimensions remain of shape ", out.sizes(), ". Call .contiguous() on the inputs.");
    plan.sizes[plan.dims] = size;
    for (int i = 0; i < N; ++i) plan.strides[i][plan.dims] = strides[i];
    ++plan.dims;
  };
  const auto nearness = [&](int d) { return std::abs(out.strides()[d]); };
  merge_dims<N>(out.sizes(), nesting_order(out.sizes(), nearness), stride, emit);
  return plan;
}

}  // namespace ebb
