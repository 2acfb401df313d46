// SGD (stochastic gradient descent), ASGD (averaged SGD) and Rprop.
#include <ebb/optim/asgd.h>
#include <ebb/optim/rprop.h>
#include <ebb/optim/sgd.h>

#include "optim/rule_optimizer.h"

#include <algorithm>
#include <cmath>

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
              "SGD: Nesterov momentum requires a momentum and zero dampening, got momentum ", o.momentum(),
              " and dampening ", o.dampening(), ".");
  }
  static bool remembers(const Options& o) { return o.momentum() != 0; }
  // Returns 1 for the first update, which initialises the velocity, and 2 for all later ones. The
  // coefficients of later updates do not depend on the count of updates.
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

template <>
struct Kind<ASGDOptions> : Counted<ASGDParamState> {
  using Options = ASGDOptions;
  static constexpr const char* kName = "ASGD";

  static void check(const Options& o) {
    check_option(kName, o.lr() >= 0, "learning rate", o.lr());
    check_option(kName, o.lambd() >= 0, "lambd value", o.lambd());
    check_option(kName, o.alpha() >= 0, "alpha value", o.alpha());
    check_option(kName, o.weight_decay() >= 0, "weight_decay value", o.weight_decay());
  }
  static auto read(const State& state) { return std::make_tuple(state.step(), state.eta(), state.mu()); }
  static void advance(const Options& o, State& state) {
    const auto t = static_cast<double>(++state.step());
    state.eta(o.lr() / std::pow(1 + o.lambd() * o.lr() * t, o.alpha()));
    state.mu(1 / std::max(1.0, t - o.t0()));
  }
  template <class Add>
  static void collect(const Options&, const Variable& parameter, State& state, const Add& add) {
    add(0, remembered(kName, state.ax(), parameter));
  }
  static math::AsgdStep how(const Options& o, std::int64_t number, const State& state) {
    const double eta = number == 1 ? o.lr() : state.eta();
    return {1 - o.lambd() * eta, eta, state.mu(), o.weight_decay()};
  }
  template <class P, class F>
  static void options(P& o, const F& f) {
    f("lr", o.lr());
    f("lambd", o.lambd());
    f("alpha", o.alpha());
    f("t0", o.t0());
    f("weight_decay", o.weight_decay());
    f("maximize", o.maximize());
  }
  template <class S, class F>
  static void fields(S& state, const F& f) {
    f("step", state.step());
    f("eta", state.eta());
    f("mu", state.mu());
    f("ax", state.ax());
  }
};

EBB_RULE_OPTIMIZER(ASGD);

template <>
struct Kind<RpropOptions> : Counted<RpropParamState> {
  using Options = RpropOptions;
  static constexpr const char* kName = "Rprop";

  static void check(const Options& o) {
    const auto [shorter, longer] = o.etas();
    check_option(kName, o.lr() >= 0, "learning rate", o.lr());
    EBB_CHECK(0 < shorter && shorter < 1 && 1 < longer, "Rprop: Invalid eta values: ", shorter, ", ", longer,
              ". The first must be between 0 and 1, the second above 1.");
  }
  template <class Add>
  static void collect(const Options&, const Variable& parameter, State& state, const Add& add) {
    add(0, remembered(kName, state.prev(), parameter));
    add(1, remembered(kName, state.step_size(), parameter));
  }
  static math::RpropStep how(const Options& o, std::int64_t number, const State&) {
    const auto [shorter, longer] = o.etas();
    const auto [least, most] = o.step_sizes();
    return {o.lr(), shorter, longer, least, most, number == 1};
  }
  template <class P, class F>
  static void options(P& o, const F& f) {
    f("lr", o.lr());
    f("etas", o.etas());
    f("step_sizes", o.step_sizes());
    f("maximize", o.maximize());
  }
  template <class S, class F>
  static void fields(S& state, const F& f) {
    f("step", state.step());
    f("prev", state.prev());
    f("step_size", state.step_size());
  }
};

EBB_RULE_OPTIMIZER(Rprop);

}  // namespace ebb::optim
