// Helpers for tests of DistributedDataParallel: inputs of each rank, and gradients of one process.
#pragma once

#include "ranks.h"
#include "support/catch.h"

#include <functional>
#include <string>
#include <vector>

namespace ddp {

using ebb::Tensor;
using namespace ebb::distributed;

/// Returns random numbers that depend on rank and step alone.
inline Tensor input_of(int r, int step = 0, std::vector<std::int64_t> sizes = {4, 6}) {
  ebb::manual_seed(1000 * step + r + 1);
  return ebb::rand(sizes, ebb::kDouble) + 0.1 * r;
}

/// Returns the message of the error that `body` throws.
inline std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const ebb::Error& error) {
    return error.what();
  }
  return "no error";
}

/// Two linear maps in double precision, with parameters of the rank: the constructor of
/// DistributedDataParallel makes them equal.
inline ebb::nn::Sequential new_net() {
  ebb::manual_seed(77 + rank());
  ebb::nn::Sequential net(ebb::nn::Linear(6, 5), ebb::nn::Tanh(), ebb::nn::Linear(5, 3));
  net->to(ebb::kDouble);
  return net;
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
