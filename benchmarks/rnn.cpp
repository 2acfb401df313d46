// Recurrent layers of all three kinds at five sizes: forward and backward.
#include "bench.h"

namespace {

struct Size {
  int64_t batch, steps, features, units;
};

const Size kSizes[] = {
    {32, 50, 10, 64}, {1, 100, 64, 128}, {128, 20, 32, 32}, {64, 30, 128, 256}, {8, 20, 512, 512}};

// Returns the floating-point operations of all steps and of all gradients except the gradient of the input.
bench::Work work(const Size& size, double gates) {
  const double units = static_cast<double>(size.units), features = static_cast<double>(size.features);
  return bench::flops(2.0 * static_cast<double>(size.steps * size.batch) * gates * units *
                      (3 * units + 2 * features));
}

template <class Layer>
void train(benchmark::State& state, const Size& size, double gates) {
  torch::manual_seed(1);
  Layer layer(size.features, size.units);
  const torch::Tensor input = torch::rand({size.steps, size.batch, size.features});
  bench::measure(
      state, 1, "ms/step",
      [&] {
        layer->zero_grad();
        std::get<0>(layer->forward(input)).sum().backward();
      },
      work(size, gates));
}

template <class Layer>
void add(const std::string& name, double gates) {
  for (const Size& size : kSizes) {
    const std::string suffix = std::to_string(size.units) + "." + std::to_string(size.batch) + "x" +
                               std::to_string(size.steps) + "x" + std::to_string(size.features);
    bench::add("rnn." + name + "." + suffix,
               [=](benchmark::State& state) { train<Layer>(state, size, gates); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  add<torch::nn::LSTM>("lstm", 4);
  add<torch::nn::GRU>("gru", 3);
  add<torch::nn::RNN>("rnn", 1);
  return bench::run(argc, argv);
}
