// The CPU kernels of formulas. Each formula and dtype has a contiguous loop kernel (row), and cpu::map
// iterates over the other dimensions.
#pragma once

#include "core/parallel_for.h"
#include "kernel/cpu/convert_contiguous.h"
#include "kernel/cpu/lane_functions.h"
#include "kernel/cpu/map.h"
#include "kernel/element_types.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/kernels.h"

#include <algorithm>
#include <array>

namespace ebb::cpu {

namespace detail {

using ops::Compute;

template <class Op, class C>
constexpr bool runs_in_lanes = EBB_LIBMVEC && Op::kRun == ops::Run::lanes && std::is_floating_point_v<C>;

/// A block of 16-bit elements, converted to float. For a broadcast scalar, read() returns the scalar
/// unchanged.
template <class T>
struct Block {
  static constexpr std::int64_t kSize = 256;
  float numbers[kSize];
  const float* read(const T* x, std::int64_t begin, std::int64_t n) {
    convert_contiguous(numbers, x + begin, n);
    return numbers;
  }
  template <class Number>
  const Number& read(const Number& number, std::int64_t, std::int64_t) {
    return number;
  }
};

/// Returns element i of an operand for loop kernels. The operand is an array or a broadcast scalar.
template <class C, class T>
C number_at(const T* x, std::int64_t i) {
  return static_cast<C>(x[i]);
}
template <class C>
C number_at(const C& number, std::int64_t) {
  return number;
}
template <class C, class Op, class R, class... Inputs>
void loop_row(const Op op, R* out, std::int64_t n, const Inputs... in) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(op.value(number_at<C>(in, i)...));
}
/// The loop kernel for Half. The compiler does not vectorise loops with conversions of Half, so the elements
/// of a block are converted before and after the formula, in separate loops.
template <class C, class Op, class R, class... Inputs>
void half_row(const Op op, R* out, std::int64_t n, const Inputs... in) {
  using Halves = Block<Half>;
  for (std::int64_t begin = 0; begin < n; begin += Halves::kSize) {
    const std::int64_t count = std::min(Halves::kSize, n - begin);
    if constexpr (std::is_same_v<R, Half>) {
      Halves results;
      loop_row<C>(op, results.numbers, count, Halves().read(in, begin, count)...);
      convert_contiguous(out + begin, results.numbers, count);
    } else {
      loop_row<C>(op, out + begin, count, Halves().read(in, begin, count)...);
    }
  }
}
template <class T, class Op, class R, class... Inputs>
void plain_row(const Op op, R* out, std::int64_t n, const Inputs... in) {
  if constexpr (std::is_same_v<T, Half>)
    half_row<Compute<T>>(op, out, n, in...);
  else
    loop_row<Compute<T>>(op, out, n, in...);
}

#if EBB_LIBMVEC

/// Returns elements i, i + 1, ... of an operand for vector kernels. A broadcast scalar is returned in all
/// lanes.
template <class C>
Lanes<C> lanes_at(const C* x, std::int64_t i, std::int64_t n) {
  return Lanes<C>::load(x + i, n - i);
}
template <class C>
Lanes<C> lanes_at(const Lanes<C>& number, std::int64_t, std::int64_t) {
  return number;
}
template <class Op, class C, class... Inputs>
void lanes_row(const Op op, C* out, std::int64_t n, const Inputs... in) {
  for (std::int64_t i = 0; i < n; i += Lanes<C>::kCount)
    op.value(lanes_at(in, i, n)...).store(out + i, n - i);
}

template <class Op, class T, class... Inputs>
  requires is_half_v<T>
void lanes_row(const Op op, T* out, std::int64_t n, const Inputs... in) {
  for (std::int64_t begin = 0; begin < n; begin += Block<T>::kSize) {
    const std::int64_t count = std::min(Block<T>::kSize, n - begin);
    Block<T> results;
    lanes_row(op, results.numbers, count, Block<T>().read(in, begin, count)...);
    convert_contiguous(out + begin, results.numbers, count);
  }
}

#endif

template <class R, class T>
using Result = std::conditional_t<std::is_same_v<R, bool>, bool, T>;

template <class Op, class T>
void unary_row(void* to, const void* const* in, unsigned constant, std::int64_t n, const void* formula) {
  using C = Compute<T>;
  const Op op = *static_cast<const Op*>(formula);
  using R = Result<decltype(op.value(C())), T>;
  R* out = static_cast<R*>(to);
  const T* x = static_cast<const T*>(in[0]);
  if (constant) {
    unary_row<Op, T>(to, in, 0, 1, formula);
    for (std::int64_t i = 1; i < n; ++i) out[i] = out[0];
    return;
  }
  if constexpr (is_half_v<T> && requires { Op::half_bits(x->bits); }) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) out[i].bits = Op::half_bits(x[i].bits);
    return;
  }
#if EBB_LIBMVEC
  if constexpr (runs_in_lanes<Op, C>) return lanes_row(op, out, n, x);
#endif
  plain_row<T>(op, out, n, x);
}

template <class Op, class T>
void binary_row(void* to, const void* const* in, unsigned constant, std::int64_t n, const void* formula) {
  using C = Compute<T>;
  const Op op = *static_cast<const Op*>(formula);
  using R = Result<decltype(op.value(C(), C())), T>;
  R* out = static_cast<R*>(to);
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
#if EBB_LIBMVEC
  if constexpr (runs_in_lanes<Op, C>) {
    const auto number = [](const T* x) { return Lanes<C>(static_cast<C>(x[0])); };
    if (constant == 0) return lanes_row(op, out, n, a, b);
    if (constant == 1) return lanes_row(op, out, n, number(a), b);
    if (constant == 2) return lanes_row(op, out, n, a, number(b));
    return lanes_row(op, out, n, number(a), number(b));
  }
#endif
  if (constant == 0) {
    plain_row<T>(op, out, n, a, b);
  } else if (constant == 2) {
    plain_row<T>(op, out, n, a, static_cast<C>(b[0]));
  } else if (constant == 1) {
    plain_row<T>(op, out, n, static_cast<C>(a[0]), b);
  } else {
    const R value = static_cast<R>(op.value(static_cast<C>(a[0]), static_cast<C>(b[0])));
    for (std::int64_t i = 0; i < n; ++i) out[i] = value;
  }
}

template <class Op, class T>
void ternary_row(void* to, const void* const* in, unsigned, std::int64_t n, const void* formula) {
  using C = Compute<T>;
  const Op op = *static_cast<const Op*>(formula);
  // A condition is read as a byte, because loops over bool are not vectorised.
  using First = std::conditional_t<Op::kCondition, std::uint8_t, T>;
  using FirstC = Compute<First>;
  T* out = static_cast<T*>(to);
  const First* a = static_cast<const First*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  const T* c = static_cast<const T*>(in[2]);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = static_cast<T>(op.value(static_cast<FirstC>(a[i]), static_cast<C>(b[i]), static_cast<C>(c[i])));
}

/// The loop kernels of a formula, one for each dtype; null if the op is not defined for the dtype.
struct FormulaRows : RowTraits {
  const char* name;
  bool condition = false;  // the first operand is a Bool
  std::array<Row, kElementTypes> rows{};
  DType operand_dtype(int operand, DType dtype) const { return operand == 0 && condition ? kBool : dtype; }
};

template <class Op>
constexpr FormulaRows rows_of = [] {
  constexpr bool is_unary = std::is_base_of_v<ops::Unary, Op>,
                 is_ternary = std::is_base_of_v<ops::Ternary, Op>;
  FormulaRows all;
  all.name = Op::kName;
  all.takes_constants = !is_ternary;
  // Formulas that do not run as a plain loop take longer for each element, so fewer elements justify another
  // thread.
  if (Op::kRun != ops::Run::loop) all.grain = 4096;
  if constexpr (is_ternary) all.condition = Op::kCondition;
  for_each_element_type([&]<class T> {
    if constexpr (ops::has_type(Op::kTypes, dtype_of<T>())) {
      Row& row = all.rows[static_cast<int>(dtype_of<T>())];
      if constexpr (is_unary)
        row = &unary_row<Op, T>;
      else if constexpr (is_ternary)
        row = &ternary_row<Op, T>;
      else
        row = &binary_row<Op, T>;
    }
  });
  return all;
}();

/// Runs the kernel for `dtype`. Scalar operands are first stored in memory, because kernels take addresses.
template <int kCount>
void run_rows(const FormulaRows& rows, NdArray& out, DType dtype,
              const ops::Operand* const (&operands)[kCount], const void* op);

}  // namespace detail

/// Sets the fields of `row` that depend on the instruction set level.
template <class Op>
void find_row(ebb::detail::ElementRow& row) {
  const detail::FormulaRows& all = detail::rows_of<Op>;
  row.function = all.rows[static_cast<int>(row.dtype)];
  row.takes_constants = all.takes_constants;
  row.grain = all.grain;
}

template <class Op>
void unary(NdArray& out, const NdArray& x, const Op& op) {
  const ops::Operand operand(x);
  const ops::Operand* const operands[] = {&operand};
  detail::run_rows(detail::rows_of<Op>, out, x.dtype(), operands, &op);
}

template <class Op>
void binary(NdArray& out, DType dtype, const ops::Operand& a, const ops::Operand& b, const Op& op) {
  const ops::Operand* const operands[] = {&a, &b};
  detail::run_rows(detail::rows_of<Op>, out, dtype, operands, &op);
}

template <class Op>
void ternary(NdArray& out, const ops::Operand& a, const ops::Operand& b, const ops::Operand& c,
             const Op& op) {
  const ops::Operand* const operands[] = {&a, &b, &c};
  detail::run_rows(detail::rows_of<Op>, out, out.dtype(), operands, &op);
}

}  // namespace ebb::cpu
