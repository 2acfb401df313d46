// Adagrad, Adadelta and RMSprop.
#include <ebb/optim/adadelta.h>
#include <ebb/optim/adagrad.h>
#include <ebb/optim/rmsprop.h>

#include "optim/rule_optimizer.h"

namespace ebb::optim {

template <>
struct Kind<AdagradOptions> : Counted<AdagradParamState> {
  using Options = AdagradOptions;
  static constexpr const char* kName = "Adagrad";

  static void check(const Options& o) {
    check_option(kName, o.lr() >= 0, "learning rate", o.lr());
    check_option(kName, o.lr_decay() >= 0, "lr_decay value", o.lr_decay());
    check_option(kName, o.weight_decay() >= 0, "weight_decay value", o.weight_decay());
    check_option(kName, o.initial_accumulator_value() >= 0, "initial_accumulator_value value",
                 o.initial_accumulator_value());
    check_option(kName, o.eps() >= 0, "epsilon value", o.eps());
  }
  template <class Add>
  static void collect(const Options& o, const Variable& parameter, State& state, const Add& add) {
    if (!state.sum().defined()) {
      check_not_captured(kName, parameter);
      state.sum(full(parameter.sizes(), o.initial_accumulator_value(), parameter.options()));
    }
    add(0, remembered(kName, state.sum(), parameter));
  }
  static math::AdagradStep how(const Options& o, std::int64_t number, const State&) {
    return {o.lr() / (1 + static_cast<double>(number - 1) * o.lr_decay()), o.eps(), o.weight_decay()};
  }
  template <class P, class F>
  static void options(P& o, const F& f) {
    f("lr", o.lr());
    f("lr_decay", o.lr_decay());
    f("weight_decay", o.weight_decay());
    f("initial_accumulator_value", o.initial_accumulator_value());
    f("eps", o.eps());
    f("maximize", o.maximize());
  }
  template <class S, class F>
  static void fields(S& state, const F& f) {
    f("step", state.step());
    f("sum", state.sum());
  }
};

EBB_RULE_OPTIMIZER(Adagrad);

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
