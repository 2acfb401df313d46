// Lion: steps along the sign of an averaged gradient.
#include <ebb/optim/lion.h>

#include "optim/rule_optimizer.h"

namespace ebb::optim {

template <>
struct Kind<LionOptions> : Counted<LionParamState> {
  using Options = LionOptions;
  static constexpr const char* kName = "Lion";

  static void check(const Options& o) { check_moments(kName, o); }
  template <class Add>
  static void collect(const Options&, const Variable& parameter, State& state, const Add& add) {
    add(0, remembered(kName, state.exp_avg(), parameter));
  }
  static math::LionStep how(const Options& o, std::int64_t, const State&) {
    const auto [beta1, beta2] = o.betas();
    return {o.lr(), beta1, beta2, 1 - o.lr() * o.weight_decay()};
  }
  template <class P, class F>
  static void options(P& o, const F& f) {
    f("lr", o.lr());
    f("betas", o.betas());
    f("weight_decay", o.weight_decay());
  }
  template <class S, class F>
  static void fields(S& state, const F& f) {
    f("step", state.step());
    f("exp_avg", state.exp_avg());
  }
};

EBB_RULE_OPTIMIZER(Lion);

}  // namespace ebb::optim
