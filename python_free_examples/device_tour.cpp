// A tour of devices: lists the GPUs, moves a tensor to a GPU, computes, and copies the result back, in 1 s.
// Without a GPU it runs on the CPU and shows the error of a CUDA call. The page of --report has the hardware.
#include <ebb/ebb.h>

#include "common/program.h"

#include <iostream>

namespace {

int tour(const example::Settings&) {
  using namespace ebb;

  if (!cuda::is_available()) {
    std::cout << "There is no CUDA device here. The error of a move to one:\n";
    try {
      ones({1}).to(Device::CUDA);
    } catch (const Error& error) {
      std::cout << "  " << error.what() << '\n';
    }
    std::cout << "The rest of the tour runs on the CPU.\n\n";
  }
  for (std::size_t i = 0; i < cuda::device_count(); ++i) {
    const cuda::DeviceProperties p = cuda::get_device_properties(static_cast<std::int64_t>(i));
    std::cout << "cuda:" << i << " is " << p.name << ", compute capability " << p.major << '.' << p.minor
              << ", " << (p.total_memory >> 20) << " MiB, " << p.multi_processor_count
              << " multiprocessors\n";
  }
  const Device device = cuda::is_available() ? Device(Device::CUDA) : Device(Device::CPU);

  // Tensors are created on a device, or moved to one.
  const Variable a = arange(6.0, TensorOptions().dtype(kFloat).device(device)).view({2, 3});
  const Variable b = tensor({1.0f, 10.0f, 100.0f}).to(device);
  std::cout << "Device " << (a * b).device() << "\na * b = " << a * b << '\n';

  // Ops run on the device of their inputs. Inputs on different devices are an error.
  if (device.is_cuda()) {
    try {
      a + ones({3});
    } catch (const Error& error) {
      std::cout << "a + a CPU tensor: " << error.what() << '\n';
    }
  }

  // Gradients pass through the copy, back to the device of the leaf.
  Variable x = tensor({1.0f, 2.0f, 3.0f}).requires_grad_();
  x.to(device).square().sum().cpu().backward();
  std::cout << "x.grad() = " << x.grad() << " on " << x.grad().device() << '\n';

  // Modules move with all of their parameters.
  nn::Linear layer(3, 1);
  layer->to(device);
  std::cout << "a Linear on " << layer->weight.device() << " gives " << layer(a).sizes() << '\n';
  if (device.is_cuda()) {
    const MemoryStats memory = cuda::memory_stats();
    std::cout << "device memory: " << memory.current << " bytes in tensors, peak " << memory.peak << ", "
              << memory.cached << " cached\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return example::Program("Uses a GPU if there is one, and otherwise the CPU.").run(argc, argv, tour);
}
