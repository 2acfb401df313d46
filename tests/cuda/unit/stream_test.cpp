// Streams, events, devices and memory, and independent work on several streams.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <thread>
#include <vector>

using namespace ebb;
using support::Contains;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

}  // namespace

TEST_CASE("an event orders work on two streams") {
  const cuda::Stream side = cuda::Stream::from_pool();
  CHECK_FALSE(side == cuda::Stream::default_stream());
  const Tensor x = ones({1000}, kOnCuda);
  cuda::Event ready;
  CHECK(ready.query());
  ready.record();
  Tensor y;
  {
    const cuda::StreamGuard guard(side);
    CHECK(cuda::Stream::current() == side);
    side.wait(ready);
    y = (x * 3).sum();
    ready.record();
  }
  CHECK(cuda::Stream::current() == cuda::Stream::default_stream());
  cuda::Stream::current().wait(ready);
  CHECK(y.item<float>() == 3000);
  side.synchronize();
  CHECK(side.query());
}

TEST_CASE("Stream::wait orders two streams and Event is movable") {
  const cuda::Stream side = cuda::Stream::from_pool(), home = cuda::Stream::current();
  const Tensor x = ones({1000}, kOnCuda);
  side.wait(home);
  Tensor y;
  {
    const cuda::StreamGuard guard(side);
    y = (x * 3).sum();
  }
  home.wait(side);
  CHECK(y.item<float>() == 3000);
  std::vector<cuda::Event> events;
  for (int i = 0; i < 3; ++i) {
    events.emplace_back();
    events.back().record(side);
    events.back().block(home);
  }
  cuda::Event last = std::move(events.back());
  last.synchronize();
  CHECK(last.query());
  CHECK(events.back().query());  // nothing was recorded
}

TEST_CASE("events created for timing measure elapsed time") {
  cuda::Event from(true), to(true), plain;
  from.record();
  const Tensor x = randn({100, 100}, kOnCuda).matmul(randn({100, 100}, kOnCuda));
  to.record();
  CHECK(from.elapsed_time(to) >= 0);
  CHECK_THROWS_WITH(from.elapsed_time(plain), Contains("timing"));
}

TEST_CASE("Device::CUDA refers to the current device", "[two_devices]") {
  CHECK(cuda::current_device() == 0);
  const cuda::DeviceProperties p = cuda::get_device_properties();
  CHECK_FALSE(p.name.empty());
  CHECK(p.total_memory > 0);
  CHECK(p.multi_processor_count > 0);
  CHECK_THROWS_WITH(cuda::set_device(99), Contains("99"));
  if (cuda::device_count() < 2) return;
  {
    const cuda::DeviceGuard guard(Device("cuda:1"));
    CHECK(ones({1}, kOnCuda).device() == Device("cuda:1"));
    CHECK(cuda::Stream::current().device() == Device("cuda:1"));
  }
  CHECK(ones({1}, kOnCuda).device() == Device("cuda:0"));
}

TEST_CASE("freed memory is cached and counted and empty_cache returns it", "[caching]") {
  cuda::empty_cache();
  const std::size_t before = cuda::memory_stats().current;
  cuda::reset_peak();
  {
    const Tensor x = zeros({1 << 20}, kOnCuda);
    CHECK(cuda::memory_stats().current == before + (4 << 20));
  }
  CHECK(cuda::memory_stats().current == before);
  CHECK(cuda::memory_stats().peak == before + (4 << 20));
  CHECK(cuda::memory_stats().cached >= (4 << 20));
  const std::size_t cached = cuda::memory_stats().cached;
  {
    const Tensor y = zeros({1 << 20}, kOnCuda);
  }
  CHECK(cuda::memory_stats().cached == cached);
  cuda::empty_cache();
  CHECK(cuda::memory_stats().cached < cached);
}

TEST_CASE(
    "allocating a tensor that does not fit on the device throws with sizes, and smaller tensors still fit",
    "[caching]") {
  const auto total = static_cast<std::int64_t>(cuda::get_device_properties().total_memory);
  CHECK_THROWS_WITH(empty({total}, kOnCuda.dtype(kDouble)), Contains("out of memory") && Contains("MiB"));
  CHECK(ones({1000}, kOnCuda).sum().item<float>() == 1000);
}

// Independent work on several streams, from one thread and from several: internal memory of two-pass kernels
// and libraries must not be shared between streams.

namespace {

constexpr std::size_t kStreams = 6;

// Two-pass kernels with temporary memory, sorts, matrix products, segmented sums.
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
    if (i + 1 == got.size())  // the result of a library, which guarantees less
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

TEST_CASE("work of one thread on many streams stays separate") {
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

TEST_CASE("threads work concurrently on separate streams") {
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
