// Recurrent layers of 64 units over 50 steps of 10 features, batch 32: forward and backward.
#include "bench.h"

namespace {

// Returns the floating-point operations of 50 steps and of all gradients except the gradient of the input.
bench::Work work(double gates) { return bench::flops(50 * 2.0 * 32 * gates * 64 * (3 * 64 + 2 * 10)); }

template <class Layer, int kGates>
void train(benchmark::State& state) {
  torch::manual_seed(1);
  Layer layer(10, 64);
  const torch::Tensor input = torch::rand({50, 32, 10});
  bench::measure(
      state, 1, "ms/step",
      [&] {
        layer->zero_grad();
        std::get<0>(layer->forward(input)).sum().backward();
      },
      work(kGates));
}

}  // namespace

int main(int argc, char** argv) {
  bench::add("rnn.lstm", train<torch::nn::LSTM, 4>);
  bench::add("rnn.gru", train<torch::nn::GRU, 3>);
  bench::add("rnn.rnn", train<torch::nn::RNN, 1>);
  return bench::run(argc, argv);
}
