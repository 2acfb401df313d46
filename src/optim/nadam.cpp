// NAdam.
#include <ebb/optim/nadam.h>

#include "optim/rule_optimizer.h"

#include <cmath>

namespace ebb::optim {

template <>
struct Kind<NAdamOptions> : Counted<NAdamParamState> {
  using Options = NAdamOptions;
  static constexpr const char* kName = "NAdam";

  static void check(const Options& o) {
    check_moments(kName, o);
    check_option(kName, o.momentum_decay() >= 0, "momentum_decay value", o.momentum_decay());
  }
  static double momentum(const Options& o, std::int64_t t) {
    return std::get<0>(o.betas()) * (1 - 0.5 * std::pow(0.96, static_cast<double>(t) * o.momentum_decay()));
  }
  static auto read(const State& state) { return std::make_tuple(state.step(), state.mu_product()); }
  static void advance(const Options& o, State& state) { state.mu_product() *= momentum(o, ++state.step()); }
  template <class Add>
  static void collect(const Options&, const Variable& parameter, State& state, const Add& add) {
    add(0, remembered(kName, state.exp_avg(), parameter));
    add(1, remembered(kName, state.exp_avg_sq(), parameter));
  }
  static math::NadamStep how(const Options& o, std::int64_t number, const State& state) {
    const auto [beta1, beta2] = o.betas();
    const double mu = momentum(o, number), next = momentum(o, number + 1), product = state.mu_product() * mu;
    math::NadamStep how{};
    how.beta1 = beta1;
    how.beta2 = beta2;
    how.eps = o.eps();
    how.weight_decay = o.decoupled_weight_decay() ? 0 : o.weight_decay();
    how.shrink = o.decoupled_weight_decay() ? 1 - o.lr() * o.weight_decay() : 1;
    how.of_gradient = o.lr() * (1 - mu) / (1 - product);
    how.of_mean = o.lr() * next / (1 - product * next);
    how.root = std::sqrt(1 - std::pow(beta2, static_cast<double>(number)));
    return how;
  }
  template <class P, class F>
  static void options(P& o, const F& f) {
    f("lr", o.lr());
    f("betas", o.betas());
    f("eps", o.eps());
    f("weight_decay", o.weight_decay());
    f("momentum_decay", o.momentum_decay());
    f("decoupled_weight_decay", o.decoupled_weight_decay());
    f("maximize", o.maximize());
  }
  template <class S, class F>
  static void fields(S& state, const F& f) {
    f("step", state.step());
    f("mu_product", state.mu_product());
    f("exp_avg", state.exp_avg());
    f("exp_avg_sq", state.exp_avg_sq());
  }
};

EBB_RULE_OPTIMIZER(NAdam);

}  // namespace ebb::optim
