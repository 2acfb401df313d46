// Runs and records unary ops. A rule is a small struct with torch's name of the node, the values that it
// saves, and the gradient, written with differentiable ops. record_formula.h derives a rule from a formula.
#pragma once

#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>

#include "ops/common/record.h"
#include "ops/elementwise/apply.h"

namespace ebb::ops {

/// Placeholder for a SavedVariable in nodes that save nothing.
struct NotSaved {
  explicit NotSaved(autograd::Node*) {}
};
template <bool wanted>
using SavedIf = std::conditional_t<wanted, autograd::SavedVariable, NotSaved>;

/// Returns torch's name of the node for an op's name: "EqBackward0" for "eq".
std::string node_name(const char* name);

/// Returns torch's name of an op's node.
template <class Op>
std::string node_name() {
  if constexpr (requires { Op::kNode; })
    return Op::kNode;
  else
    return node_name(Op::kName);
}

/// Returns the name of a rule's node: kName, or name() if the rule computes it.
template <class Rule>
std::string rule_name() {
  if constexpr (requires { Rule::name(); })
    return Rule::name();
  else
    return Rule::kName;
}

/// True if one kernel computes the gradient of a rule while no graph is recorded. It computes 16-bit elements
/// in float, so the gradient is rounded once. A rule or its formula declares this with kRoundsOnce.
template <class Rule>
constexpr bool kRoundsOnce = false;
template <class Rule>
  requires(requires { Rule::kRoundsOnce; })
constexpr bool kRoundsOnce<Rule> = Rule::kRoundsOnce;

/// Converts the values with which a rule computes. Each op of a composed gradient would round its result to
/// 16 bits. Therefore 16-bit values are converted to float, and only the final gradient is rounded.
template <class Rule>
class Widened {
 public:
  explicit Widened(const Variable& g) {
    if (g.dtype() != kHalf && g.dtype() != kBFloat16) [[likely]]
      return;
    if (!kRoundsOnce<Rule> || GradMode::is_enabled()) narrow_ = g.dtype();
  }
  Variable operator()(Variable x) const {
    if (narrow_ && x.defined() && x.dtype() == *narrow_) [[unlikely]]
      return x.to(kFloat);
    return x;
  }
  Variable rounded(Variable gradient) const {
    if (narrow_ && gradient.defined()) [[unlikely]]
      return gradient.to(*narrow_);
    return gradient;
  }

 private:
  optional<DType> narrow_;
};

/// True if a rule also has `Variable late(grad, result)`, the gradient for an input that was overwritten
/// after the op.
template <class Rule>
constexpr bool kHasLate = false;
template <class Rule>
  requires(requires { Rule::kHasLate; })
constexpr bool kHasLate<Rule> = Rule::kHasLate;

/// The node of `out = op(x)`. A rule has a name, kSaves, and `Variable operator()(grad, kept)`.
template <class Rule>
struct UnaryNode final : autograd::Node {
  SavedIf<Rule::kSaves != Saves::nothing> kept{this};
  SavedIf<kHasLate<Rule>> result{this};
  Rule rule;

  std::string name() const override { return rule_name<Rule>(); }
  autograd::GradList apply(autograd::GradList&& grads) override {
    autograd::GradList out;
    if constexpr (Rule::kSaves == Saves::nothing)
      out.push_back(rule(grads[0]));
    else {
      const Widened<Rule> wide(grads[0]);
      const Variable g = wide(std::move(grads[0]));
      if constexpr (kHasLate<Rule>) {
        const Variable x = kept.unpack_unless_changed();
        out.push_back(wide.rounded(x.defined() ? rule(g, wide(x)) : rule.late(g, wide(result.unpack()))));
      } else {
        out.push_back(wide.rounded(rule(g, wide(kept.unpack()))));
      }
    }
    return out;
  }
};

template <class Rule>
[[gnu::noinline]] void record_unary(const Variable& x, const Variable& out, const Rule& rule) {
  auto node = autograd::make_node<UnaryNode<Rule>>(x);
  node->rule = rule;
  if constexpr (Rule::kSaves == Saves::input) node->kept.save(x);
  auto& recorded = *node;
  autograd::set_history(out, std::move(node));
  if constexpr (Rule::kSaves == Saves::result) recorded.kept.save_output(out);
  if constexpr (kHasLate<Rule>) recorded.result.save_output(out);
}

/// Computes op(x) or op(x, number), and records it under `rule`.
template <class Op, class Rule, class... Numbers>
Variable run_unary(const Variable& x, const Op& op, const Rule& rule, const Numbers&... number) {
  Variable out(VariableImpl::of([&] { return apply(op, x, number...); }));
  if (autograd::records(x) && is_floating(out.dtype())) record_unary(x, out, rule);
  return out;
}

/// The name in messages of in-place ops, for example "exp_".
template <class Op>
constexpr auto kInplaceName = [] {
  std::array<char, sizeof(Op::kName) + 1> text{};
  for (std::size_t i = 0; i + 1 < sizeof(Op::kName); ++i) text[i] = Op::kName[i];
  text[sizeof(Op::kName) - 1] = '_';
  return text;
}();

template <class Op, class Rule, class... Numbers>
Variable& run_unary_inplace(const Variable& self, const Op& op, const Rule& rule, const Numbers&... number) {
  autograd::check_inplace(self, kInplaceName<Op>.data());
  Ref<UnaryNode<Rule>> node;
  if (autograd::records(self)) {
    node = autograd::make_node<UnaryNode<Rule>>(self);
    node->rule = rule;
    if constexpr (Rule::kSaves == Saves::input && !kHasLate<Rule>)
      node->kept.save(autograd::clone_for_saving(self));
  }
  apply_inplace(op, self, operand(number)...);
  autograd::bump_version(self);
  autograd::rebase_history(self, node);
  if constexpr (Rule::kSaves == Saves::result)
    if (node) node->kept.save_output(self);
  if constexpr (kHasLate<Rule>)
    if (node) node->result.save_output(self);
  return mutable_self(self);
}

template <class Op>
struct ZeroNode final : autograd::Node {
  std::string name() const override { return node_name(Op::kName); }
  autograd::GradList apply(autograd::GradList&& grads) override {
    autograd::GradList out;
    for (std::uint32_t i = 0; i < num_outputs(); ++i) out.push_back(zeros_like(grads[0]));
    return out;
  }
};

/// The node of an op that is not differentiable in torch either. Its apply() throws.
template <class Op>
struct NoDerivativeNode final : autograd::Node {
  std::string name() const override { return "NotImplemented"; }
  autograd::GradList apply(autograd::GradList&&) override {
    ebb::detail::fail("derivative for ", Op::kName, " is not implemented; call .detach() on its inputs.");
  }
};

/// Runs an op whose gradient is zero everywhere.
template <class Op>
Variable run_flat(const Variable& x, const Op& op) {
  Variable out(apply(op, x));
  if (autograd::records(x) && is_floating(out.dtype()))
    autograd::set_history(out, autograd::make_node<ZeroNode<Op>>(x));
  return out;
}

/// The in-place form of run_flat(). It also runs ops without a gradient: comparisons, logical and bitwise
/// ops.
template <class Op, class... Others>
Variable& run_flat_inplace(const Op& op, const Variable& self, const Others&... others) {
  autograd::check_inplace(self, kInplaceName<Op>.data());
  Ref<autograd::Node> node;
  if (autograd::records(self)) node = autograd::make_node<ZeroNode<Op>>(self);
  apply_inplace(op, self, operand(others)...);
  autograd::bump_version(self);
  autograd::rebase_history(self, node);
  return mutable_self(self);
}

}  // namespace ebb::ops
