// Helpers for tests of DistributedDataParallel: inputs of each rank, and gradients of one process.
#pragma once

#include "ranks.h"
#include "support/catch.h"

#include <functional>
#include <string>
#include <vector>

namespace ddp {

using ebb::Tensor;
using ranks::error_of;
using namespace ebb::distributed;

/// Returns random numbers that depend on rank and step alone.
inline Tensor input_of(int r, int step = 0, std::vector<std::int64_t> sizes = {4, 6}) {
  ebb::manual_seed(1000 * step + r + 1);
  return ebb::rand(sizes, ebb::kDouble) + 0.1 * r;
}

/// Two linear maps in double precision, with parameters of the rank: the constructor of
/// DistributedDataParallel makes them equal.
inline ebb::nn::Sequential new_net() {
  ebb::manual_seed(77 + rank());
  ebb::nn::Sequential net(ebb::nn::Linear(6, 5), ebb::nn::Tanh(), ebb::nn::Linear(5, 3));
  net->to(ebb::kDouble);
  return net;
}

/// A net whose call chooses the layers that it uses.
struct Choice : ebb::nn::Cloneable<Choice> {
  Choice() { reset(); }
  void reset() override {
    ebb::manual_seed(7 + (is_initialized() ? rank() : 0));
    for (int i = 0; i < 4; ++i) {
      layers[i] = ebb::nn::Linear(6, 6);
      layers[i]->to(ebb::kDouble);
      register_module("layer" + std::to_string(i), layers[i]);
    }
  }
  Tensor forward(Tensor x, const std::vector<int>& used = {0, 1, 2, 3}) {
    for (const int i : used) x = layers[i](x).tanh();
    return x;
  }
  ebb::nn::Linear layers[4] = {nullptr, nullptr, nullptr, nullptr};
};
using ChoiceHolder = ebb::nn::ModuleHolder<Choice>;

/// Returns options with which nearly every parameter has a bucket of its own.
inline DistributedDataParallelOptions small() { return DistributedDataParallelOptions().bucket_cap_mb(1e-4); }

/// Returns the FNV-1a hash of all bits of a net.
inline std::string hash_of(const ebb::nn::Module& net) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto& item : net.state_dict()) {
    const Tensor value = item.value().contiguous();
    const auto* const bytes = static_cast<const unsigned char*>(value.data_ptr());
    for (std::size_t i = 0; i < value.nbytes(); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
  }
  return std::to_string(hash);
}

/// Returns a variable of the environment, or another value without it.
inline std::string value_of(const char* variable, const char* missing = "") {
  const char* const value = std::getenv(variable);
  return value ? value : missing;
}

/// Returns the averages over all ranks of the gradients of `loss(net, rank)`, computed in this process alone
/// with a copy of the net. A gradient that no rank computes is undefined.
template <class Net, class Loss>
std::vector<Tensor> expected_gradients(Net& net, const Loss& loss) {
  auto copy = std::dynamic_pointer_cast<typename Net::ContainedType>(net->clone());
  copy->zero_grad(true);
  for (int r = 0; r < world_size(); ++r) (loss(*copy, r) / double(world_size())).backward();
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : copy->parameters()) gradients.push_back(parameter.grad());
  return gradients;
}

/// Checks gradients of a net.
template <class Module>
void check_gradients(const Module& net, const std::vector<Tensor>& expected) {
  const std::vector<Tensor> parameters = net.parameters();
  REQUIRE(parameters.size() == expected.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    INFO("parameter " << i << " of rank " << rank());
    REQUIRE(parameters[i].grad().defined() == expected[i].defined());
    if (expected[i].defined()) CHECK(ebb::allclose(parameters[i].grad(), expected[i]));
  }
}

/// Checks that all ranks have the same bits.
inline void check_equal_on_ranks(const std::vector<Tensor>& tensors) {
  for (const Tensor& each : tensors) {
    Tensor first = each.detach().clone();
    broadcast(first, 0);
    CHECK(ebb::equal(first, each));
  }
}

/// Runs the hidden cases with this tag in so many processes.
inline void expect_success(const std::string& tag, int count, const std::string& variables = "") {
  if (!ranks::can_run()) return;
  const ranks::Outcome outcome = ranks::run(count, tag, variables);
  INFO(count << " ranks:\n" << outcome.output);
  CHECK_THAT(outcome.output, support::Contains("All tests passed"));
  CHECK_THAT(outcome.output, !support::Contains("FAILED"));
  CHECK(outcome.status == 0);
}

}  // namespace ddp
