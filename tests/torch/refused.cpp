// Programs that use what ebb does not have: the macro that is defined chooses one.
#ifdef REFUSED_DISPATCHER  // an op that is looked up by its name
#include <ATen/core/dispatch/Dispatcher.h>
#endif

#ifdef REFUSED_EXTENSION  // a module of Python
#include <torch/extension.h>

torch::Tensor twice(const torch::Tensor& x) { return 2 * x; }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice, "twice x"); }
#endif

#ifdef REFUSED_FFT  // a program that transforms a signal
#include <torch/fft.h>

torch::Tensor spectrum(const torch::Tensor& x) { return torch::fft::rfft(x); }
#endif

#ifdef REFUSED_SCRIPT  // a program of TorchScript
#include <torch/script.h>

int main() { torch::jit::load("model.pt"); }
#endif
