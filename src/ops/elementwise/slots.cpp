#include <array>

#include "ops/elementwise/kernels.h"
#include "ops/elementwise/lists.h"

namespace ebb {
namespace kernels {

template <class Op>
constinit UnaryKernel<Op> unary{Op::kName, &cpu::unary<Op>};
template <class Op>
constinit BinaryKernel<Op> binary{Op::kName, &cpu::binary<Op>};
template <class Op>
constinit TernaryKernel<Op> ternary{Op::kName, &cpu::ternary<Op>};

}  // namespace kernels

namespace {

// A template variable exists once something refers to it.
template <class... Op>
constexpr auto unary_slots(ops::List<Op...>) {
  return std::array<const void*, sizeof...(Op)>{&kernels::unary<Op>...};
}
template <class... Op>
constexpr auto binary_slots(ops::List<Op...>) {
  return std::array<const void*, sizeof...(Op)>{&kernels::binary<Op>...};
}
template <class... Op>
constexpr auto ternary_slots(ops::List<Op...>) {
  return std::array<const void*, sizeof...(Op)>{&kernels::ternary<Op>...};
}

[[gnu::used]] constinit const auto kept_unary = unary_slots(ops::UnaryOps{});
[[gnu::used]] constinit const auto kept_binary = binary_slots(ops::BinaryOps{});
[[gnu::used]] constinit const auto kept_ternary = ternary_slots(ops::TernaryOps{});

}  // namespace
}  // namespace ebb
