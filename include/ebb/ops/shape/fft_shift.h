// fftfreq, rfftfreq, fftshift and ifftshift.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// Returns the frequencies of a discrete Fourier transform of n samples at distance d. They are 0, 1, ...,
/// followed by the negative frequencies, divided by n d. (torch.fft.fftfreq)
EBB_API Variable fft_fftfreq(std::int64_t n, double d = 1, const TensorOptions& options = {});
/// Returns the n / 2 + 1 frequencies that are not negative. (torch.fft.rfftfreq)
EBB_API Variable fft_rfftfreq(std::int64_t n, double d = 1, const TensorOptions& options = {});
/// Rolls by half of each size, so that frequency 0 moves to the middle. Acts along `dim`, or along all
/// dimensions. (torch.fft.fftshift)
EBB_API Variable fft_fftshift(const Variable& self, OptionalIntArrayRef dim = nullopt);
/// Reverses fftshift. (torch.fft.ifftshift)
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
