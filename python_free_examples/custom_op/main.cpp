// A custom op: the snake activation x + sin(ax)^2 / a, with its own kernels and gradient (snake.cpp,
// snake_cuda.cu).
//
// Two networks learn sin(x) between -10 and 10, one with snake and one with ReLU as activation. For x between
// 10 and 16 there are no training data. Expected there: the error with snake is at most a fifth of the error
// with ReLU (a 22nd to a 66th was reached), in 2 s.
#include <ebb/watch.h>

#include "common/output.h"
#include "common/program.h"
#include "snake.h"

#include <cstdio>
#include <functional>
#include <vector>

namespace {

namespace nn = ebb::nn;
using ebb::Tensor;
using example::numbers;

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
void fit(const std::string& name, nn::Sequential& net, std::int64_t steps,
         const example::Settings& settings) {
  net->to(settings.device);
  ebb::optim::AdamW optimizer(net->parameters(), ebb::optim::AdamWOptions(2e-3).weight_decay(0.01));
  const Tensor x = ebb::linspace(-10, 10, 256).unsqueeze(1).to(settings.device), y = truth(x);
  ebb::watch::Progress bar(name, {steps});
  for (std::int64_t i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    const Tensor loss = nn::functional::mse_loss(net->forward(x), y);
    loss.backward();
    optimizer.step();
    settings.report().add_scalar("loss with " + name, loss);
    bar.set("loss", loss).advance();
  }
}

int run(const example::Settings& settings, std::int64_t steps) {
  const ebb::Device device = settings.device;
  const Tensor x = ebb::randn({1000}).to(device);
  const double difference = (fused(x) - composed(x)).abs().max().item<double>();
  const double own = memory_per_byte(fused, device), of_ops = memory_per_byte(composed, device);
  std::printf("memory for the result and for backward, per byte of x: %.1f, composed of ebb's ops %.1f\n",
              own, of_ops);

  nn::Sequential with_snake = network(fused), with_relu = network(relu);
  fit("snake", with_snake, steps, settings);
  fit("ReLU", with_relu, steps, settings);

  // The interval beyond the training data.
  const Tensor beyond = ebb::linspace(10, 16, 61).unsqueeze(1).to(device);
  const auto error = [&](nn::Sequential& net) {
    return nn::functional::mse_loss(net->forward(beyond), truth(beyond)).item<double>();
  };
  const double by_snake = error(with_snake), by_relu = error(with_relu);
  std::printf("mean squared error beyond the data: %.4f with snake, %.4f with ReLU\n", by_snake, by_relu);
  const Tensor all = ebb::linspace(-16, 16, 321).unsqueeze(1).to(device);
  settings.draw("custom_op.svg", ebb::watch::Figure("Learnt between -10 and 10", "x", "y")
                                     .line("sin x", numbers(all), numbers(truth(all)))
                                     .line("with snake", numbers(all), numbers(with_snake->forward(all)))
                                     .line("with ReLU", numbers(all), numbers(with_relu->forward(all))));

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
