// A user program: a small graph and its gradient. With the argument cuda it runs on a GPU, which must exist.
#include <ebb/ebb.h>

#include <cmath>
#include <cstdio>

int main(int argc, char**) {
  const ebb::Device device = argc > 1 ? ebb::Device::CUDA : ebb::Device::CPU;
  ebb::Tensor x = ebb::tensor({1.0, 2.0, 3.0}, ebb::kFloat64).to(device).requires_grad_();
  ebb::Tensor y = ((x + 2).pow(2) + 3).mean();
  y.backward();
  const double value = y.item<double>(), slope = x.grad()[2].item<double>();
  std::printf("y = %.4f, dy/dx[2] = %.4f on %s\n", value, slope, device.str().c_str());
  return std::abs(value - 59.0 / 3) < 1e-12 && std::abs(slope - 10.0 / 3) < 1e-12 ? 0 : 1;
}
