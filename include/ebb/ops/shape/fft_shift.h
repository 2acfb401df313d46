// Frequencies and shifts of discrete Fourier transforms.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

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
