// A custom op: the snake activation x + sin(ax)^2 / a, with its own kernels and gradient (snake.cpp,
// snake_cuda.cu).
//
// Two networks learn sin(x) between -10 and 10, one with snake and one with ReLU as activation. For x between
// 10 and 16 there are no training data. Expected there: the error with snake is at most a fifth of the error
// with ReLU (a 22nd to a 66th was reached), in 2 s.
#include <ebb/ebb.h>

#include "common/chart.h"
#include "common/interrupt.h"
#include "common/program.h"
#include "snake.h"

#include <cstdio>
#include <functional>
#include <vector>

namespace {

namespace nn = ebb::nn;
using ebb::Tensor;

Tensor fused(const Tensor& x) { return snake(x); }
Tensor composed(const Tensor& x) { return x + ebb::sin(x).square(); }
Tensor relu(const Tensor& x) { return ebb::relu(x); }

// Returns the number of bytes that f(x) allocates for its result and for backward, divided by the bytes of x.
double memory_per_byte(const std::function<Tensor(const Tensor&)>& f, ebb::Device device) {
  const auto allocated = [&] {
    return (device.is_cuda() ? ebb::cuda::memory_stats(device.index()) : ebb::memory_stats()).current;
  };
  const Tensor x = ebb::randn({1 << 20}).to(device).requires_grad_();
  const std::size_t before = allocated();
  const Tensor y = f(x);
  return static_cast<double>(allocated() - before) / static_cast<double>(x.nbytes());
}

nn::Sequential network(const std::function<Tensor(const Tensor&)>& activation) {
  return nn::Sequential(nn::Linear(1, 128), nn::Functional(activation), nn::Linear(128, 1));
}

Tensor truth(const Tensor& x) { return ebb::sin(x); }

// Trains a network on the sine between -10 and 10.
void fit(nn::Sequential& net, std::int64_t steps, ebb::Device device) {
  net->to(device);
  ebb::optim::AdamW optimizer(net->parameters(), ebb::optim::AdamWOptions(2e-3).weight_decay(0.01));
  const Tensor x = ebb::linspace(-10, 10, 256).unsqueeze(1).to(device), y = truth(x);
  for (std::int64_t i = 0; i < steps; ++i) {
    example::stop_if_interrupted();
    optimizer.zero_grad();
    nn::functional::mse_loss(net->forward(x), y).backward();
    optimizer.step();
  }
}

std::vector<double> numbers(const Tensor& x) {
  const Tensor flat = x.detach().cpu().to(ebb::kDouble).flatten();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

int run(const example::Settings& settings, std::int64_t steps) {
  const ebb::Device device = settings.device;
  const Tensor x = ebb::randn({1000}).to(device);
  const double difference = (fused(x) - composed(x)).abs().max().item<double>();
  const double own = memory_per_byte(fused, device), of_ops = memory_per_byte(composed, device);
  std::printf("memory for the result and for backward, per byte of x: %.1f, composed of ebb's ops %.1f\n",
              own, of_ops);

  nn::Sequential with_snake = network(fused), with_relu = network(relu);
  fit(with_snake, steps, device);
  fit(with_relu, steps, device);

  // The interval beyond the training data.
  const Tensor beyond = ebb::linspace(10, 16, 61).unsqueeze(1).to(device);
  const auto error = [&](nn::Sequential& net) {
    return nn::functional::mse_loss(net->forward(beyond), truth(beyond)).item<double>();
  };
  const double by_snake = error(with_snake), by_relu = error(with_relu);
  std::printf("mean squared error beyond the data: %.4f with snake, %.4f with ReLU\n", by_snake, by_relu);
  const Tensor all = ebb::linspace(-16, 16, 321).unsqueeze(1).to(device);
  example::Chart("Learnt between -10 and 10", "x", "y")
      .line("sin x", numbers(all), numbers(truth(all)))
      .line("with snake", numbers(all), numbers(with_snake->forward(all)))
      .line("with ReLU", numbers(all), numbers(with_relu->forward(all)))
      .write(settings.path("custom_op.svg"));

  return example::at_most("largest difference from the formula in ebb's ops", difference, 1e-5) |
         example::at_least("error beyond the data, ReLU / snake", by_relu / by_snake, 5);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program("Adds an op with kernels for the CPU and for CUDA, and trains a network with it.");
  std::int64_t steps = 3000;
  program.option("--steps", steps, "number of optimizer steps");
  return program.run(argc, argv, [&](const example::Settings& settings) { return run(settings, steps); });
}
