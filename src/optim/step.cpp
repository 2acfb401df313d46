#include "optim/step.h"

namespace ebb::optim {

void check_gradients(const char* name, const std::vector<Variable>& parameters) {
  for (const Variable& parameter : parameters) {
    const Variable& grad = parameter.grad();
    if (!grad.defined()) continue;
    EBB_CHECK(grad.sizes() == parameter.sizes() && grad.device() == parameter.device(), name,
              ": a parameter's gradient is ", grad, ", the parameter ", parameter, ". They must agree.");
  }
}

void check_not_captured(const char* name, const Variable& parameter) {
  EBB_CHECK(parameter.device().is_cpu() || !detail::current_capture(), name,
            ": the state of a parameter of size ", parameter.sizes(),
            " would be made in the step that is being captured. Take one step before the capture.");
}

const NdArray& remembered(const char* name, Variable& state, const Variable& parameter) {
  if (!state.defined() || !state.is_contiguous()) {
    check_not_captured(name, parameter);
    state = state.defined() ? state.contiguous() : zeros(parameter.sizes(), parameter.options());
  }
  return state.array();
}

}  // namespace ebb::optim
