// Independent work on several streams, by one thread and by several: what two-pass kernels and libraries keep
// for themselves must not be shared between streams.
#include <ebb/ebb.h>

#include <thread>
#include <vector>

#include "support/catch.h"

using namespace ebb;

namespace {

const TensorOptions kOnCuda(Device::CUDA);
constexpr std::size_t kStreams = 6;

// Kernels in two passes with memory in between, sorts, products of matrices, sums in segments.
std::vector<Tensor> work(const Tensor& x) {
  const Tensor rows = x.view({-1, 64});
  Tensor leaf = rows.detach().requires_grad_();
  const Tensor w = ones({64}, kOnCuda), b = zeros({64}, kOnCuda);
  layer_norm(leaf, {64}, w, b).backward(rows * 0.5);
  const Tensor places = (rows.select(1, 0) * 7).to(kLong).remainder(5).abs();
  return {x.sum(),
          rows.sum(0),
          x.cumsum(0),
          std::get<0>(x.sort()),
          rows.var({0}),
          softmax(rows, 1),
          leaf.grad(),
          zeros({5, 64}, kOnCuda).index_add(0, places, rows),
          matmul(rows.t(), rows)};
}

void check_alike(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("result " << i);
    if (i + 1 == got.size())  // a library's, which promises less
      CHECK(allclose(got[i].cpu(), expected[i].cpu(), 1e-4, 1e-3));
    else
      CHECK(equal(got[i].cpu(), expected[i].cpu()));
  }
}

std::vector<Tensor> inputs() {
  std::vector<Tensor> xs;
  xs.reserve(kStreams);
  for (std::size_t s = 0; s < kStreams; ++s) xs.push_back(randn({64 * 96}).to(Device::CUDA));
  cuda::synchronize();
  return xs;
}

}  // namespace

TEST_CASE("one thread's work on many streams does not mix") {
  const std::vector<Tensor> xs = inputs();
  std::vector<std::vector<Tensor>> expected, got(kStreams);
  expected.reserve(kStreams);
  for (const Tensor& x : xs) expected.push_back(work(x));
  cuda::synchronize();
  for (int round = 0; round < 3; ++round) {
    for (std::size_t s = 0; s < kStreams; ++s) {
      const cuda::StreamGuard guard(cuda::Stream::from_pool());
      got[s] = work(xs[s]);
    }
    cuda::synchronize();
    for (std::size_t s = 0; s < kStreams; ++s) check_alike(got[s], expected[s]);
  }
}

TEST_CASE("several threads work on streams of their own") {
  const std::vector<Tensor> xs = inputs();
  std::vector<std::vector<Tensor>> expected, got(kStreams);
  expected.reserve(kStreams);
  for (const Tensor& x : xs) expected.push_back(work(x));
  cuda::synchronize();
  std::vector<std::thread> threads;
  threads.reserve(kStreams);
  for (std::size_t s = 0; s < kStreams; ++s)
    threads.emplace_back([&, s] {
      const cuda::StreamGuard guard(cuda::Stream::from_pool());
      for (int round = 0; round < 3; ++round) got[s] = work(xs[s]);
      cuda::Stream::current().synchronize();
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t s = 0; s < kStreams; ++s) check_alike(got[s], expected[s]);
}
