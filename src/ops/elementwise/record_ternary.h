// Runs and records ternary ops.
#pragma once

#include "ops/elementwise/record_binary.h"

namespace ebb::ops {

/// The node of `out = op(a, b, c)`. A rule has kName, kUses[3], and `Variable grad(int operand, grad, kept)`.
template <class Rule>
struct TernaryNode final : autograd::Node {
  autograd::SavedVariable saved_a{this}, saved_b{this}, saved_c{this};
  Rule rule;

  std::string name() const override { return rule_name<Rule>(); }

  unsigned uses() const {
    return (needs(0) ? Rule::kUses[0] : 0u) | (needs(1) ? Rule::kUses[1] : 0u) |
           (needs(2) ? Rule::kUses[2] : 0u);
  }

  autograd::GradList apply(autograd::GradList&& grads) override {
    Kept<Variable> kept;
    const unsigned used = uses();
    const Widened<Rule> wide(grads[0]);
    const Variable g = wide(grads[0]);
    if (used & kA) kept.a = wide(saved_a.unpack());
    if (used & kB) kept.b = wide(saved_b.unpack());
    if (used & kC) kept.c = wide(saved_c.unpack());
    autograd::GradList out;
    for (int i = 0; i < static_cast<int>(num_outputs()); ++i) {
      if (needs(i))
        out.push_back(wide.rounded(rule.grad(i, g, kept)));
      else
        out.emplace_back();
    }
    return out;
  }
};

inline bool is_recorded(const Variable& x) { return autograd::records(x); }
inline bool is_recorded(const Scalar&) { return false; }

/// Makes a node for a ternary op, before or after its kernel ran. `self_changes`: a is about to be
/// overwritten.
template <class Rule, class C>
Ref<TernaryNode<Rule>> make_ternary(const Variable& a, const Variable& b, const C& c, const Rule& rule,
                                    bool self_changes) {
  auto node = autograd::make_node<TernaryNode<Rule>>(a, b, edge_of(c));
  node->rule = rule;
  const unsigned used = node->uses();
  if (used & kA) node->saved_a.save(self_changes ? autograd::clone_for_saving(a) : a);
  if (used & kB) node->saved_b.save(self_changes && b.is_same(a) ? autograd::clone_for_saving(b) : b);
  if (used & kC) node->saved_c.save(as_saved(c));
  return node;
}

template <class Op, class Rule, class C>
Variable run_ternary(const Variable& a, const Variable& b, const C& c, const Op& op, const Rule& rule) {
  Variable out(apply(op, operand(a), operand(b), operand(c)));
  if ((autograd::records(a, b) || is_recorded(c)) && is_floating(out.dtype()))
    autograd::set_history(out, make_ternary(a, b, c, rule, false));
  return out;
}

template <class Op, class Rule, class C>
Variable& run_ternary_inplace(const Variable& a, const Variable& b, const C& c, const Op& op,
                              const Rule& rule) {
  autograd::check_inplace(a, kInplaceName<Op>.data());
  Ref<TernaryNode<Rule>> node;
  if (autograd::records(a, b) || is_recorded(c)) node = make_ternary(a, b, c, rule, true);
  apply_inplace(op, a, operand(b), operand(c));
  autograd::bump_version(a);
  autograd::rebase_history(a, node);
  return mutable_self(a);
}

/// The rule of a ternary formula.
template <class Op>
struct TernaryFormulaRule {
  static constexpr const auto& kUses = Op::kUses;
  static constexpr bool kRoundsOnce = ops::kRoundsOnce<Op>;
  Op op;
  static std::string name() { return node_name<Op>(); }
  Variable grad(int operand, const Variable& g, const Kept<Variable>& k) const {
    return op.gradient(operand, g, k);
  }
};

template <class Op>
Variable ternary(const Variable& a, const Variable& b, const Variable& c, const Op& op = {}) {
  return run_ternary(a, b, c, op, TernaryFormulaRule<Op>{op});
}
template <class Op>
Variable& ternary_inplace(const Variable& a, const Variable& b, const Variable& c, const Op& op = {}) {
  return run_ternary_inplace(a, b, c, op, TernaryFormulaRule<Op>{op});
}

}  // namespace ebb::ops
