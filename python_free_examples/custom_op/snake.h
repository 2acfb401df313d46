// An op that ebb does not have, with kernels of its own for the CPU and for CUDA.
#pragma once

#include <ebb/autograd/variable.h>

/// x + sin^2(frequency x) / frequency, elementwise: an activation for what is periodic (Ziyin, Hartwig, Ueda
/// 2020, "Neural networks fail to learn periodic functions and how to fix it"). x is Float or Double, on any
/// device; differentiable any number of times. Throws ebb::Error for other dtypes, a frequency that is not
/// positive, and on a GPU if the program was built without nvcc.
ebb::Tensor snake(const ebb::Tensor& x, double frequency = 1);
