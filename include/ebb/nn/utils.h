// Tools for gradients and parameters (torch::nn::utils).
#pragma once

#include <ebb/autograd/variable.h>

#include <vector>

namespace ebb::nn::utils {

/// Scales all gradients so that their joint norm is at most max_norm; returns the norm before. With
/// error_if_nonfinite a norm that is not finite throws.
EBB_API double clip_grad_norm_(const std::vector<Variable>& parameters, double max_norm,
                               double norm_type = 2.0, bool error_if_nonfinite = false);
EBB_API double clip_grad_norm_(Variable parameter, double max_norm, double norm_type = 2.0,
                               bool error_if_nonfinite = false);
/// Clamps every gradient's elements to [-clip_value, clip_value].
EBB_API void clip_grad_value_(const std::vector<Variable>& parameters, double clip_value);
EBB_API void clip_grad_value_(Variable parameter, double clip_value);
/// All parameters, flattened, one after the other.
EBB_API Variable parameters_to_vector(const std::vector<Variable>& parameters);
/// Copies slices of the vector into the parameters.
EBB_API void vector_to_parameters(const Variable& vec, const std::vector<Variable>& parameters);

}  // namespace ebb::nn::utils
