// Muon: momentum orthogonalized by Newton-Schulz iterations.
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>
#include <ebb/optim/muon.h>

#include "optim/rule_optimizer.h"

#include <algorithm>
#include <cmath>

namespace ebb::optim {

namespace {

/// Returns a matrix with the same singular vectors and singular values near 1.
Variable orthogonalised(const Variable& matrix, const MuonOptions& o) {
  const auto [a, b, c] = o.ns_coefficients();
  const bool tall = matrix.size(0) > matrix.size(1);
  Variable x = matrix.to(kBFloat16);
  if (tall) x = x.t();
  x = x / x.norm(2).clamp_min(o.eps());
  for (std::int64_t i = 0; i < o.ns_steps(); ++i) {
    const Variable gram = matmul(x, x.t());
    x = addmm(x, addmm(gram, gram, gram, b, c), x, a);
  }
  return tall ? x.t() : x;
}

double adjusted(const MuonOptions& o, const Variable& parameter) {
  const auto rows = static_cast<double>(parameter.size(0)), columns = static_cast<double>(parameter.size(1));
  const std::string how = o.adjust_lr_fn().value_or("original");
  if (how == "match_rms_adamw") return o.lr() * 0.2 * std::sqrt(std::max(rows, columns));
  if (how == "spectral_unclamped") return o.lr() * std::sqrt(rows / columns);
  return o.lr() * std::sqrt(std::max(1.0, rows / columns));
}

void check_matrix(const Variable& p) {
  EBB_CHECK(!p.defined() || p.dim() == 2,
            "Muon only supports 2D parameters whereas we found a parameter with size: ", p.sizes(),
            ". Leave it to AdamW.");
}

const std::vector<OptimizerParamGroup>& matrices(const std::vector<OptimizerParamGroup>& groups) {
  for (const OptimizerParamGroup& group : groups)
    for (const Variable& p : group.params()) check_matrix(p);
  return groups;
}

}  // namespace

template <>
struct Kind<MuonOptions> {
  using Options = MuonOptions;
  using State = MuonParamState;
  static constexpr const char* kName = "Muon";

  static void check(const Options& o) {
    check_option(kName, o.lr() >= 0, "learning rate", o.lr());
    check_option(kName, o.momentum() >= 0, "momentum value", o.momentum());
    check_option(kName, o.weight_decay() >= 0, "weight_decay value", o.weight_decay());
    check_option(kName, o.ns_steps() >= 0 && o.ns_steps() < 100, "number of steps",
                 static_cast<double>(o.ns_steps()));
    const std::string how = o.adjust_lr_fn().value_or("original");
    EBB_CHECK(how == "original" || how == "match_rms_adamw" || how == "spectral_unclamped",
              "Muon: adjust_lr_fn '", how,
              "' is not supported; use 'original', 'match_rms_adamw' or 'spectral_unclamped'.");
  }
  static void update(const Options& o, Variable& parameter, const Variable& grad, State& state) {
    check_matrix(parameter);  // checked here too, because groups may be added after construction
    if (!state.momentum_buffer().defined()) state.momentum_buffer(zeros_like(grad));
    Variable& velocity = state.momentum_buffer();
    velocity.lerp_(grad, 1 - o.momentum());
    const Variable step = orthogonalised(o.nesterov() ? grad.lerp(velocity, o.momentum()) : velocity, o);
    parameter.mul_(1 - o.lr() * o.weight_decay());
    parameter.sub_(step.to(parameter.dtype()), adjusted(o, parameter));
  }
  template <class P, class F>
  static void options(P& o, const F& f) {
    f("lr", o.lr());
    f("weight_decay", o.weight_decay());
    f("momentum", o.momentum());
    f("nesterov", o.nesterov());
    f("ns_coefficients", o.ns_coefficients());
    f("eps", o.eps());
    f("ns_steps", o.ns_steps());
    f("adjust_lr_fn", o.adjust_lr_fn());
  }
  template <class S, class F>
  static void fields(S& state, const F& f) {
    f("momentum_buffer", state.momentum_buffer());
  }
};

EBB_RULE_OPTIMIZER(Muon);

Muon::Muon(std::vector<OptimizerParamGroup> param_groups, MuonOptions defaults)
    : RuleOptimizer(matrices(param_groups), std::move(defaults)) {}
Muon::Muon(std::vector<Variable> params, MuonOptions defaults)
    : Muon({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

}  // namespace ebb::optim
