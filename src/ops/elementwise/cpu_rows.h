// The CPU kernels of the family: a functor becomes one loop a dtype over a contiguous row; cpu::map does the
// rest.
#pragma once

#include <array>
#include <cstring>

#include "kernel/cpu/map.h"
#include "kernel/cpu/parallel.h"
#include "kernel/element_types.h"
#include "ops/elementwise/cpu_vector.h"
#include "ops/elementwise/functor.h"
#include "ops/elementwise/kernels.h"

namespace ebb::cpu {

namespace detail {

using ops::Compute;

template <class R, class T>
using Result = std::conditional_t<std::is_same_v<R, bool>, bool, T>;

template <class Op, class T>
void unary_row(void* to, const void* const* in, unsigned constant, std::int64_t n, const void* functor) {
  using C = Compute<T>;
  const Op op = *static_cast<const Op*>(functor);
  using R = Result<decltype(op(C())), T>;
  R* out = static_cast<R*>(to);
  const T* x = static_cast<const T*>(in[0]);
  if (constant) {
    unary_row<Op, T>(to, in, 0, 1, functor);
    for (std::int64_t i = 1; i < n; ++i) out[i] = out[0];
    return;
  }
#if EBB_LIBMVEC
  if constexpr (runs_in_lanes<Op>) return lanes::row(op, out, x, n);
#endif
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(op(static_cast<C>(x[i])));
}

template <class Op, class T>
void binary_row(void* to, const void* const* in, unsigned constant, std::int64_t n, const void* functor) {
  using C = Compute<T>;
  const Op op = *static_cast<const Op*>(functor);
  using R = Result<decltype(op(C(), C())), T>;
  R* out = static_cast<R*>(to);
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
#if EBB_LIBMVEC
  if constexpr (runs_in_lanes<Op>) return lanes::row(op, out, a, constant & 1u, b, constant & 2u, n);
#endif
  if (constant == 0) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i)
      out[i] = static_cast<R>(op(static_cast<C>(a[i]), static_cast<C>(b[i])));
  } else if (constant == 2) {
    const C y = static_cast<C>(b[0]);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(op(static_cast<C>(a[i]), y));
  } else if (constant == 1) {
    const C x = static_cast<C>(a[0]);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(op(x, static_cast<C>(b[i])));
  } else {
    const R value = static_cast<R>(op(static_cast<C>(a[0]), static_cast<C>(b[0])));
    for (std::int64_t i = 0; i < n; ++i) out[i] = value;
  }
}

template <class Op, class T>
void ternary_row(void* to, const void* const* in, unsigned, std::int64_t n, const void* functor) {
  using C = Compute<T>;
  const Op op = *static_cast<const Op*>(functor);
  using First = std::conditional_t<ops::TakesCondition<Op, C>, bool, T>;
  using FirstC = Compute<First>;
  T* out = static_cast<T*>(to);
  const First* a = static_cast<const First*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  const T* c = static_cast<const T*>(in[2]);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = static_cast<T>(op(static_cast<FirstC>(a[i]), static_cast<C>(b[i]), static_cast<C>(c[i])));
}

// One row function a dtype, null where the op is not defined.
template <class Op, template <class, class> class Make>
constexpr std::array<Row, 10> row_table() {
  std::array<Row, 10> rows{};
  for_each_element_type([&]<class T> {
    if constexpr (ops::has_type(Op::kTypes, dtype_of<T>()))
      rows[static_cast<int>(dtype_of<T>())] = Make<Op, T>::row;
  });
  return rows;
}

template <class Op, class T>
struct UnaryRow {
  static constexpr Row row = &unary_row<Op, T>;
};
template <class Op, class T>
struct BinaryRow {
  static constexpr Row row = &binary_row<Op, T>;
};
template <class Op, class T>
struct TernaryRow {
  static constexpr Row row = &ternary_row<Op, T>;
};

/// Runs the row for `dtype`, with numbers among the operands given a place in memory.
void run_rows(const char* name, const std::array<Row, 10>& rows, NdArray& out, DType dtype,
              const ops::Operand* const* operands, int count, const void* op, RowTraits traits);

template <class Op>
constexpr std::array<Row, 10> unary_rows = row_table<Op, UnaryRow>();
template <class Op>
constexpr std::array<Row, 10> binary_rows = row_table<Op, BinaryRow>();
template <class Op>
constexpr std::array<Row, 10> ternary_rows = row_table<Op, TernaryRow>();

}  // namespace detail

template <class Op>
void unary(NdArray& out, const NdArray& x, const Op& op) {
  const ops::Operand operand(x);
  const ops::Operand* const operands[] = {&operand};
  detail::run_rows(Op::kName, detail::unary_rows<Op>, out, x.dtype(), operands, 1, &op,
                   {.grain = grain_of<Op>});
}

template <class Op>
void binary(NdArray& out, DType dtype, const ops::Operand& a, const ops::Operand& b, const Op& op) {
  const ops::Operand* const operands[] = {&a, &b};
  detail::run_rows(Op::kName, detail::binary_rows<Op>, out, dtype, operands, 2, &op, {.grain = grain_of<Op>});
}

template <class Op>
void ternary(NdArray& out, const ops::Operand& a, const ops::Operand& b, const ops::Operand& c,
             const Op& op) {
  const ops::Operand* const operands[] = {&a, &b, &c};
  detail::run_rows(Op::kName, detail::ternary_rows<Op>, out, out.dtype(), operands, 3, &op,
                   {.takes_constants = false, .grain = grain_of<Op>});
}

/// What an instantiating file writes: `[[gnu::used]] const auto kept = unary_kernels(ops::TrigOps{});`
template <class... Op>
constexpr auto unary_kernels(ops::List<Op...>) {
  return std::array<const void*, sizeof...(Op)>{reinterpret_cast<const void*>(&unary<Op>)...};
}
template <class... Op>
auto binary_kernels(ops::List<Op...>) {
  return std::array<const void*, sizeof...(Op)>{reinterpret_cast<const void*>(&binary<Op>)...};
}
template <class... Op>
auto ternary_kernels(ops::List<Op...>) {
  return std::array<const void*, sizeof...(Op)>{reinterpret_cast<const void*>(&ternary<Op>)...};
}

}  // namespace ebb::cpu
