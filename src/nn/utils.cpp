// nn::utils: clip_grad_norm_, clip_grad_value_, parameters_to_vector and vector_to_parameters.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/utils.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include "ops/elementwise/foreach.h"

#include <cmath>

namespace ebb::nn::utils {

namespace {

std::vector<Variable> gradients_of(const std::vector<Variable>& parameters) {
  std::vector<Variable> grads;
  for (const Variable& parameter : parameters)
    if (parameter.grad().defined()) grads.push_back(parameter.grad().detach());
  return grads;
}

}  // namespace

Variable get_total_norm(const std::vector<Variable>& tensors, double norm_type, bool error_if_nonfinite) {
  NoGradGuard no_grad;
  if (tensors.empty()) return zeros({});
  Variable total;
  if (norm_type == 0) {
    bool wide = false;
    for (const Variable& tensor : tensors) wide = wide || tensor.dtype() == kDouble;
    total = full({}, static_cast<double>(tensors.size()),
                 tensors[0].options().dtype(wide ? kDouble : kFloat).requires_grad(false));
  } else {
    total = foreach::norm(tensors, norm_type);
  }
  EBB_CHECK(!error_if_nonfinite || std::isfinite(total.item<double>()), "The total norm of order ", norm_type,
            " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error "
            "and scale "
            "the gradients with the non-finite norm anyway, set `error_if_nonfinite=false`");
  return total;
}

void clip_grads_with_norm_(const std::vector<Variable>& parameters, double max_norm,
                           const Variable& total_norm) {
  EBB_CHECK(total_norm.defined() && total_norm.numel() == 1 && is_floating(total_norm.dtype()),
            "clip_grads_with_norm_: total_norm must be one floating number, got ", total_norm, ".");
  foreach
    ::scale_to_norm_(gradients_of(parameters), total_norm, max_norm);
}

double clip_grad_norm_(const std::vector<Variable>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  const Variable total = get_total_norm(gradients_of(parameters), norm_type, error_if_nonfinite);
  clip_grads_with_norm_(parameters, max_norm, total);
  return total.item<double>();
}

double clip_grad_norm_(Variable parameter, double max_norm, double norm_type, bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Variable>{std::move(parameter)}, max_norm, norm_type,
                         error_if_nonfinite);
}

void clip_grad_value_(const std::vector<Variable>& parameters, double clip_value) {
  foreach
    ::clamp_(gradients_of(parameters), -clip_value, clip_value);
}

void clip_grad_value_(Variable parameter, double clip_value) {
  clip_grad_value_(std::vector<Variable>{std::move(parameter)}, clip_value);
}

Variable parameters_to_vector(const std::vector<Variable>& parameters) {
  std::vector<Variable> flat;
  flat.reserve(parameters.size());
  for (const Variable& parameter : parameters) flat.push_back(parameter.reshape({-1}));
  return cat(flat);
}

void vector_to_parameters(const Variable& vec, const std::vector<Variable>& parameters) {
  std::int64_t at = 0;
  for (const Variable& parameter : parameters) at += parameter.numel();
  EBB_CHECK(vec.dim() == 1 && vec.numel() >= at, "vector_to_parameters: expected a vector of at least ", at,
            " elements, got ", vec.sizes(), ".");
  at = 0;
  for (const Variable& parameter : parameters) {
    const std::int64_t count = parameter.numel();
    parameter.set_data(vec.slice(0, at, at + count).view(parameter.sizes()).detach());
    at += count;
  }
}

}  // namespace ebb::nn::utils
