// Rprop.
#include <ebb/optim/rprop.h>

#include "optim/rule_optimizer.h"

namespace ebb::optim {

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
