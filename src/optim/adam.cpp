// Adam and AdamW.
#include <ebb/optim/adam.h>

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
    // Files of both optimizers contain this option, as in PyTorch, where AdamW is an Adam with decoupled
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

}  // namespace ebb::optim
