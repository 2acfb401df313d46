// Adadelta.
#include <ebb/optim/adadelta.h>

#include "optim/rule_optimizer.h"

namespace ebb::optim {

template <>
struct Kind<AdadeltaOptions> : Counted<AdadeltaParamState> {
  using Options = AdadeltaOptions;
  static constexpr const char* kName = "Adadelta";

  static void check(const Options& o) {
    check_option(kName, o.lr() >= 0, "learning rate", o.lr());
    check_option(kName, o.rho() >= 0 && o.rho() <= 1, "rho value", o.rho());
    check_option(kName, o.eps() >= 0, "epsilon value", o.eps());
    check_option(kName, o.weight_decay() >= 0, "weight_decay value", o.weight_decay());
  }
  template <class Add>
  static void collect(const Options&, const Variable& parameter, State& state, const Add& add) {
    add(0, remembered(kName, state.square_avg(), parameter));
    add(1, remembered(kName, state.acc_delta(), parameter));
  }
  static math::AdadeltaStep how(const Options& o, std::int64_t, const State&) {
    return {o.lr(), o.rho(), o.eps(), o.weight_decay()};
  }
  template <class P, class F>
  static void options(P& o, const F& f) {
    f("lr", o.lr());
    f("rho", o.rho());
    f("eps", o.eps());
    f("weight_decay", o.weight_decay());
    f("maximize", o.maximize());
  }
  template <class S, class F>
  static void fields(S& state, const F& f) {
    f("step", state.step());
    f("square_avg", state.square_avg());
    f("acc_delta", state.acc_delta());
  }
};

EBB_RULE_OPTIMIZER(Adadelta);

}  // namespace ebb::optim
