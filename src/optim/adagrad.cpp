// Adagrad.
#include <ebb/optim/adagrad.h>

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

}  // namespace ebb::optim
