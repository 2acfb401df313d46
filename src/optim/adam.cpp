// Adam, AdamW, Adamax, NAdam and RAdam.
#include <ebb/optim/adam.h>
#include <ebb/optim/adamax.h>
#include <ebb/optim/nadam.h>
#include <ebb/optim/radam.h>

#include "optim/rule_optimizer.h"

#include <cmath>

namespace ebb::optim {

namespace {

template <class O, class S, bool kDecoupled>
struct AdamKind : Counted<S> {
  using Options = O;
  using State = S;
  static constexpr const char* kName = kDecoupled ? "AdamW" : "Adam";

  static bool decoupled(const Options& o) {
    if constexpr (kDecoupled)
      return true;
    else
      return o.decoupled_weight_decay();
  }

  static void check(const Options& o) { check_moments(kName, o); }
  template <class Add>
  static void collect(const Options& o, const Variable& parameter, State& state, const Add& add) {
    const DType dtype = has_master(o, parameter) ? kFloat : parameter.dtype();
    add(0, remembered(kName, state.exp_avg(), parameter, dtype));
    add(1, remembered(kName, state.exp_avg_sq(), parameter, dtype));
    if (o.amsgrad()) add(2, remembered(kName, state.max_exp_avg_sq(), parameter, dtype));
  }
  static math::AdamStep how(const Options& o, std::int64_t number, const State&) {
    const auto [beta1, beta2] = o.betas();
    const auto t = static_cast<double>(number);
    math::AdamStep how{};
    how.beta1 = beta1;
    how.beta2 = beta2;
    how.eps = o.eps();
    how.weight_decay = decoupled(o) ? 0 : o.weight_decay();
    how.shrink = decoupled(o) ? 1 - o.lr() * o.weight_decay() : 1;
    how.step_size = o.lr() / (1 - std::pow(beta1, t));
    how.root = std::sqrt(1 - std::pow(beta2, t));
    return how;
  }
  template <class P, class F>
  static void options(P& o, const F& f) {
    f("lr", o.lr());
    f("betas", o.betas());
    f("eps", o.eps());
    f("weight_decay", o.weight_decay());
    f("amsgrad", o.amsgrad());
    f("master_weights", o.master_weights());
    f("maximize", o.maximize());
    // Files of Adam and of AdamW contain this option, as in PyTorch, where AdamW is an Adam with decoupled
    // decay.
    if constexpr (kDecoupled) {
      bool is_decoupled = true;
      f("decoupled_weight_decay", is_decoupled);
      EBB_CHECK(is_decoupled,
                "AdamW: the loaded state is of an Adam whose weight decay is not decoupled. Load it "
                "into an Adam.");
    } else {
      f("decoupled_weight_decay", o.decoupled_weight_decay());
    }
  }
  template <class P, class F>
  static void fields(P& state, const F& f) {
    f("step", state.step());
    f("exp_avg", state.exp_avg());
    f("exp_avg_sq", state.exp_avg_sq());
    f("max_exp_avg_sq", state.max_exp_avg_sq());
    f("master", state.master());
  }
};

}  // namespace

template <>
struct Kind<AdamOptions> : AdamKind<AdamOptions, AdamParamState, false> {};
template <>
struct Kind<AdamWOptions> : AdamKind<AdamWOptions, AdamWParamState, true> {};

EBB_RULE_OPTIMIZER(Adam);
EBB_RULE_OPTIMIZER(AdamW);

template <>
struct Kind<AdamaxOptions> : Counted<AdamaxParamState> {
  using Options = AdamaxOptions;
  static constexpr const char* kName = "Adamax";

  static void check(const Options& o) { check_moments(kName, o); }
  template <class Add>
  static void collect(const Options&, const Variable& parameter, State& state, const Add& add) {
    add(0, remembered(kName, state.exp_avg(), parameter));
    add(1, remembered(kName, state.exp_inf(), parameter));
  }
  static math::AdamaxStep how(const Options& o, std::int64_t number, const State&) {
    const auto [beta1, beta2] = o.betas();
    const double rest = 1 - std::pow(beta1, static_cast<double>(number));
    return {beta1, beta2, o.eps(), o.weight_decay(), o.lr() / rest};
  }
  template <class P, class F>
  static void options(P& o, const F& f) {
    f("lr", o.lr());
    f("betas", o.betas());
    f("eps", o.eps());
    f("weight_decay", o.weight_decay());
    f("maximize", o.maximize());
  }
  template <class S, class F>
  static void fields(S& state, const F& f) {
    f("step", state.step());
    f("exp_avg", state.exp_avg());
    f("exp_inf", state.exp_inf());
  }
};

EBB_RULE_OPTIMIZER(Adamax);

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
