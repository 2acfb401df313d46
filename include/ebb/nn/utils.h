// Gradient clipping and parameter vectors (torch::nn::utils).
#pragma once

#include <ebb/autograd/variable.h>

#include <vector>

namespace ebb::nn::utils {

/// Returns the norm of order norm_type over all elements of all tensors (order 0 counts the tensors, as in
/// libtorch). The result has no dimensions and is on the first tensor's device. Its dtype is Double if one of
/// the tensors is Double, and otherwise Float. With error_if_nonfinite the host waits for the result, and
/// throws if it is not finite.
EBB_API Variable get_total_norm(const std::vector<Variable>& tensors, double norm_type = 2.0,
                                bool error_if_nonfinite = false);
/// Multiplies all gradients by max_norm / (total_norm + 1e-6) if this factor is below 1 or NaN. The host does
/// not wait, so this function and get_total_norm can be captured (cuda::Graph).
EBB_API void clip_grads_with_norm_(const std::vector<Variable>& parameters, double max_norm,
                                   const Variable& total_norm);
/// Scales all gradients so that their joint norm is at most max_norm. Returns the norm before scaling. The
/// host waits for it after all work is queued. With error_if_nonfinite throws if the norm is not finite.
EBB_API double clip_grad_norm_(const std::vector<Variable>& parameters, double max_norm,
                               double norm_type = 2.0, bool error_if_nonfinite = false);
EBB_API double clip_grad_norm_(Variable parameter, double max_norm, double norm_type = 2.0,
                               bool error_if_nonfinite = false);
/// Clamps all elements of the gradients to [-clip_value, clip_value].
EBB_API void clip_grad_value_(const std::vector<Variable>& parameters, double clip_value);
EBB_API void clip_grad_value_(Variable parameter, double clip_value);
/// Returns all parameters, flattened and concatenated.
EBB_API Variable parameters_to_vector(const std::vector<Variable>& parameters);
/// Copies slices of the vector into the parameters.
EBB_API void vector_to_parameters(const Variable& vec, const std::vector<Variable>& parameters);

}  // namespace ebb::nn::utils
