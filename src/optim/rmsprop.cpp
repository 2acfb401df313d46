// RMSprop.
#include <ebb/optim/rmsprop.h>

#include "optim/rule_optimizer.h"

namespace ebb::optim {

template <>
struct Kind<RMSpropOptions> : Counted<RMSpropParamState> {
  using Options = RMSpropOptions;
  static constexpr const char* kName = "RMSprop";

  static void check(const Options& o) {
    check_option(kName, o.lr() >= 0, "learning rate", o.lr());
    check_option(kName, o.eps() >= 0, "epsilon value", o.eps());
    check_option(kName, o.momentum() >= 0, "momentum value", o.momentum());
    check_option(kName, o.weight_decay() >= 0, "weight_decay value", o.weight_decay());
    check_option(kName, o.alpha() >= 0, "alpha value", o.alpha());
  }
  template <class Add>
  static void collect(const Options& o, const Variable& parameter, State& state, const Add& add) {
    add(0, remembered(kName, state.square_avg(), parameter));
    if (o.momentum() > 0) add(1, remembered(kName, state.momentum_buffer(), parameter));
    if (o.centered()) add(2, remembered(kName, state.grad_avg(), parameter));
  }
  static math::RmspropStep how(const Options& o, std::int64_t, const State&) {
    return {o.lr(), o.alpha(), o.eps(), o.weight_decay(), o.momentum()};
  }
  template <class P, class F>
  static void options(P& o, const F& f) {
    f("lr", o.lr());
    f("alpha", o.alpha());
    f("eps", o.eps());
    f("weight_decay", o.weight_decay());
    f("momentum", o.momentum());
    f("centered", o.centered());
    f("maximize", o.maximize());
  }
  template <class S, class F>
  static void fields(S& state, const F& f) {
    f("step", state.step());
    f("square_avg", state.square_avg());
    f("momentum_buffer", state.momentum_buffer());
    f("grad_avg", state.grad_avg());
  }
};

EBB_RULE_OPTIMIZER(RMSprop);

}  // namespace ebb::optim
