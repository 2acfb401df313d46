// Streams, events, devices and memory as a program sees them.
#include <ebb/ebb.h>

#include "support/catch.h"

using namespace ebb;
using support::Contains;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

}  // namespace

TEST_CASE("work on two streams with an event between them") {
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

TEST_CASE("streams wait for streams, and events move") {
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
  CHECK(events.back().query());  // nothing was ever recorded
}

TEST_CASE("events measure time when asked to") {
  cuda::Event from(true), to(true), plain;
  from.record();
  const Tensor x = randn({100, 100}, kOnCuda).matmul(randn({100, 100}, kOnCuda));
  to.record();
  CHECK(from.elapsed_time(to) >= 0);
  CHECK_THROWS_WITH(from.elapsed_time(plain), Contains("timing"));
}

TEST_CASE("the current device is where Device::CUDA is", "[two_devices]") {
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

TEST_CASE("freed memory is cached, counted and given back", "[caching]") {
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
  { const Tensor y = zeros({1 << 20}, kOnCuda); }
  CHECK(cuda::memory_stats().cached == cached);
  cuda::empty_cache();
  CHECK(cuda::memory_stats().cached < cached);
}

TEST_CASE("too large a tensor is an error with the figures, and smaller ones still fit", "[caching]") {
  const auto total = static_cast<std::int64_t>(cuda::get_device_properties().total_memory);
  CHECK_THROWS_WITH(empty({total}, kOnCuda.dtype(kDouble)), Contains("out of memory") && Contains("MiB"));
  CHECK(ones({1000}, kOnCuda).sum().item<float>() == 1000);
}
