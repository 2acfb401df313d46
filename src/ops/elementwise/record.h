// From a formula of a gradient to a node of the graph. A rule is a small struct: torch's name of the node,
// what it keeps, and the gradients, written with differentiable ops.
#pragma once

#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>

#include "ops/elementwise/apply.h"

namespace ebb::ops {

/// What the gradient rule of an op of one tensor needs: nothing, the input, or the result.
enum class Keep : std::uint8_t { nothing, input, result };

/// Stands where a node has nothing to save.
struct NotSaved {
  explicit NotSaved(autograd::Node*) {}
};
template <bool wanted>
using SavedIf = std::conditional_t<wanted, autograd::SavedVariable, NotSaved>;

/// The node of `out = op(x)`. Rule: kName, kKeep, `Variable operator()(grad, kept)`.
template <class Rule>
struct UnaryNode final : autograd::Node {
  SavedIf<Rule::kKeep != Keep::nothing> kept{this};
  Rule rule;

  std::string name() const override { return Rule::kName; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    autograd::GradList out;
    if constexpr (Rule::kKeep == Keep::nothing)
      out.push_back(rule(grads[0]));
    else
      out.push_back(rule(grads[0], kept.unpack()));
    return out;
  }
};

template <class Rule>
[[gnu::noinline]] void record_unary(const Variable& x, const Variable& out, const Rule& rule) {
  auto node = autograd::make_node<UnaryNode<Rule>>(x);
  node->rule = rule;
  if constexpr (Rule::kKeep == Keep::input) node->kept.save(x);
  autograd::set_history(out, node);
  if constexpr (Rule::kKeep == Keep::result) node->kept.save_output(out);
}

/// op(x), recorded under `rule`.
template <class Op, class Rule>
Variable run_unary(const Variable& x, const Op& op, const Rule& rule) {
  Variable out(apply(op, x));
  if (autograd::records(x) && is_floating(out.dtype())) record_unary(x, out, rule);
  return out;
}

/// "exp_", for the messages of in-place ops.
template <class Op>
constexpr auto kInplaceName = [] {
  std::array<char, sizeof(Op::kName) + 1> text{};
  for (std::size_t i = 0; i + 1 < sizeof(Op::kName); ++i) text[i] = Op::kName[i];
  text[sizeof(Op::kName) - 1] = '_';
  return text;
}();

template <class Op, class Rule>
Variable& run_unary_inplace(const Variable& self, const Op& op, const Rule& rule) {
  autograd::check_inplace(self, kInplaceName<Op>.data());
  Ref<UnaryNode<Rule>> node;
  if (autograd::records(self)) {
    node = autograd::make_node<UnaryNode<Rule>>(self);
    node->rule = rule;
    if constexpr (Rule::kKeep == Keep::input) node->kept.save(autograd::clone_for_saving(self));
  }
  apply_inplace(op, self);
  autograd::bump_version(self);
  autograd::rebase_history(self, node);
  if constexpr (Rule::kKeep == Keep::result)
    if (node) node->kept.save_output(self);
  return const_cast<Variable&>(self);
}

/// What a gradient rule of two or three operands may look at; those it does not name in its masks are
/// undefined.
struct Kept {
  Variable a, b, c, out;
};
constexpr unsigned kNone = 0, kA = 1, kB = 2, kC = 4, kOut = 8;

/// The node of `out = op(a, b)`. Rule: kName; kUsesA and kUsesB, what the gradients of a and b look at; and
/// `Variable a(grad, kept)`, `Variable b(grad, kept)`.
template <class Rule>
struct BinaryNode final : autograd::Node {
  static constexpr unsigned kUses = Rule::kUsesA | Rule::kUsesB;
  SavedIf<(kUses & kA) != 0> saved_a{this};
  SavedIf<(kUses & kB) != 0> saved_b{this};
  SavedIf<(kUses & kOut) != 0> saved_out{this};
  Rule rule;

  std::string name() const override { return Rule::kName; }

  unsigned uses() const { return (needs(0) ? Rule::kUsesA : 0u) | (needs(1) ? Rule::kUsesB : 0u); }

  autograd::GradList apply(autograd::GradList&& grads) override {
    Kept kept;
    const unsigned used = uses();
    if constexpr ((kUses & kA) != 0)
      if (used & kA) kept.a = saved_a.unpack();
    if constexpr ((kUses & kB) != 0)
      if (used & kB) kept.b = saved_b.unpack();
    if constexpr ((kUses & kOut) != 0)
      if (used & kOut) kept.out = saved_out.unpack();
    autograd::GradList out;
    if (needs(0))
      out.push_back(rule.a(grads[0], kept));
    else
      out.emplace_back();
    if (needs(1))
      out.push_back(rule.b(grads[0], kept));
    else
      out.emplace_back();
    return out;
  }
};

/// A number of the op stands in the graph as an undefined input: an edge that leads nowhere.
inline const Variable& edge_of(const Variable& x) { return x; }
inline Variable edge_of(const Scalar&) { return {}; }
inline Variable as_saved(const Variable& x) { return x; }
inline Variable as_saved(const Scalar& s) {
  NdArray a = NdArray::empty({}, s.is_floating_point() ? kDouble : s.dtype());
  if (s.is_floating_point())
    *a.data_as<double>() = s.to_double();
  else if (s.is_boolean())
    *a.data_as<bool>() = s.toBool();
  else
    *a.data_as<std::int64_t>() = s.to_long();
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
  autograd::set_history(out, node);
  if constexpr ((BinaryNode<Rule>::kUses & kOut) != 0)
    if (used & kOut) node->saved_out.save_output(out);
}

/// op(a, b), recorded under `rule`; one operand may be a Scalar.
template <class Op, class Rule, class A, class B>
Variable run_binary(const A& a, const B& b, const Op& op, const Rule& rule) {
  Variable out(apply(op, a, b));
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

/// The same without a graph: comparisons, logic, integers.
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
          node->saved_b.save(b.is_same(self) ? autograd::clone_for_saving(b) : b);
        else
          node->saved_b.save(as_saved(b));
      }
    }
  }
  apply_inplace(op, self, b);
  autograd::bump_version(self);
  autograd::rebase_history(self, node);
  if constexpr ((BinaryNode<Rule>::kUses & kOut) != 0)
    if (node && (node->uses() & kOut)) node->saved_out.save_output(self);
  return const_cast<Variable&>(self);
}

/// The node of `out = op(a, b, c)`. Rule: kName; kUses[3]; `Variable grad(int operand, grad, kept)`.
template <class Rule>
struct TernaryNode final : autograd::Node {
  autograd::SavedVariable saved_a{this}, saved_b{this}, saved_c{this};
  Rule rule;

  std::string name() const override { return Rule::kName; }

  unsigned uses() const {
    return (needs(0) ? Rule::kUses[0] : 0u) | (needs(1) ? Rule::kUses[1] : 0u) |
           (needs(2) ? Rule::kUses[2] : 0u);
  }

  autograd::GradList apply(autograd::GradList&& grads) override {
    Kept kept;
    const unsigned used = uses();
    if (used & kA) kept.a = saved_a.unpack();
    if (used & kB) kept.b = saved_b.unpack();
    if (used & kC) kept.c = saved_c.unpack();
    autograd::GradList out;
    for (int i = 0; i < static_cast<int>(num_outputs()); ++i) {
      if (needs(i))
        out.push_back(rule.grad(i, grads[0], kept));
      else
        out.emplace_back();
    }
    return out;
  }
};

inline bool is_recorded(const Variable& x) { return autograd::records(x); }
inline bool is_recorded(const Scalar&) { return false; }

/// A node for an op of three operands, before or after it ran; `self_changes` when a is about to be
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
  Variable out(apply(op, Input(a), Input(b), Input(c)));
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
  apply_inplace(op, a, Input(b), Input(c));
  autograd::bump_version(a);
  autograd::rebase_history(a, node);
  return const_cast<Variable&>(a);
}

/// An op of a tensor and a number whose node has one edge.
template <class Op, class Rule>
Variable run_scalar(const Variable& x, const Scalar& s, const Op& op, const Rule& rule) {
  Variable out(apply(op, x, s));
  if (autograd::records(x) && is_floating(out.dtype())) record_unary(x, out, rule);
  return out;
}

template <class Op, class Rule>
Variable& run_scalar_inplace(const Variable& self, const Scalar& s, const Op& op, const Rule& rule) {
  autograd::check_inplace(self, kInplaceName<Op>.data());
  Ref<UnaryNode<Rule>> node;
  if (autograd::records(self)) {
    node = autograd::make_node<UnaryNode<Rule>>(self);
    node->rule = rule;
    if constexpr (Rule::kKeep == Keep::input) node->kept.save(autograd::clone_for_saving(self));
  }
  apply_inplace(op, self, s);
  autograd::bump_version(self);
  autograd::rebase_history(self, node);
  if constexpr (Rule::kKeep == Keep::result)
    if (node) node->kept.save_output(self);
  return const_cast<Variable&>(self);
}

/// torch's name of the node of `name`: "EqBackward0" for "eq".
std::string node_name(const char* name);

template <class Op>
struct ZeroNode final : autograd::Node {
  std::string name() const override { return node_name(Op::kName); }
  autograd::GradList apply(autograd::GradList&& grads) override {
    autograd::GradList out;
    for (std::uint32_t i = 0; i < num_outputs(); ++i) out.push_back(zeros_like(grads[0]));
    return out;
  }
};

/// The node of an op that torch cannot differentiate either: backward through it throws.
template <class Op>
struct NoDerivativeNode final : autograd::Node {
  std::string name() const override { return "NotImplemented"; }
  autograd::GradList apply(autograd::GradList&&) override {
    ebb::detail::fail("derivative for ", Op::kName, " is not implemented; call .detach() on its inputs.");
  }
};

/// An op whose gradient is zero everywhere.
template <class Op>
Variable run_flat(const Variable& x, const Op& op = {}) {
  Variable out(apply(op, x));
  if (autograd::records(x) && is_floating(out.dtype()))
    autograd::set_history(out, autograd::make_node<ZeroNode<Op>>(x));
  return out;
}

/// The same in place, also for ops without a gradient: comparisons, logic, bits.
template <class Op, class... Others>
Variable& run_flat_inplace(const Op& op, const Variable& self, const Others&... others) {
  autograd::check_inplace(self, kInplaceName<Op>.data());
  Ref<autograd::Node> node;
  if (autograd::records(self)) node = autograd::make_node<ZeroNode<Op>>(self);
  apply_inplace(op, self, others...);
  autograd::bump_version(self);
  autograd::rebase_history(self, node);
  return const_cast<Variable&>(self);
}

template <class Op, class B>
Variable& run_plain_inplace(const Variable& self, const B& b) {
  return run_flat_inplace(Op(), self, b);
}
template <class Op>
Variable& run_plain_inplace(const Variable& self) {
  return run_flat_inplace(Op(), self);
}

}  // namespace ebb::ops
