// One simple thing done to many tensors at once, in place; nothing is recorded.
#pragma once

#include <ebb/autograd/variable.h>

#include <vector>

namespace ebb::foreach {

/// The p-norm of all elements of all tensors, as a tensor of no dimensions on the first one's device: Double
/// if any tensor is, else Float. p is not 0, and there is at least one tensor.
Variable norm(const std::vector<Variable>& tensors, double p);
/// Multiplies all elements by max_norm / (norm + 1e-6) where that is below 1 or NaN.
void scale_to_norm_(const std::vector<Variable>& tensors, const Variable& norm, double max_norm);
void clamp_(const std::vector<Variable>& tensors, double low, double high);
void zero_(const std::vector<Variable>& tensors);
/// tensor + weight (end - tensor) of each; its end has its shape, dtype and device.
void lerp_(const std::vector<Variable>& tensors, const std::vector<Variable>& ends, double weight);
/// Multiplies all elements by `inverse_scale`. The tensors are on the device of the two numbers, which are
/// Floats of no dimensions; `found_inf` becomes 1 where an element was infinite or NaN.
void unscale_(const std::vector<Variable>& tensors, Variable& found_inf, const Variable& inverse_scale);

}  // namespace ebb::foreach
