// ebb::foreach: in-place ops on lists of tensors, without recording.
#pragma once

#include <ebb/autograd/variable.h>

#include <vector>

namespace ebb::foreach {

/// Returns the p-norm of all elements of all tensors, as a tensor without dimensions on the device of the
/// first tensor. It is Double if any tensor is Double, otherwise Float. p is not 0, and there is at least one
/// tensor.
Variable norm(const std::vector<Variable>& tensors, double p);
/// Multiplies all elements by max_norm / (norm + 1e-6), if that factor is below 1 or NaN.
void scale_to_norm_(const std::vector<Variable>& tensors, const Variable& norm, double max_norm);
void clamp_(const std::vector<Variable>& tensors, double low, double high);
void zero_(const std::vector<Variable>& tensors);
/// Sets each tensor to tensor + weight (end - tensor). Each end has its tensor's shape, dtype and device.
void lerp_(const std::vector<Variable>& tensors, const std::vector<Variable>& ends, double weight);
/// Multiplies all elements by `inverse_scale`, and sets `found_inf` to 1 if an element was infinite or NaN.
/// `inverse_scale` and `found_inf` are Float tensors without dimensions, on the device of the tensors.
void unscale_(const std::vector<Variable>& tensors, Variable& found_inf, const Variable& inverse_scale);

}  // namespace ebb::foreach
