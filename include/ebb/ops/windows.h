// Windows, and the places and shifts of discrete Fourier transforms.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

// Windows of n values, symmetric about their middle, or if periodic the first n of n + 1, as Fourier
// transforms want them. Floating dtypes only; a window of one value is 1. Throws for negative n.

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

/// The frequencies of a transform of n samples d apart: 0, 1, ..., then the negative ones, over n d.
/// (torch.fft.fftfreq)
EBB_API Variable fft_fftfreq(std::int64_t n, double d = 1, const TensorOptions& options = {});
/// Those that are not negative, n / 2 + 1. (torch.fft.rfftfreq)
EBB_API Variable fft_rfftfreq(std::int64_t n, double d = 1, const TensorOptions& options = {});
/// Rolled by half of each size, so that the frequency 0 comes to the middle; of all dimensions or some.
/// (torch.fft.fftshift)
EBB_API Variable fft_fftshift(const Variable& self, OptionalIntArrayRef dim = nullopt);
/// Back. (torch.fft.ifftshift)
EBB_API Variable fft_ifftshift(const Variable& self, OptionalIntArrayRef dim = nullopt);

namespace fft {
inline Variable fftfreq(std::int64_t n, double d, const TensorOptions& options = {}) {
  return fft_fftfreq(n, d, options);
}
inline Variable fftfreq(std::int64_t n, const TensorOptions& options = {}) {
  return fft_fftfreq(n, 1, options);
}
inline Variable rfftfreq(std::int64_t n, double d, const TensorOptions& options = {}) {
  return fft_rfftfreq(n, d, options);
}
inline Variable rfftfreq(std::int64_t n, const TensorOptions& options = {}) {
  return fft_rfftfreq(n, 1, options);
}
inline Variable fftshift(const Variable& self, OptionalIntArrayRef dim = nullopt) {
  return fft_fftshift(self, dim);
}
inline Variable ifftshift(const Variable& self, OptionalIntArrayRef dim = nullopt) {
  return fft_ifftshift(self, dim);
}
}  // namespace fft

}  // namespace ebb
