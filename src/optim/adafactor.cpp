// Adafactor: second moments stored as means over rows and columns.
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/reduce.h>
#include <ebb/optim/adafactor.h>

#include "core/epsilon.h"
#include "optim/rule_optimizer.h"

#include <algorithm>
#include <cmath>

namespace ebb::optim {

namespace {

/// Computes moment += (mean of the squared gradient along dim - moment) * share.
void take_mean(Variable moment, const Variable& grad, std::int64_t dim, double share) {
  const Variable squares = grad.norm(2, {dim}, true).square().div(static_cast<double>(grad.size(dim)));
  moment.lerp_(squares, share);
}

Variable root_mean_square(const Variable& x) {
  return x.norm(2) / std::sqrt(static_cast<double>(std::max<std::int64_t>(x.numel(), 1)));
}

}  // namespace

template <>
struct Kind<AdafactorOptions> {
  using Options = AdafactorOptions;
  using State = AdafactorParamState;
  static constexpr const char* kName = "Adafactor";

  static void check(const Options& o) {
    const auto& [eps1, eps2] = o.eps();
    check_option(kName, o.lr() >= 0, "learning rate", o.lr());
    check_option(kName, o.beta2_decay() <= 0, "beta2_decay value", o.beta2_decay());
    check_option(kName, eps1.value_or(0) >= 0, "epsilon value at index 0", eps1.value_or(0));
    check_option(kName, eps2 >= 0, "epsilon value at index 1", eps2);
    check_option(kName, o.d() >= 1, "clipping threshold d", o.d());
    check_option(kName, o.weight_decay() >= 0, "weight_decay value", o.weight_decay());
  }
  static void update(const Options& o, Variable& parameter, const Variable& grad, State& state) {
    const auto t = static_cast<double>(++state.step());
    const double share = std::pow(t, o.beta2_decay()), size = std::min(o.lr(), 1 / std::sqrt(t));
    const double eps1 = std::get<0>(o.eps()).value_or(epsilon_of(parameter.dtype()));
    // `reach` is a tensor, so that the host does not have to wait for a device.
    const Variable reach = root_mean_square(parameter).clamp_min(std::get<1>(o.eps())) * size;
    if (o.weight_decay() != 0) parameter.mul_(1 - o.lr() * o.weight_decay());
    Variable squares;
    if (grad.dim() > 1) {
      DimVector rows(grad.sizes()), columns(grad.sizes());
      rows[rows.size() - 1] = 1;
      columns[columns.size() - 2] = 1;
      if (!state.row_var().defined()) state.row_var(zeros(rows, grad.options().requires_grad(false)));
      if (!state.col_var().defined()) state.col_var(zeros(columns, grad.options().requires_grad(false)));
      take_mean(state.row_var(), grad, -1, share);
      take_mean(state.col_var(), grad, -2, share);
      squares = matmul(state.row_var(), state.col_var()) /
                state.row_var().mean(IntArrayRef{-2}, true).clamp_min(eps1);
    } else {
      if (!state.variance().defined()) state.variance(zeros_like(grad));
      state.variance().lerp_(grad.square(), share);
      squares = state.variance();
    }
    const Variable update = squares.clamp_min(eps1 * eps1).rsqrt() * grad;
    const Variable over = (root_mean_square(update) / o.d()).clamp_min(1);
    parameter.sub_(update * (reach / over));
  }
  template <class P, class F>
  static void options(P& o, const F& f) {
    f("lr", o.lr());
    f("beta2_decay", o.beta2_decay());
    f("eps", o.eps());
    f("d", o.d());
    f("weight_decay", o.weight_decay());
    f("maximize", o.maximize());
  }
  template <class S, class F>
  static void fields(S& state, const F& f) {
    f("step", state.step());
    f("row_var", state.row_var());
    f("col_var", state.col_var());
    f("variance", state.variance());
  }
};

bool AdafactorParamState::fits(const Variable& value, const Variable& parameter) const {
  if (value.dim() != parameter.dim()) return value.dim() == 0;
  for (std::int64_t d = 0; d < value.dim(); ++d)  // a reduced dimension has size 1
    if (value.size(d) != parameter.size(d) && value.size(d) != 1) return false;
  return true;
}

EBB_RULE_OPTIMIZER(Adafactor);

}  // namespace ebb::optim
