// Recurrent layers and packed sequences on CUDA: what the CPU gives, in a captured graph too.
#include <ebb/ebb.h>

#include "support/catch.h"

using namespace ebb;
namespace utils = ebb::nn::utils::rnn;

namespace {

bool close(const Variable& on_device, const Variable& expected) {
  return on_device.device().is_cuda() && allclose(on_device.to(kCPU), expected, 1e-4, 1e-5);
}

template <class Layer>
void compare(Layer here) {
  Layer there(std::dynamic_pointer_cast<typename Layer::ContainedType>(here->clone(Device(kCUDA))));
  const Variable input = rand({5, 3, 2}), lengths = tensor({2, 5, 3}, kLong);
  const auto packed = utils::pack_padded_sequence(input, lengths, false, false);
  const auto moved = packed.cuda();
  CHECK(moved.is_cuda());
  CHECK(moved.batch_sizes().device().is_cpu());
  CHECK(moved.unsorted_indices().device().is_cuda());
  const auto expected = utils::pad_packed_sequence(std::get<0>(here->forward_with_packed_input(packed)));
  const auto got = utils::pad_packed_sequence(std::get<0>(there->forward_with_packed_input(moved)));
  CHECK(close(std::get<0>(got), std::get<0>(expected)));
  CHECK(equal(std::get<1>(got), lengths));
  std::get<0>(expected).sum().backward();
  std::get<0>(got).sum().backward();
  const auto mine = here->parameters(), theirs = there->parameters();
  for (std::size_t i = 0; i < mine.size(); ++i) CHECK(close(theirs[i].grad(), mine[i].grad()));

  const Variable static_input = input.to(kCUDA);
  Variable result;
  cuda::Graph graph;
  NoGradGuard no_grad;
  graph.capture([&] { result = std::get<0>(there->forward(static_input)); });
  static_input.copy_(rand({5, 3, 2}).to(kCUDA));
  graph.replay();
  CHECK(close(result, std::get<0>(here->forward(static_input.to(kCPU)))));
}

}  // namespace

TEST_CASE("recurrent layers give on CUDA what they give on the CPU") {
  manual_seed(2);
  compare(nn::LSTM(nn::LSTMOptions(2, 3).num_layers(2).bidirectional(true).proj_size(2)));
  compare(nn::GRU(nn::GRUOptions(2, 3).num_layers(2).bidirectional(true)));
  compare(nn::RNN(nn::RNNOptions(2, 3).nonlinearity(kReLU)));
}
