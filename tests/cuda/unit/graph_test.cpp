// Captured graphs: results, random numbers and memory.
#include <ebb/ebb.h>

#include "cuda/unit/against_cpu.h"
#include "support/catch.h"
#include "support/compare.h"

using namespace ebb;
using support::Contains;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

using support::same;

// A model, its optimizer and data batches in a fixed order.
struct Training {
  nn::Sequential net;
  std::unique_ptr<optim::SGD> optimizer;
  Tensor input, target;
  std::vector<Tensor> inputs, targets;

  Training(nn::Sequential model, IntArrayRef sample) : net(std::move(model)) {
    net->to(Device::CUDA);
    optimizer = std::make_unique<optim::SGD>(net->parameters(), optim::SGDOptions(0.05).momentum(0.9));
    DimVector shape(sample);
    for (int i = 0; i < 8; ++i) {
      inputs.push_back(randn(shape).to(Device::CUDA));
      targets.push_back(randint(4, {shape[0]}, kLong).to(Device::CUDA));
    }
    input = inputs[0].clone();
    target = targets[0].clone();
  }
  void step() {
    optimizer->zero_grad();
    nn::functional::cross_entropy(net->forward(input), target).backward();
    optimizer->step();
  }
  void feed(int i) {
    input.copy_(inputs[static_cast<std::size_t>(i)]);
    target.copy_(targets[static_cast<std::size_t>(i)]);
  }
  std::vector<Tensor> state() const {
    std::vector<Tensor> out;
    for (const Tensor& p : net->parameters()) out.push_back(p.detach().cpu());
    for (const Tensor& b : net->buffers()) out.push_back(b.cpu());
    return out;
  }
};

nn::Sequential mlp() {
  return nn::Sequential(nn::Linear(6, 16), nn::ReLU(), nn::Dropout(0.4), nn::Linear(16, 12), nn::Tanh(),
                        nn::Dropout(0.2), nn::Linear(12, 4));
}
nn::Sequential cnn() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1)), nn::BatchNorm2d(4), nn::ReLU(),
                        nn::MaxPool2d(2), nn::Flatten(), nn::Linear(36, 4));
}

template <class Model>
std::vector<Tensor> trained(const Model& model, IntArrayRef sample, bool captured) {
  manual_seed(11);
  Training t(model(), sample);
  for (int i = 0; i < 2; ++i) {
    t.feed(i);
    t.step();
  }
  cuda::Graph graph;
  if (captured) graph.capture([&] { t.step(); });
  for (int i = 2; i < 8; ++i) {
    t.feed(i);
    if (captured)
      graph.replay();
    else
      t.step();
  }
  return t.state();
}

// Deterministic mode, because cuDNN's first choice for a weight gradient may be an engine with atomic adds.
template <class Model>
void compare(const Model& model, IntArrayRef sample) {
  const testing::Deterministic guard;
  const std::vector<Tensor> expected = trained(model, sample, false), got = trained(model, sample, true);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("parameter or buffer " << i);
    CHECK(equal(got[i], expected[i]));
  }
}

}  // namespace

TEST_CASE("a captured training step equals an eager step with dropout") {
  SECTION("perceptron") { compare(mlp, {10, 6}); }
  SECTION("convolutions and batch norm") { compare(cnn, {5, 1, 6, 6}); }
}

TEST_CASE("a graph capture computes nothing and each replay computes everything") {
  Tensor x = zeros({4}, kOnCuda), y;
  cuda::Graph graph;
  CHECK_FALSE(graph.is_captured());
  graph.capture([&] {
    x.add_(1);
    y = x * 10;
  });
  CHECK(graph.is_captured());
  CHECK(same(x, zeros({4})));
  for (int i = 1; i <= 3; ++i) {
    graph.replay();
    CHECK(same(x, full({4}, i, kFloat)));
    CHECK(same(y, full({4}, 10 * i, kFloat)));
  }
}

TEST_CASE("capture_begin and capture_end of a graph work like capture") {
  Tensor x = ones({3}, kOnCuda);
  const cuda::Stream before = cuda::Stream::current();
  cuda::Graph graph;
  graph.capture_begin();
  CHECK_FALSE(cuda::Stream::current() == before);
  x.mul_(2);
  graph.capture_end();
  CHECK(cuda::Stream::current() == before);
  graph.replay();
  graph.replay();
  CHECK(same(x, full({3}, 4, kFloat)));
}

TEST_CASE("random numbers of graph replays continue the sequence of eager calls") {
  Generator own(5), again(5);
  const auto draw = [](Generator& g) {
    return std::vector<Tensor>{rand({20}, kOnCuda), randn({7}, g, kOnCuda),
                               dropout(ones({50}, kOnCuda), 0.5, true), randperm(9, kOnCuda),
                               rand({4}, g, kOnCuda)};
  };
  std::vector<std::vector<Tensor>> expected;
  manual_seed(21);
  for (int i = 0; i < 3; ++i) {
    expected.push_back(draw(own));
    rand({3}, kOnCuda);
  }
  manual_seed(21);
  std::vector<Tensor> drawn;
  cuda::Graph graph;
  graph.capture([&] {
    ones({2}, kOnCuda) + 1;  // random ops must not read memory that was used in the capture
    drawn = draw(again);
  });
  for (const auto& wanted : expected) {
    graph.replay();
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(same(drawn[i], wanted[i]));
    rand({3}, kOnCuda);
  }
}

TEST_CASE("memory of a graph is reserved until the graph is destroyed") {
  cuda::empty_cache();
  const MemoryStats before = cuda::memory_stats();
  {
    Tensor x = full({1000}, 2, kOnCuda.dtype(kFloat)), y;
    cuda::Graph graph;
    graph.capture([&] {
      const Tensor t = x * 3;
      y = t + 1;
    });
    std::vector<Tensor> others;
    for (int i = 0; i < 20; ++i) others.push_back(full({1000}, -1, kOnCuda.dtype(kFloat)));
    graph.replay();
    CHECK(same(y, full({1000}, 7, kFloat)));
    for (const Tensor& other : others) CHECK(same(other, full({1000}, -1, kFloat)));
    const Tensor kept = y;
    y.reset();
    others.push_back(full({1000}, -1, kOnCuda.dtype(kFloat)));
    graph.replay();
    CHECK(same(others.back(), full({1000}, -1, kFloat)));
    CHECK(same(kept, full({1000}, 7, kFloat)));
    graph.reset();
    CHECK_FALSE(graph.is_captured());
    CHECK(same(kept, full({1000}, 7, kFloat)));  // a tensor outlives its graph
    graph.capture([&] { y = x * 5; });
    graph.replay();
    CHECK(same(y, full({1000}, 10, kFloat)));
  }
  cuda::empty_cache();
  CHECK(cuda::memory_stats().current == before.current);
  CHECK(cuda::memory_stats().cached == before.cached);
}

TEST_CASE("memory that is freed in a capture is reused in the same capture") {
  const Tensor x = ones({1 << 18}, kOnCuda);
  cuda::empty_cache();
  const std::size_t before = cuda::memory_stats().current + cuda::memory_stats().cached;
  Tensor y;
  cuda::Graph graph;
  graph.capture([&] {
    y = x;
    for (int i = 0; i < 100; ++i) y = y + 1;
  });
  const MemoryStats now = cuda::memory_stats();
  CHECK(now.current + now.cached - before <= (4 << 20));
  graph.replay();
  CHECK(y[5].item<float>() == 101);
}

TEST_CASE("events fork a capture to another stream and join the streams again") {
  Tensor x = ones({100}, kOnCuda), y, z;
  const cuda::Stream side = cuda::Stream::from_pool();
  cuda::Graph graph;
  graph.capture([&] {
    cuda::Event fork, join;
    x.add_(1);
    fork.record();
    side.wait(fork);
    {
      const cuda::StreamGuard guard(side);
      y = x * 10;
      join.record(side);
    }
    z = x * 100;
    cuda::Stream::current().wait(join);
    z = z + y;
  });
  for (int i = 2; i <= 4; ++i) {
    graph.replay();
    CHECK(same(z, full({100}, 110 * i, kFloat)));
  }
}

TEST_CASE("graph replays on several streams run in order") {
  Tensor x = zeros({50}, kOnCuda), noise;
  const cuda::Stream a = cuda::Stream::from_pool(), b = cuda::Stream::from_pool();
  cuda::synchronize();
  cuda::Graph graph;
  graph.capture([&] {
    noise = rand({50}, kOnCuda);
    x.add_(noise);
  });
  manual_seed(2);
  for (int i = 0; i < 3; ++i) {
    graph.replay(a);
    graph.replay(b);
  }
  cuda::synchronize();
  manual_seed(2);
  Tensor expected = zeros({50}, kOnCuda);
  for (int i = 0; i < 6; ++i) expected.add_(rand({50}, kOnCuda));
  CHECK(same(x, expected));
}

TEST_CASE("destroying a graph during its replay does not affect the replay") {
  manual_seed(3);
  const Tensor x = ones({1000}, kOnCuda);
  Tensor drawn;
  const cuda::Stream side = cuda::Stream::from_pool();
  {
    cuda::Graph graph;
    graph.capture([&] { drawn = dropout(x, 0.5, true); });
    const cuda::StreamGuard guard(side);
    graph.replay();
  }
  // Allocates the memory in which the replay would look up its Philox offset, if it were free.
  for (int i = 0; i < 8; ++i) full({16}, 1 << 20, kOnCuda.dtype(kLong));
  cuda::Stream::current().synchronize();
  side.synchronize();
  manual_seed(3);
  CHECK(equal(drawn.cpu(), dropout(x, 0.5, true).cpu()));
}

TEST_CASE("an index out of range in a replay is an error at the next synchronization") {
  const Tensor x = arange(10, kOnCuda);
  Tensor index = tensor({1, 2}, kOnCuda.dtype(kLong)), picked;
  cuda::Graph graph;
  graph.capture([&] { picked = x.index_select(0, index); });
  graph.replay();
  CHECK(same(picked, tensor({1, 2}, kLong)));
  index.fill_(12);
  graph.replay();
  CHECK_THROWS_WITH(cuda::synchronize(), Contains("index_select") && Contains("12"));
  index.fill_(3);
  graph.replay();
  CHECK(same(picked, tensor({3, 3}, kLong)));
}

TEST_CASE("each replay reads the current contents of pinned memory") {
  Tensor staging = zeros({6}, TensorOptions(kFloat).pinned_memory(true)), x = zeros({6}, kOnCuda), y;
  cuda::Graph graph;
  graph.capture([&] {
    x.copy_(staging, true);
    y = x * 2;
  });
  for (int i = 1; i <= 3; ++i) {
    staging.fill_(i);
    graph.replay();
    CHECK(same(y, full({6}, 2 * i, kFloat)));
  }
}

TEST_CASE("each replay starts with the host values that were copied in the capture") {
  const Tensor x = zeros({2}, kCUDA);
  cuda::Graph graph;
  graph.capture([&] {
    const Tensor numbers = tensor({1.0F, 2.0F}, kCUDA);
    x.add_(numbers);
    numbers.mul_(10);  // a copy: the next replay starts with 1 and 2 again
  });
  CHECK(equal(x.cpu(), zeros({2})));
  for (int i = 0; i < 3; ++i) graph.replay();
  CHECK(equal(x.cpu(), tensor({3.0F, 6.0F})));
}
