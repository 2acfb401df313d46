// What cuDNN computes when several streams or threads ask at once.
#include <ebb/ebb.h>

#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/unit/either_way.h"
#include "support/catch.h"

using namespace ebb;
using testing::Deterministic;
using testing::either_way;

TEST_CASE("batch norms on several streams at once, with and without cuDNN") {
  const Deterministic guard;
  manual_seed(20);
  const Tensor x = randn({16, 32, 12, 12}).contiguous(MemoryFormat::ChannelsLast).to(Device::CUDA),
               seed = randn({16, 32, 12, 12}).contiguous(MemoryFormat::ChannelsLast).to(Device::CUDA);
  either_way([&] {
    const auto gradient = [&](const Tensor& input) {
      Tensor leaf = input.detach().requires_grad_();
      const Tensor out = batch_norm(leaf, {}, {}, {}, {}, true, 0.1, 1e-5);
      return std::pair{out.detach(), autograd::grad({out}, {leaf}, {seed})[0]};
    };
    std::vector<Tensor> inputs;
    std::vector<std::pair<Tensor, Tensor>> expected, got;
    for (int i = 0; i < 4; ++i) {
      inputs.push_back(x * (i + 1) + i);
      expected.push_back(gradient(inputs.back()));
    }
    cuda::synchronize();
    // Nothing that one of them writes may be another's: no scratch, no counter by which blocks wait.
    std::vector<cuda::Stream> streams;
    for (int i = 0; i < 4; ++i) streams.push_back(cuda::Stream::from_pool());
    for (int round = 0; round < 6; ++round)
      for (std::size_t i = 0; i < 4; ++i) {
        const cuda::StreamGuard on(streams[i]);
        if (round == 0) got.emplace_back();
        got[i] = gradient(inputs[i]);
      }
    cuda::synchronize();
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(equal(got[i].first.cpu(), expected[i].first.cpu()));
      CHECK(equal(got[i].second.cpu(), expected[i].second.cpu()));
    }
  });
}

TEST_CASE("threads that need the same plans at once, with and without cuDNN") {
  const Deterministic guard;
  manual_seed(21);
  const Tensor x = randn({4, 8, 11, 9}).contiguous(MemoryFormat::ChannelsLast).to(Device::CUDA),
               w = randn({8, 8, 3, 3}).to(Device::CUDA);
  cuda::synchronize();
  either_way([&] {
    const auto run = [&] {
      Tensor leaf = x.detach().requires_grad_();
      const Tensor out = batch_norm(conv2d(leaf, w, {}, 1, 1), {}, {}, {}, {}, true, 0.1, 1e-5);
      return autograd::grad({(out * out * out).sum()}, {leaf})[0].cpu();
    };
    std::vector<Tensor> got(4);
    std::vector<std::thread> threads;
    for (Tensor& result : got) threads.emplace_back([&] { result = run(); });
    for (std::thread& thread : threads) thread.join();
    const Tensor expected = run();
    for (const Tensor& result : got) CHECK(equal(result, expected));
  });
}

// Other threads read a plan that the first has made, and so do later runs: what it does with NaN must not get
// lost.
TEST_CASE("relu behind convolutions keeps NaN in every thread, with and without cuDNN") {
  manual_seed(22);
  Tensor x = randn({2, 8, 6, 8});
  x.index_put_({1, 2, 3, 4}, std::numeric_limits<double>::quiet_NaN());
  const Tensor w = randn({8, 8, 3, 3}), b = randn({8}), expected = convolution_relu(x, w, b, 1, 1).isnan();
  either_way([&] {
    for (const DType dtype : {kFloat, kHalf, kBFloat16})
      for (const MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
        const auto there = [&](const Tensor& t) { return t.to(dtype).to(Device::CUDA); };
        const Tensor in = there(x).contiguous(format), weight = there(w).contiguous(format), bias = there(b);
        cuda::synchronize();
        for (int i = 0; i < 3; ++i) {
          Tensor got;
          std::thread([&] { got = convolution_relu(in, weight, bias, 1, 1).cpu(); }).join();
          INFO(to_string(dtype) << ", thread " << i);
          CHECK(equal(got.isnan(), expected));
        }
      }
  });
}
