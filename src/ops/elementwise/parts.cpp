// The parts of floating-point numbers, and their neighbours.
#include "ops/elementwise/formulas/parts.h"
#include "ops/elementwise/record_binary.h"

#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/elementwise/parts.h>

namespace ebb {
namespace {

using namespace ops;

struct FrexpRule {
  static constexpr char kName[] = "FrexpBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const {
    return g / exp2(Variable(apply(FrexpExponent(), x)));
  }
};

NextAfter next_after(const char* op, const Variable& self, const Variable& other) {
  EBB_CHECK(self.defined() && other.defined(), op,
            ": expected a tensor, got an undefined one. Assign it before use.");
  const DType type = result_type(self, other);
  EBB_CHECK(is_floating(type), op, ": expected a floating-point dtype, got ", self.dtype(), " and ",
            other.dtype(), ". Convert one with .to(kFloat).");
  if (type == kHalf) return {{}, 11, -14};
  if (type == kBFloat16) return {{}, 8, -126};
  return {};
}

}  // namespace

std::tuple<Variable, Variable> frexp(const Variable& self) {
  Variable mantissa = run_unary(self, FrexpMantissa(), FrexpRule());
  return {std::move(mantissa), Variable(apply(FrexpExponent(), self)).to(kInt)};
}

Variable nextafter(const Variable& self, const Variable& other) {
  Variable out(apply(next_after("nextafter", self, other), self, other));
  if (autograd::records(self, other))
    autograd::set_history(out, autograd::make_node<NoDerivativeNode<NextAfter>>(self, other));
  return out;
}
Variable& nextafter_(const Variable& self, const Variable& other) {
  const NextAfter op = next_after("nextafter_", self, other);
  autograd::check_inplace(self, "nextafter_");
  Ref<autograd::Node> node;
  if (autograd::records(self, other)) node = autograd::make_node<NoDerivativeNode<NextAfter>>(self, other);
  apply_inplace(op, self, other);
  autograd::bump_version(self);
  autograd::rebase_history(self, node);
  return const_cast<Variable&>(self);
}

Variable isreal(const Variable& self) {
  EBB_CHECK(self.defined(), "isreal: expected a tensor, got an undefined one. Assign it before use.");
  return ones_like(self, kBool);
}

}  // namespace ebb
