// Fractional max pooling.
#pragma once

#include <ebb/autograd/variable.h>

#include <tuple>

namespace ebb {

/// The greatest elements of output_size windows of kernel_size, whose places random_samples draws: numbers in
/// [0, 1), (N, C, 2), in self's dtype. self is (N, C, H, W) or (C, H, W), floating; also gives where each
/// element stands in its plane, in int64. kernel + output - 1 may not exceed the input. Differentiable to any
/// order by self. (torch.fractional_max_pool2d; Graham 2014.)
EBB_API std::tuple<Variable, Variable> fractional_max_pool2d(const Variable& self, IntArrayRef kernel_size,
                                                             IntArrayRef output_size,
                                                             const Variable& random_samples);
/// The same over three axes: self (N, C, T, H, W) or (C, T, H, W), random_samples (N, C, 3).
EBB_API std::tuple<Variable, Variable> fractional_max_pool3d(const Variable& self, IntArrayRef kernel_size,
                                                             IntArrayRef output_size,
                                                             const Variable& random_samples);

}  // namespace ebb
