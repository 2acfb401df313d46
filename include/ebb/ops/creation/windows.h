// Window functions of signal processing.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

// Windows of n = window_length values. A window is symmetric unless `periodic` is true. A periodic window
// consists of the first n values of the symmetric window of n + 1 values, as Fourier transforms need it.
// Floating dtypes only. A window of one value is 1. Throws for negative n.

/// Bartlett's triangle: 1 - |2 i / (n - 1) - 1|. (torch.bartlett_window)
EBB_API Variable bartlett_window(std::int64_t window_length, const TensorOptions& options = {});
EBB_API Variable bartlett_window(std::int64_t window_length, bool periodic,
                                 const TensorOptions& options = {});
/// 0.42 - 0.5 cos(2 pi i / (n - 1)) + 0.08 cos(4 pi i / (n - 1)). (torch.blackman_window)
EBB_API Variable blackman_window(std::int64_t window_length, const TensorOptions& options = {});
EBB_API Variable blackman_window(std::int64_t window_length, bool periodic,
                                 const TensorOptions& options = {});
/// alpha - beta cos(2 pi i / (n - 1)). (torch.hamming_window)
EBB_API Variable hamming_window(std::int64_t window_length, const TensorOptions& options = {});
EBB_API Variable hamming_window(std::int64_t window_length, bool periodic, const TensorOptions& options = {});
EBB_API Variable hamming_window(std::int64_t window_length, bool periodic, double alpha,
                                const TensorOptions& options = {});
EBB_API Variable hamming_window(std::int64_t window_length, bool periodic, double alpha, double beta,
                                const TensorOptions& options = {});
/// sin^2(pi i / (n - 1)). (torch.hann_window)
EBB_API Variable hann_window(std::int64_t window_length, const TensorOptions& options = {});
EBB_API Variable hann_window(std::int64_t window_length, bool periodic, const TensorOptions& options = {});
/// I_0(beta sqrt(1 - (2 i / (n - 1) - 1)^2)) / I_0(beta). (torch.kaiser_window)
EBB_API Variable kaiser_window(std::int64_t window_length, const TensorOptions& options = {});
EBB_API Variable kaiser_window(std::int64_t window_length, bool periodic, const TensorOptions& options = {});
EBB_API Variable kaiser_window(std::int64_t window_length, bool periodic, double beta,
                               const TensorOptions& options = {});

}  // namespace ebb
