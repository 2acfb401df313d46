// RAdam.
#include <ebb/optim/radam.h>

#include "optim/rule_optimizer.h"

#include <cmath>

namespace ebb::optim {

template <>
struct Kind<RAdamOptions> : Counted<RAdamParamState> {
  using Options = RAdamOptions;
  static constexpr const char* kName = "RAdam";

  static void check(const Options& o) { check_moments(kName, o); }
  template <class Add>
  static void collect(const Options&, const Variable& parameter, State& state, const Add& add) {
    add(0, remembered(kName, state.exp_avg(), parameter));
    add(1, remembered(kName, state.exp_avg_sq(), parameter));
  }
  static math::RadamStep how(const Options& o, std::int64_t number, const State&) {
    const auto [beta1, beta2] = o.betas();
    const auto t = static_cast<double>(number);
    const double most = 2 / (1 - beta2) - 1, rest = 1 - std::pow(beta2, t);
    const double length = most - 2 * t * std::pow(beta2, t) / rest;
    math::RadamStep how{};
    how.beta1 = beta1;
    how.beta2 = beta2;
    how.eps = o.eps();
    how.weight_decay = o.decoupled_weight_decay() ? 0 : o.weight_decay();
    how.shrink = o.decoupled_weight_decay() ? 1 - o.lr() * o.weight_decay() : 1;
    how.step_size = o.lr() / (1 - std::pow(beta1, t));
    how.rectified = length > 5;
    if (how.rectified)
      how.step_size *=
          std::sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length) * rest);
    return how;
  }
  template <class P, class F>
  static void options(P& o, const F& f) {
    f("lr", o.lr());
    f("betas", o.betas());
    f("eps", o.eps());
    f("weight_decay", o.weight_decay());
    f("decoupled_weight_decay", o.decoupled_weight_decay());
    f("maximize", o.maximize());
  }
  template <class S, class F>
  static void fields(S& state, const F& f) {
    f("step", state.step());
    f("exp_avg", state.exp_avg());
    f("exp_avg_sq", state.exp_avg_sq());
  }
};

EBB_RULE_OPTIMIZER(RAdam);

}  // namespace ebb::optim
