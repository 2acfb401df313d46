// Fits a line with a compiled step, and reads the result through its data pointer.
#include <ebb/ebb.h>

#include <cmath>
#include <cstdio>

int main() {
  ebb::manual_seed(1);
  ebb::nn::Linear line(1, 1);
  ebb::optim::SGD optimizer(line->parameters(), ebb::optim::SGDOptions(0.5).momentum(0.5));
  auto step = ebb::compile([&](ebb::Tensor x, ebb::Tensor y) {
    optimizer.zero_grad();
    ebb::Tensor loss = ebb::mse_loss(line(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  });
  const ebb::Tensor x = ebb::linspace(-1, 1, 64).unsqueeze(1);
  float loss = 1;
  for (int i = 0; i < 200; ++i) loss = step(x, 3 * x + 2).item<float>();
  const float slope = *line->weight.data_ptr<float>(), height = *line->bias.data_ptr<float>();
  std::printf("%.4f x + %.4f, loss %.1e, ebb %s\n", slope, height, loss, ebb::version());
  return std::abs(slope - 3) < 1e-3f && std::abs(height - 2) < 1e-3f && loss < 1e-6f ? 0 : 1;
}
