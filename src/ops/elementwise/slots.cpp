#include <array>

#include "ops/elementwise/kernels.h"
#include "ops/elementwise/lists.h"

namespace ebb {
namespace kernels {

template <class Op>
constinit UnaryKernel<Op> Unary<Op>::slot{Op::kName, &cpu::unary<Op>};
template <class Op>
constinit BinaryKernel<Op> Binary<Op>::slot{Op::kName, &cpu::binary<Op>};
template <class Op>
constinit TernaryKernel<Op> Ternary<Op>::slot{Op::kName, &cpu::ternary<Op>};

}  // namespace kernels

namespace {

// A member of a template exists once something refers to it.
template <class... Op>
constexpr auto unary_slots(ops::List<Op...>) {
  return std::array<const void*, sizeof...(Op)>{&kernels::Unary<Op>::slot...};
}
template <class... Op>
constexpr auto binary_slots(ops::List<Op...>) {
  return std::array<const void*, sizeof...(Op)>{&kernels::Binary<Op>::slot...};
}
template <class... Op>
constexpr auto ternary_slots(ops::List<Op...>) {
  return std::array<const void*, sizeof...(Op)>{&kernels::Ternary<Op>::slot...};
}

[[gnu::used]] constinit const auto kept_unary = unary_slots(ops::UnaryOps{});
[[gnu::used]] constinit const auto kept_binary = binary_slots(ops::BinaryOps{});
[[gnu::used]] constinit const auto kept_ternary = ternary_slots(ops::TernaryOps{});

}  // namespace
}  // namespace ebb
