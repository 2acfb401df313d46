// Adamax.
#include <ebb/optim/adamax.h>

#include "optim/rule_optimizer.h"

#include <cmath>

namespace ebb::optim {

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

}  // namespace ebb::optim
