// Kernel slots of the reductions and of the scans linear_recurrence and running_extreme.
//
// The result of a reduction is contiguous. Its shape is that of x without the dimensions in `dims`, or with
// size 1 for each of them. Arrays of scans are contiguous. With `reverse` a scan begins at the end of the
// dimension.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/call/slot.h"
#include "kernel/reduce_plan.h"

namespace ebb {

namespace ops {
/// The kernels that reduce with a formula (formulas.h).
enum class Reduction : std::uint8_t { sum, nansum, prod, amax, amin, any, all, count_nonzero, norm };

/// Describes a call of the kernel that the template argument names (see detail::KernelTraits). There is one
/// function for each kernel, so that a static program contains only the kernels that it uses.
template <Reduction kernel>
const NdArray* reduction_of(detail::KeptCall& call, detail::ElementReduction& reduction);
}  // namespace ops

namespace cpu {
/// Fills `steps` with the functions and block sizes by which sum() adds all `count` elements of a Float or
/// Double array. This function has no kernel slot.
void sum_steps(ebb::detail::ElementReduction& steps, DType dtype, std::int64_t count);

/// Computes sum / divisor in x's dtype or in Double. Integers and bools are summed in Long, without a
/// division, or in Double.
void sum(NdArray& out, const NdArray& x, DimMask dims, double divisor);
/// Computes sums of the elements that are not NaN, for floating-point dtypes.
void nansum(NdArray& out, const NdArray& x, DimMask dims);
/// Computes products in x's dtype (integers in Long) or in Double.
void prod(NdArray& out, const NdArray& x, DimMask dims);
/// Computes maxima and minima in x's dtype. Each element of out needs at least one element of x.
void amax(NdArray& out, const NdArray& x, DimMask dims);
void amin(NdArray& out, const NdArray& x, DimMask dims);
/// The result is Bool, or Byte if x is Byte.
void any(NdArray& out, const NdArray& x, DimMask dims);
void all(NdArray& out, const NdArray& x, DimMask dims);
/// The result is Long.
void count_nonzero(NdArray& out, const NdArray& x, DimMask dims);
/// Combines the bits of all elements, each as a Double or a Long, with exclusive or. The result is Long.
void xor_bits(NdArray& out, const NdArray& x, DimMask dims);
/// Computes the p-norm in float or double; 16-bit floats use float.
void norm(NdArray& out, const NdArray& x, DimMask dims, double p);
/// Writes the mean over `dims` to `mean`, and the sum of (x - mean)^2, divided by `divisor`, to out (its
/// square root, if `root`). On CUDA x may have a 16-bit float dtype if the other arrays are Float.
void variance(NdArray& out, NdArray& mean, const NdArray& x, DimMask dims, double divisor, bool root);
/// Finds the largest or smallest element along one dimension and its first index (Long). NaN counts as the
/// largest and as the smallest element.
void extreme_index(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest);

/// Computes out[i] = x[i] + a[i - 1] * out[i - 1] or, if `reverse`, out[i] = x[i] + a[i] * out[i + 1], for
/// floating-point dtypes.
void linear_recurrence(NdArray& out, const NdArray& x, const NdArray& a, std::int64_t dim, bool reverse);
/// Computes the cumulative maximum (if `largest`) or minimum, and the index of its last occurrence so far
/// (Long).
void running_extreme(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest);
}  // namespace cpu

namespace detail {
template <ops::Reduction kernel>
inline constexpr KernelTraits kReduces{.reduction = &ops::reduction_of<kernel>};
template <>
inline constexpr KernelTraits traits_of<cpu::sum> = kReduces<ops::Reduction::sum>;
template <>
inline constexpr KernelTraits traits_of<cpu::nansum> = kReduces<ops::Reduction::nansum>;
template <>
inline constexpr KernelTraits traits_of<cpu::prod> = kReduces<ops::Reduction::prod>;
template <>
inline constexpr KernelTraits traits_of<cpu::amax> = kReduces<ops::Reduction::amax>;
template <>
inline constexpr KernelTraits traits_of<cpu::amin> = kReduces<ops::Reduction::amin>;
template <>
inline constexpr KernelTraits traits_of<cpu::any> = kReduces<ops::Reduction::any>;
template <>
inline constexpr KernelTraits traits_of<cpu::all> = kReduces<ops::Reduction::all>;
template <>
inline constexpr KernelTraits traits_of<cpu::count_nonzero> = kReduces<ops::Reduction::count_nonzero>;
template <>
inline constexpr KernelTraits traits_of<cpu::norm> = kReduces<ops::Reduction::norm>;
}  // namespace detail

}  // namespace ebb

#define EBB_REDUCE_KERNELS(X)                \
  X(sum, "sum");                             \
  X(nansum, "nansum");                       \
  X(prod, "prod");                           \
  X(amax, "amax");                           \
  X(amin, "amin");                           \
  X(any, "any");                             \
  X(all, "all");                             \
  X(count_nonzero, "count_nonzero");         \
  X(xor_bits, "hash_tensor");                \
  X(norm, "norm");                           \
  X(variance, "var");                        \
  X(extreme_index, "max");                   \
  X(linear_recurrence, "linear_recurrence"); \
  X(running_extreme, "cummax");
EBB_DECLARE_KERNELS(EBB_REDUCE_KERNELS)
