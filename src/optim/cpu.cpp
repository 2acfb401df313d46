// Kernels of the optimizers' update rules on the CPU.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "kernel/cpu/convert_contiguous.h"
#include "optim/kernels.h"

#include <algorithm>
#include <bit>

namespace ebb::cpu {

namespace {

/// Updates a range of one parameter. States have dtype S. If `Master` is true, the array after the states is
/// the master copy, and the rule updates this copy.
template <unsigned StateMask, bool Master, class S, class T, class Rule>
void update_range(const Rule& rule, const TensorEntry& entry, std::int64_t begin, std::int64_t end) {
  using C = Compute<T>;
  T* const p = static_cast<T*>(entry.at[0]);
  const T* const g = static_cast<const T*>(entry.at[1]);
  S* states[math::kMostStates] = {};
  std::size_t at = 2;
  for (int k = 0; k < math::kMostStates; ++k)
    if ((StateMask >> k) & 1u) states[k] = static_cast<S*>(entry.at[at++]);
  S *const a = states[0], *const b = states[1], *const c = states[2];
  S* const master = Master ? static_cast<S*>(entry.at[at]) : nullptr;
  for (std::int64_t i = begin; i < end; ++i) {
    C state[math::kMostStates] = {};
    if constexpr ((StateMask & 1u) != 0) state[0] = static_cast<C>(a[i]);
    if constexpr ((StateMask & 2u) != 0) state[1] = static_cast<C>(b[i]);
    if constexpr ((StateMask & 4u) != 0) state[2] = static_cast<C>(c[i]);
    C from = static_cast<C>(p[i]);
    if constexpr (Master) from = math::master_of(master[i], p[i]);
    const C to = rule.template update<StateMask>(from, static_cast<C>(g[i]), state);
    p[i] = static_cast<T>(to);
    if constexpr (Master) master[i] = to;
    if constexpr ((StateMask & 1u) != 0) a[i] = static_cast<S>(state[0]);
    if constexpr ((StateMask & 2u) != 0) b[i] = static_cast<S>(state[1]);
    if constexpr ((StateMask & 4u) != 0) c[i] = static_cast<S>(state[2]);
  }
}

// Updates a range of a Half parameter with Half states. Conversions of Half prevent vectorisation, so blocks
// are first converted to float.
template <unsigned StateMask, class Rule>
void update_halves(const Rule& rule, const TensorEntry& entry, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kBlock = 256;
  constexpr std::size_t kArrays = 2 + static_cast<std::size_t>(std::popcount(StateMask)), kGradient = 1;
  float values[kArrays][kBlock];
  TensorEntry block;
  for (std::size_t a = 0; a < kArrays; ++a) block.at[a] = values[a];
  for (; begin < end; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, end - begin);
    const auto halves = [&](std::size_t a) { return static_cast<Half*>(entry.at[a]) + begin; };
    for (std::size_t a = 0; a < kArrays; ++a) convert_contiguous<float, Half>(values[a], halves(a), count);
    update_range<StateMask, false, float, float>(rule, block, 0, count);
    for (std::size_t a = 0; a < kArrays; ++a)
      if (a != kGradient) convert_contiguous<Half, float>(halves(a), values[a], count);
  }
}

template <class How>
void update(const kernels::UpdateList& list, const How& how) {
  visit_floating(list.dtype, "optimizer step", [&]<class T> {
    using Rule = typename How::template Rule<Compute<T>>;
    const Rule rule(how);
    const auto update_all = [&]<unsigned StateMask, bool Master, class S> {
      for (const TensorEntry& entry : list.entries)
        parallel_for(0, entry.count, kGrain, [&](std::int64_t begin, std::int64_t end) {
          if constexpr (!Master && std::is_same_v<T, Half>)
            update_halves<StateMask>(rule, entry, begin, end);
          else
            update_range<StateMask, Master, S, T>(rule, entry, begin, end);
        });
    };
    math::with_state_mask<Rule>(list.state_mask, [&]<unsigned StateMask> {
      if constexpr (math::kHasMaster<Rule> && sizeof(T) == 2)
        if (list.master) return update_all.template operator()<StateMask, true, float>();
      update_all.template operator()<StateMask, false, T>();
    });
  });
}

}  // namespace

void optimizer_step(const kernels::UpdateList& list, const math::Step& step) {
  std::visit([&](const auto& how) { update(list, how); }, step);
}
void store_rule(kernels::RuleBytes* to, Device, const kernels::RuleBytes& rule) { *to = rule; }

}  // namespace ebb::cpu
