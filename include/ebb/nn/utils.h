// Tools for gradients and parameters (torch::nn::utils).
#pragma once

#include <ebb/autograd/variable.h>

#include <vector>

namespace ebb::nn::utils {

/// The joint norm of all elements of the tensors, of order norm_type (0 counts the tensors, as in libtorch):
/// a tensor of no dimensions on the first one's device, Double if one of them is and else Float. The host
/// does not wait for it unless error_if_nonfinite, which throws when it is not finite.
EBB_API Variable get_total_norm(const std::vector<Variable>& tensors, double norm_type = 2.0,
                                bool error_if_nonfinite = false);
/// Multiplies all gradients by max_norm / (total_norm + 1e-6) where that is below 1, or NaN, which marks
/// them. The host does not wait, so that this and get_total_norm can be captured (cuda::Graph).
EBB_API void clip_grads_with_norm_(const std::vector<Variable>& parameters, double max_norm,
                                   const Variable& total_norm);
/// Scales all gradients so that their joint norm is at most max_norm; returns the norm before, for which the
/// host waits once all is queued. With error_if_nonfinite a norm that is not finite throws.
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
