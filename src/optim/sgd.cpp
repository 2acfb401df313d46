// SGD: stochastic gradient descent.
#include <ebb/optim/sgd.h>

#include "optim/rule_optimizer.h"

namespace ebb::optim {

template <>
struct Kind<SGDOptions> {
  using Options = SGDOptions;
  using State = SGDParamState;
  static constexpr const char* kName = "SGD";
  static constexpr bool kBumps = false;

  static void check(const Options& o) {
    check_option(kName, o.lr() >= 0, "learning rate", o.lr());
    check_option(kName, o.momentum() >= 0, "momentum value", o.momentum());
    check_option(kName, o.weight_decay() >= 0, "weight_decay value", o.weight_decay());
    EBB_CHECK(!o.nesterov() || (o.momentum() > 0 && o.dampening() == 0),
              "SGD: Nesterov momentum requires a momentum and zero dampening; they are ", o.momentum(),
              " and ", o.dampening(), ".");
  }
  static bool remembers(const Options& o) { return o.momentum() != 0; }
  // The coefficients only depend on whether this is the first update, which initialises the velocity.
  static std::int64_t number(const State& state) { return state.momentum_buffer().defined() ? 2 : 1; }
  static void advance(const Options&, State&) {}
  template <class Add>
  static void collect(const Options&, const Variable& parameter, State& state, const Add& add) {
    add(0, remembered(kName, state.momentum_buffer(), parameter));
  }
  static math::SgdStep how(const Options& o, std::int64_t number, const State&) {
    return {o.lr(), o.momentum(), o.dampening(), o.weight_decay(), o.nesterov(), number == 1};
  }
  template <class P, class F>
  static void options(P& o, const F& f) {
    f("lr", o.lr());
    f("momentum", o.momentum());
    f("dampening", o.dampening());
    f("weight_decay", o.weight_decay());
    f("nesterov", o.nesterov());
    f("maximize", o.maximize());
  }
  template <class S, class F>
  static void fields(S& state, const F& f) {
    f("momentum_buffer", state.momentum_buffer());
  }
};

EBB_RULE_OPTIMIZER(SGD);

}  // namespace ebb::optim
