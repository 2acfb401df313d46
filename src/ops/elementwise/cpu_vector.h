// Which functors have a vectorised row, and how dear an element is.
#pragma once

#include "ops/elementwise/lists.h"

namespace ebb::cpu {

template <class Op, class T>
constexpr bool has_vector_row = false;

template <class Op, class T>
void vector_row(T* out, const T* x, std::int64_t n);

template <class Op, class Ops>
constexpr bool is_in = false;
template <class Op, class... Ops>
constexpr bool is_in<Op, ops::List<Ops...>> = (std::is_same_v<Op, Ops> || ...);

/// Elements that pay for waking a thread: fewer where each costs a function call.
template <class Op>
constexpr std::int64_t grain_of =
    is_in<Op, ops::Join<ops::ExpOps, ops::TrigOps, ops::HyperbolicOps, ops::BinaryMathOps>> ? 4096 : 32768;

}  // namespace ebb::cpu
