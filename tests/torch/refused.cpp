// Programs that use unsupported features; the defined macro selects one of them.
#ifdef REFUSED_DISPATCHER  // looks up an op by name
#include <ATen/core/dispatch/Dispatcher.h>
#endif

#ifdef REFUSED_EXTENSION  // defines a Python module
#include <torch/extension.h>

torch::Tensor twice(const torch::Tensor& x) { return 2 * x; }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice, "twice x"); }
#endif

#ifdef REFUSED_FFT  // computes an FFT
#include <torch/fft.h>

torch::Tensor spectrum(const torch::Tensor& x) { return torch::fft::rfft(x); }
#endif

#ifdef REFUSED_SCRIPT  // loads a TorchScript program
#include <torch/script.h>

int main() { torch::jit::load("model.pt"); }
#endif
