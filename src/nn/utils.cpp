#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/utils.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include <cmath>
#include <limits>

namespace ebb::nn::utils {

double clip_grad_norm_(const std::vector<Variable>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  NoGradGuard no_grad;
  std::vector<Variable> grads, norms;
  for (const Variable& parameter : parameters)
    if (parameter.grad().defined()) grads.push_back(parameter.grad().detach());
  if (grads.empty()) return 0;
  double total = static_cast<double>(grads.size());  // the norm of order 0, as in libtorch
  if (norm_type != 0) {
    const bool infinite = norm_type == std::numeric_limits<double>::infinity();
    for (const Variable& grad : grads) norms.push_back(infinite ? grad.abs().max() : grad.norm(norm_type));
    const Variable all = norms.size() == 1 ? norms[0] : stack(norms);
    total = (norms.size() == 1 ? all : infinite ? all.max() : all.norm(norm_type)).item<double>();
  }
  EBB_CHECK(!error_if_nonfinite || std::isfinite(total), "The total norm of order ", norm_type,
            " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error "
            "and scale "
            "the gradients with the non-finite norm anyway, set `error_if_nonfinite=false`");
  const double factor = max_norm / (total + 1e-6);
  // A NaN factor is applied: it marks the gradients.
  if (!(factor >= 1))
    for (Variable& grad : grads) grad.mul_(factor);
  return total;
}

double clip_grad_norm_(Variable parameter, double max_norm, double norm_type, bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Variable>{std::move(parameter)}, max_norm, norm_type,
                         error_if_nonfinite);
}

void clip_grad_value_(const std::vector<Variable>& parameters, double clip_value) {
  NoGradGuard no_grad;
  for (const Variable& parameter : parameters)
    if (parameter.grad().defined()) parameter.grad().detach().clamp_(-clip_value, clip_value);
}

void clip_grad_value_(Variable parameter, double clip_value) {
  clip_grad_value_(std::vector<Variable>{std::move(parameter)}, clip_value);
}

Variable parameters_to_vector(const std::vector<Variable>& parameters) {
  std::vector<Variable> flat;
  for (const Variable& parameter : parameters) flat.push_back(parameter.reshape({-1}));
  return cat(flat);
}

void vector_to_parameters(const Variable& vec, const std::vector<Variable>& parameters) {
  std::int64_t at = 0;
  for (const Variable& parameter : parameters) at += parameter.numel();
  EBB_CHECK(vec.dim() == 1 && vec.numel() >= at, "vector_to_parameters: expected a vector of ", at,
            " elements, got ", vec.sizes(), ".");
  at = 0;
  for (Variable parameter : parameters) {
    const std::int64_t count = parameter.numel();
    parameter.set_data(vec.slice(0, at, at + count).view(parameter.sizes()).detach());
    at += count;
  }
}

}  // namespace ebb::nn::utils
