// Runs and records binary ops, one of whose operands may be a scalar, and ternary ops. A rule has torch's
// name of the node, the values that it saves, and the gradients, which are written with differentiable ops.
#pragma once

#include "core/recorder.h"
#include "ops/elementwise/record.h"

namespace ebb::ops {

/// The node of `out = op(a, b)`. A rule has kName; kUsesA and kUsesB, the saved values that the gradients of
/// a and b use; `Variable a(grad, kept)` and `Variable b(grad, kept)`.
template <class Rule>
struct BinaryNode final : autograd::Node {
  static constexpr unsigned kUses = Rule::kUsesA | Rule::kUsesB;
  SavedIf<(kUses & kA) != 0> saved_a{this};
  SavedIf<(kUses & kB) != 0> saved_b{this};
  SavedIf<(kUses & kOut) != 0> saved_out{this};
  Rule rule;

  std::string name() const override { return rule_name<Rule>(); }

  static unsigned uses(bool for_a, bool for_b) {
    return (for_a ? Rule::kUsesA : 0u) | (for_b ? Rule::kUsesB : 0u);
  }
  unsigned uses() const { return uses(should_compute_output(0), should_compute_output(1)); }

  autograd::GradList apply(autograd::GradList&& grads) override {
    SavedValues<Variable> kept;
    const bool for_a = needs(0), for_b = needs(1);
    const unsigned used = uses(for_a, for_b);
    const Widened<Rule> wide(grads[0]);
    const Variable g = kUses == kNone ? std::move(grads[0]) : wide(std::move(grads[0]));
    if constexpr ((kUses & kA) != 0)
      if (used & kA) kept.a = wide(saved_a.unpack());
    if constexpr ((kUses & kB) != 0)
      if (used & kB) kept.b = wide(saved_b.unpack());
    if constexpr ((kUses & kOut) != 0)
      if (used & kOut) kept.out = wide(saved_out.unpack());
    autograd::GradList out;
    if (for_a)
      out.push_back(wide.rounded(rule.a(g, kept)));
    else
      out.emplace_back();
    if (for_b)
      out.push_back(wide.rounded(rule.b(g, kept)));
    else
      out.emplace_back();
    return out;
  }
};

/// Return the tensor that a node takes as the input for an operand. It is undefined for a scalar, so the edge
/// has no target.
inline const Variable& edge_of(const Variable& x) { return x; }
inline Variable edge_of(const Scalar&) { return {}; }
inline Variable as_saved(const Variable& x) { return x; }
inline Variable as_saved(const Scalar& s) {
  NdArray a = NdArray::empty({}, s.is_floating_point() ? kDouble : s.dtype());
  detail::host_access(a);
  if (s.is_floating_point())
    *a.address_as<double>() = s.to_double();
  else if (s.is_boolean())
    *a.address_as<bool>() = s.toBool();
  else
    *a.address_as<std::int64_t>() = s.to_long();
  return Variable(std::move(a));
}

template <class Rule, class A, class B>
[[gnu::noinline]] void record_binary(const A& a, const B& b, const Variable& out, const Rule& rule) {
  auto node = autograd::make_node<BinaryNode<Rule>>(edge_of(a), edge_of(b));
  node->rule = rule;
  const unsigned used = node->uses();
  if constexpr ((BinaryNode<Rule>::kUses & kA) != 0)
    if (used & kA) node->saved_a.save(as_saved(a));
  if constexpr ((BinaryNode<Rule>::kUses & kB) != 0)
    if (used & kB) node->saved_b.save(as_saved(b));
  auto& recorded = *node;
  autograd::set_history(out, std::move(node));
  if constexpr ((BinaryNode<Rule>::kUses & kOut) != 0)
    if (used & kOut) recorded.saved_out.save_output(out);
}

/// Computes op(a, b), and records it under `rule`. One operand may be a Scalar.
template <class Op, class Rule, class A, class B>
Variable run_binary(const A& a, const B& b, const Op& op, const Rule& rule) {
  Variable out(VariableImpl::of([&] { return apply(op, a, b); }));
  bool recording = false;
  if constexpr (std::is_same_v<A, Scalar>)
    recording = autograd::records(b);
  else if constexpr (std::is_same_v<B, Scalar>)
    recording = autograd::records(a);
  else
    recording = autograd::records(a, b);
  if (recording && is_floating(out.dtype())) record_binary(a, b, out, rule);
  return out;
}

/// Computes op(a, b) without recording: comparisons, logical ops, ops on integers.
template <class Op, class A, class B>
Variable run_plain(const A& a, const B& b, const Op& op = {}) {
  return Variable(apply(op, a, b));
}

template <class Op, class Rule, class B>
Variable& run_binary_inplace(const Variable& self, const B& b, const Op& op, const Rule& rule) {
  autograd::check_inplace(self, kInplaceName<Op>.data());
  Ref<BinaryNode<Rule>> node;
  bool recording = autograd::records(self);
  if constexpr (std::is_same_v<B, Variable>) recording = autograd::records(self, b);
  if (recording) {
    node = autograd::make_node<BinaryNode<Rule>>(self, edge_of(b));
    node->rule = rule;
    const unsigned used = node->uses();
    if constexpr ((BinaryNode<Rule>::kUses & kA) != 0)
      if (used & kA) node->saved_a.save(autograd::clone_for_saving(self));
    if constexpr ((BinaryNode<Rule>::kUses & kB) != 0) {
      if (used & kB) {
        if constexpr (std::is_same_v<B, Variable>)
          node->saved_b.save(b.impl() == self.impl() ? autograd::clone_for_saving(b) : b);
        else
          node->saved_b.save(as_saved(b));
      }
    }
  }
  apply_inplace(op, self, operand(b));
  autograd::bump_version(self);
  autograd::rebase_history(self, node);
  if constexpr ((BinaryNode<Rule>::kUses & kOut) != 0)
    if (node && (node->uses() & kOut)) node->saved_out.save_output(self);
  return mutable_self(self);
}

/// Computes self = op(self, b) without recording.
template <class Op, class B>
Variable& run_plain_inplace(const Variable& self, const B& b) {
  return run_flat_inplace(Op(), self, b);
}

/// The rule of a binary formula.
template <class Op>
struct BinaryFormulaRule {
  static constexpr unsigned kUsesA = Op::kUsesA, kUsesB = Op::kUsesB;
  static constexpr bool kRoundsOnce = ops::kRoundsOnce<Op>;
  Op op;
  static std::string name() { return node_name<Op>(); }
  Variable a(const Variable& g, const SavedValues<Variable>& k) const { return op.gradient_a(g, k); }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const { return op.gradient_b(g, k); }
};

template <class Op, class A, class B>
Variable binary(const A& a, const B& b, const Op& op = {}) {
  return run_binary(a, b, op, BinaryFormulaRule<Op>{op});
}
template <class Op, class B>
Variable& binary_inplace(const Variable& self, const B& b, const Op& op = {}) {
  return run_binary_inplace(self, b, op, BinaryFormulaRule<Op>{op});
}

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
    SavedValues<Variable> kept;
    const unsigned used = uses();
    const Widened<Rule> wide(grads[0]);
    const Variable g = wide(std::move(grads[0]));
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

/// Makes the node of a ternary op, before or after its kernel has run. If `self_changes`, the op is about to
/// overwrite `a`, so a clone of `a` is saved.
template <class Rule, class C>
Ref<TernaryNode<Rule>> make_ternary(const Variable& a, const Variable& b, const C& c, const Rule& rule,
                                    bool self_changes) {
  auto node = autograd::make_node<TernaryNode<Rule>>(a, b, edge_of(c));
  node->rule = rule;
  const unsigned used = node->uses();
  if (used & kA) node->saved_a.save(self_changes ? autograd::clone_for_saving(a) : a);
  if (used & kB) node->saved_b.save(self_changes && b.impl() == a.impl() ? autograd::clone_for_saving(b) : b);
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
  Variable grad(int operand, const Variable& g, const SavedValues<Variable>& k) const {
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
