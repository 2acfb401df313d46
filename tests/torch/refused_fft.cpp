// A program that transforms a signal.
#include <torch/fft.h>

torch::Tensor spectrum(const torch::Tensor& x) { return torch::fft::rfft(x); }
