// snake: an op that ebb does not have, with its own kernels for the CPU and for CUDA.
#pragma once

#include <ebb/autograd/variable.h>

/// x + sin^2(frequency x) / frequency, elementwise: an activation for periodic functions (Ziyin, Hartwig,
/// Ueda 2020, "Neural networks fail to learn periodic functions and how to fix it"). x is Float or Double, on
/// any device. The op is differentiable any number of times. Throws ebb::Error for other dtypes, for a
/// frequency that is not positive, and on a GPU if the program was built without nvcc.
ebb::Tensor snake(const ebb::Tensor& x, double frequency = 1);
