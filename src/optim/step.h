// The loop that every optimizer's step is.
#pragma once

#include <ebb/autograd/record.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// Calls update(parameter, its array, its gradient's, options) for every parameter that has a gradient; both
/// arrays are contiguous. `bump` counts the write for backward to notice: libtorch's SGD does not.
template <class Options, class Update>
void for_each_gradient(const char* name, std::vector<OptimizerParamGroup>& groups, bool bump,
                       Update&& update) {
  NoGradGuard no_grad;
  for (OptimizerParamGroup& group : groups) {
    auto& options = static_cast<Options&>(group.options());
    for (Variable& parameter : group.params()) {
      if (!parameter.grad().defined()) continue;
      const Variable& grad = parameter.grad();
      EBB_CHECK(grad.sizes() == parameter.sizes() && grad.device() == parameter.device(), name,
                ": a parameter's gradient is ", grad, ", the parameter ", parameter, ". They must agree.");
      const Variable same = grad.dtype() == parameter.dtype() ? grad : grad.to(parameter.dtype());
      const NdArray gradient = same.contiguous().array();
      const bool contiguous = parameter.is_contiguous();
      const Variable work = contiguous ? parameter.detach() : parameter.detach().contiguous();
      NdArray array = work.array();
      update(parameter, array, gradient, options);
      if (!contiguous)
        (bump ? parameter.detach() : parameter.data()).copy_(work);
      else if (bump)
        autograd::bump_version(parameter);
    }
  }
}

/// Zeros in the parameter's shape, contiguous, made when they are first needed.
inline NdArray remembered(Variable& state, const Variable& parameter) {
  if (!state.defined()) state = zeros(parameter.sizes(), parameter.options());
  if (!state.is_contiguous()) state = state.contiguous();
  return state.array();
}

inline void check_option(bool holds, const char* what, double value) {
  EBB_CHECK(holds, "Invalid ", what, ": ", value);
}

/// Named tensors of a state: a step count is a Long tensor of no dimensions.
inline Variable step_tensor(std::int64_t step) { return scalar_tensor(step, TensorOptions(kLong)); }
[[noreturn]] inline void unknown_state(const char* optimizer, const std::string& name) {
  ebb::detail::fail(optimizer, ": the state has an entry '", name, "' that this optimizer does not know.");
}

}  // namespace ebb::optim
