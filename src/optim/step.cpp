// Steps of optimizers: checks and memory layouts of a step's tensors, and the conditions under which a
// recorded step is still valid.
#include "optim/step.h"

#include <ebb/ops/creation.h>

#include "optim/replay.h"

#include <algorithm>

namespace ebb::optim {

void check_gradients(const char* name, const std::vector<Variable>& parameters) {
  for (const Variable& parameter : parameters) {
    const Variable& grad = parameter.grad();
    if (!grad.defined()) continue;
    EBB_CHECK(grad.sizes() == parameter.sizes() && grad.device() == parameter.device(), name,
              ": a parameter's gradient is ", grad, ", but the parameter is ", parameter,
              ". They must agree in shape and device.");
  }
}

void check_not_captured(const char* name, const Variable& parameter) {
  EBB_CHECK(parameter.device().is_cpu() || !detail::current_capture(), name,
            ": the state of a parameter of size ", parameter.sizes(),
            " would be allocated in the captured step. Run one step before the capture.");
}

bool laid_out_like(const NdArray& x, const NdArray& parameter) {
  if (parameter.is_contiguous() || !parameter.is_dense()) return x.is_contiguous();
  for (std::size_t d = 0; d < x.sizes().size(); ++d)
    if (x.sizes()[d] != 1 && x.strides()[d] != parameter.strides()[d]) return false;
  return true;
}

Variable in_layout_of(const NdArray& parameter, const Variable& x) {
  if (laid_out_like(x.array(), parameter)) return x;
  if (parameter.is_contiguous() || !parameter.is_dense()) return x.contiguous();
  return empty_strided(parameter.sizes(), parameter.strides(), x.options()).copy_(x);
}

const NdArray& remembered(const char* name, Variable& state, const Variable& parameter, DType dtype) {
  if (!state.defined() || state.dtype() != dtype || !laid_out_like(state.array(), parameter.array())) {
    check_not_captured(name, parameter);
    state = in_layout_of(parameter.array(), state.defined()
                                                ? state.to(dtype)
                                                : zeros(parameter.sizes(), parameter.options().dtype(dtype)));
  }
  return state.array();
}

Optimizer::Replay::Extent::Extent(const Optimizer& optimizer, std::vector<bool> options)
    : parameters_(optimizer.size()), options_(std::move(options)) {
  for (const OptimizerParamGroup& group : optimizer.param_groups_)
    for (const Variable& parameter : group.params())
      if (!parameter.grad().defined()) without_gradient_.push_back(parameter);
}

bool Optimizer::Replay::Extent::holds(const Optimizer& optimizer, const std::vector<bool>& options) const {
  const auto has_none = [](const Variable& parameter) { return !parameter.grad().defined(); };
  return optimizer.size() == parameters_ && options == options_ &&
         std::all_of(without_gradient_.begin(), without_gradient_.end(), has_none);
}

}  // namespace ebb::optim
