// The CUDA kernels of formulas: each formula and dtype has a pair of map kernels.
#pragma once

#include <ebb/core/visit.h>

#include "kernel/cuda/map.h"
#include "kernel/element_types.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/kernels.h"

#include <array>

namespace ebb::cuda {

namespace detail {

template <class R, class T>
using MapResult = std::conditional_t<std::is_same_v<R, bool>, bool, T>;

template <class Op, class T, int Inputs>
constexpr auto kernels_for() {
  using C = ops::Compute<T>;
  using F = ops::Call<Op>;
  if constexpr (Inputs == 1) {
    return map_kernels<F, MapResult<std::invoke_result_t<const F&, C>, T>, T>();
  } else if constexpr (Inputs == 2) {
    return map_kernels<F, MapResult<std::invoke_result_t<const F&, C, C>, T>, T, T>();
  } else {
    using First = std::conditional_t<Op::kCondition, bool, T>;
    return map_kernels<F, T, First, T, T>();
  }
}

// Returns one pair of kernels for each dtype, or null if the op is not defined for the dtype.
template <class Op, int Inputs>
constexpr std::array<MapKernels<1 + Inputs>, kElementTypes> kernel_table() {
  std::array<MapKernels<1 + Inputs>, kElementTypes> table{};
  for_each_element_type([&]<class T> {
    if constexpr (ops::has_type(Op::kTypes, dtype_of<T>()))
      table[static_cast<int>(dtype_of<T>())] = kernels_for<Op, T, Inputs>();
  });
  return table;
}

template <int N>
const MapKernels<N>& kernels_of(const char* name, const std::array<MapKernels<N>, kElementTypes>& table,
                                DType dtype) {
  const MapKernels<N>& kernels = table[static_cast<int>(dtype)];
  if (!kernels.plain)
    ebb::detail::unsupported_dtype(name, dtype, "another dtype: this op is not defined for it");
  return kernels;
}

}  // namespace detail

template <class Op>
void unary(NdArray& out, const NdArray& x, const Op& op) {
  static constexpr auto kTable = detail::kernel_table<Op, 1>();
  const auto& kernels = detail::kernels_of(Op::kName, kTable, x.dtype());
  launch_map<2>(Op::kName, kernels, out, {x}, &op, sizeof(op));
}

template <class Op>
void binary(NdArray& out, DType dtype, const Operand& a, const Operand& b, const Op& op) {
  static constexpr auto kTable = detail::kernel_table<Op, 2>();
  const auto& kernels = detail::kernels_of(Op::kName, kTable, dtype);
  launch_map<3>(Op::kName, kernels, out, {a, b}, &op, sizeof(op));
}

template <class Op>
void ternary(NdArray& out, const Operand& a, const Operand& b, const Operand& c, const Op& op) {
  static constexpr auto kTable = detail::kernel_table<Op, 3>();
  const auto& kernels = detail::kernels_of(Op::kName, kTable, out.dtype());
  launch_map<4>(Op::kName, kernels, out, {a, b, c}, &op, sizeof(op));
}

template <class Op>
void register_op() {
  if constexpr (std::is_base_of_v<ops::Unary, Op>)
    kernels::Unary<Op>::slot.set_cuda(&unary<Op>);
  else if constexpr (std::is_base_of_v<ops::Ternary, Op>)
    kernels::Ternary<Op>::slot.set_cuda(&ternary<Op>);
  else
    kernels::Binary<Op>::slot.set_cuda(&binary<Op>);
}
template <class... Op>
void register_ops(ops::List<Op...>) {
  (register_op<Op>(), ...);
}

}  // namespace ebb::cuda
