// Recurrent layers of 64 units over 50 steps of 10 features, batch 32: forward and backward.
#include "bench.h"

namespace {

template <class Layer>
void train(benchmark::State& state) {
  torch::manual_seed(1);
  Layer layer(10, 64);
  const torch::Tensor input = torch::rand({50, 32, 10});
  bench::measure(state, 1, "ms/step", [&] {
    layer->zero_grad();
    std::get<0>(layer->forward(input)).sum().backward();
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::add("rnn.lstm", train<torch::nn::LSTM>);
  bench::add("rnn.gru", train<torch::nn::GRU>);
  bench::add("rnn.rnn", train<torch::nn::RNN>);
  return bench::run(argc, argv);
}
