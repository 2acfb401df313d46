// ASGD.
#include <ebb/optim/asgd.h>

#include "optim/rule_optimizer.h"

#include <algorithm>
#include <cmath>

namespace ebb::optim {

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

}  // namespace ebb::optim
