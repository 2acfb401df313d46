// Wrong inputs, derived from right ones: each gives a result or an ebb::Error, nothing else.
#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

#include <cmath>
#include <string>

namespace optable {
namespace {

using Change = Variable (*)(const Variable&);

Variable undefined(const Variable&) { return {}; }
Variable as_long(const Variable& x) { return x.to(ebb::kLong); }
Variable as_bool(const Variable& x) { return x.to(ebb::kBool); }
Variable as_float(const Variable& x) { return x.to(ebb::kF32); }
Variable as_half(const Variable& x) { return x.to(ebb::kHalf); }
Variable deeper(const Variable& x) { return x.unsqueeze(0); }
Variable flat(const Variable& x) { return x.flatten(); }
Variable empty(const Variable& x) { return x.dim() == 0 ? x.unsqueeze(0).slice(0, 0, 0) : x.slice(0, 0, 0); }
Variable longer(const Variable& x) { return x.dim() == 0 ? x.expand({2}) : ebb::cat({x, x}); }
Variable far_up(const Variable& x) { return x * 0 + 1000000; }
Variable far_down(const Variable& x) { return x * 0 - 1000000; }
Variable nans(const Variable& x) { return x.is_floating_point() ? x * NAN : x; }

// Runs the op as far as it goes, backward included.
void attempt(const Row& row, const variable_list& inputs) {
  try {
    const variable_list leaves = leaves_of(inputs);
    for (const Variable& y : row.function(inputs)) REQUIRE(y.defined());
    if (row.derivative_order > 0 && !leaves.empty()) gradients(row, inputs, leaves);
  } catch (const ebb::Error& e) {
    REQUIRE(std::string(e.what()).size() > 10);
  }
}

}  // namespace

void check_misuse(const Row& row) {
  const std::pair<const char*, Change> changes[] = {
      {"undefined", undefined}, {"Long", as_long},  {"Bool", as_bool},        {"Float", as_float},
      {"Half", as_half},        {"deeper", deeper}, {"flat", flat},           {"empty", empty},
      {"longer", longer},       {"large", far_up},  {"very small", far_down}, {"NaN", nans}};
  if (row.shape_sets.empty()) return;
  const variable_list inputs = with_grad(row, make_inputs(row, 0));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (const auto& [name, change] : changes) {
      INFO(row.name << ", input " << i << " " << name);
      variable_list other = inputs;
      const Variable changed = change(inputs[i].detach());
      other[i] = changed.defined() && changed.is_floating_point() && inputs[i].requires_grad()
                     ? changed.clone().requires_grad_()
                     : changed;
      attempt(row, other);
    }
}

}  // namespace optable
