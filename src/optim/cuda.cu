// CUDA kernels of the optimizers' update rules: one launch updates many parameters.
#include <ebb/core/visit.h>

#include "kernel/cuda/multi_tensor.h"
#include "optim/kernels.h"

namespace ebb::cuda {
namespace {

constexpr int count_bits(unsigned mask) {
  return mask == 0 ? 0 : static_cast<int>(mask & 1u) + count_bits(mask >> 1);
}

/// Applies a rule to one element. `values` contains the parameter, the gradient, the present states and, if
/// `Master` is true, the master copy.
template <class T, class Rule, unsigned StateMask, bool Master>
struct ElementUpdate {
  Rule rule;
  template <class C, int N>
  __device__ void operator()(C (&values)[N]) const {
    C state[math::kMostStates] = {};
    int at = 2;
#pragma unroll
    for (int k = 0; k < math::kMostStates; ++k)
      if ((StateMask >> k) & 1u) state[k] = values[at++];
    if constexpr (Master) values[0] = math::master_of(values[N - 1], static_cast<T>(values[0]));
    values[0] = rule.template update<StateMask>(values[0], values[1], state);
    if constexpr (Master) values[N - 1] = values[0];
    at = 2;
#pragma unroll
    for (int k = 0; k < math::kMostStates; ++k)
      if ((StateMask >> k) & 1u) values[at++] = state[k];
  }
};

template <class T, class Rule, unsigned StateMask, bool Master>
struct Update {
  static constexpr unsigned kWritten = ~2u;  // all arrays except the gradient
  Rule rule;
  const Rule* live;  // if not null, it replaces `rule`
  __device__ ElementUpdate<T, Rule, StateMask, Master> element() const { return {live ? *live : rule}; }
};

template <class T, class S, class Rule, unsigned StateMask, bool Master>
void update_arrays(const kernels::UpdateList& list, const Rule& rule) {
  for_each_in_list<T, 2 + count_bits(StateMask) + Master, S>(
      list, Update<T, Rule, StateMask, Master>{rule, reinterpret_cast<const Rule*>(list.live)});
}

template <class T, class Rule, unsigned StateMask>
void update_masked(const kernels::UpdateList& list, const Rule& rule) {
  if constexpr (math::kHasMaster<Rule> && sizeof(T) == 2)
    if (list.master) return update_arrays<T, float, Rule, StateMask, true>(list, rule);
  update_arrays<T, T, Rule, StateMask, false>(list, rule);
}

template <class How>
void update(const kernels::UpdateList& list, const How& how) {
  visit_floating(list.dtype, "optimizer step", [&]<class T> {
    using R = typename How::template Rule<Compute<T>>;
    math::with_state_mask<R>(list.state_mask,
                             [&]<unsigned StateMask> { update_masked<T, R, StateMask>(list, R(how)); });
  });
}

__global__ void store_kernel(kernels::RuleBytes* to, const __grid_constant__ kernels::RuleBytes rule) {
  *to = rule;
}

}  // namespace

void optimizer_step(const kernels::UpdateList& list, const math::Step& step) {
  std::visit([&](const auto& how) { update(list, how); }, step);
}
void store_rule(kernels::RuleBytes* to, Device device, const kernels::RuleBytes& rule) {
  launch_independent(device, Grid{dim3(1), dim3(1)}, &store_kernel, to, rule);
}

}  // namespace ebb::cuda
