// The access index after each pass, and after random reorderings.
#include "../twins.h"
#include "compile/fuse.h"
#include "compile/record.h"

#include <algorithm>
#include <random>

using namespace twins;
using detail::compile::AccessIndex;
using detail::compile::Tape;

namespace {

/// Records a training step with matmuls before additions, pooling and reductions.
std::unique_ptr<Tape> tape_of_step(nn::Sequential& net, const Tensor& x) {
  detail::compile::Recording recording({x});
  Tensor loss;
  {
    const detail::RecorderScope scope(&recording);
    net->zero_grad();
    const Tensor y = net(x);
    loss = (y * y + y).mean() + net(x * 2).sum();
    loss.backward();
    loss = loss.detach();
  }
  std::unique_ptr<Tape> tape = recording.finish({loss});
  INFO(recording.reason());
  REQUIRE(tape);
  return tape;
}

}  // namespace

TEST_CASE("each pass leaves the access index equal to a new index of the tape") {
  nn::Sequential net(nn::Linear(64, 64), nn::Tanh(), nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 8));
  const Tensor x = randn({600, 64});
  static_cast<void>(tape_of_step(net, x));  // the first step creates the gradients
  const std::unique_ptr<Tape> tape = tape_of_step(net, x);
  const std::size_t calls = tape->calls.size();
  AccessIndex accesses(*tape);
  detail::compile::fuse_matmul_add(*tape, accesses, false);
  CHECK(tape->calls.size() < calls);
  CHECK(accesses == AccessIndex(*tape));
  detail::compile::sink_producers(*tape, accesses);
  CHECK(accesses == AccessIndex(*tape));
  detail::compile::hoist_scalars(*tape, accesses);
  CHECK(accesses == AccessIndex(*tape));
  detail::compile::hoist_reductions(*tape, accesses);
  CHECK(accesses == AccessIndex(*tape));
}

TEST_CASE("the access index of reordered and dropped calls equals a new index of the tape") {
  nn::Sequential net(nn::Linear(8, 8), nn::Tanh(), nn::Linear(8, 2));
  const std::unique_ptr<Tape> tape = tape_of_step(net, randn({4, 8}));
  AccessIndex accesses(*tape);
  std::mt19937 random(7);  // NOLINT: a fixed seed repeats the orders
  while (tape->calls.size() > 1) {
    std::vector<std::size_t> order(tape->calls.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    order.pop_back();
    reorder(*tape, accesses, order);
    REQUIRE(accesses == AccessIndex(*tape));
  }
}
