// Graphs that share memory, and graphs that are updated in place.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <stdexcept>
#include <thread>

using namespace ebb;
using support::Contains;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

float value(const Tensor& x) { return x.sum().item<float>(); }

std::size_t held() {
  cuda::synchronize();
  const MemoryStats stats = cuda::memory_stats();
  return stats.current + stats.cached;
}

}  // namespace

TEST_CASE("graphs of one pool share memory that was freed in captures", "[caching]") {
  Tensor x = ones({1 << 20}, kOnCuda), a, b;
  const auto work = [&](Tensor& out) { out = ((x * 2) * 3).sum(); };
  cuda::empty_cache();
  const std::size_t before = held();
  cuda::Graph first, second;
  first.capture([&] { work(a); });
  const std::size_t one = held() - before;
  second.capture([&] { work(b); }, first.pool());
  CHECK(held() - before == one);
  CHECK(first.pool() == second.pool());
  {
    cuda::Graph apart;
    Tensor c;
    apart.capture([&] { work(c); });
    CHECK(held() - before > one);
    CHECK_FALSE(apart.pool() == first.pool());
  }
  for (int i = 1; i < 4; ++i) {
    x.fill_(i);
    first.replay();
    second.replay();
    CHECK(value(a) == 6.0f * (1 << 20) * static_cast<float>(i));
    CHECK(value(b) == 6.0f * (1 << 20) * static_cast<float>(i));
  }
  // The memory of the pool stays as long as one of its graphs.
  first.reset();
  x.fill_(1);
  second.replay();
  CHECK(value(b) == 6.0f * (1 << 20));
  second.reset();
  a = b = {};
  cuda::empty_cache();
  CHECK(held() <= before + (std::size_t{2} << 20));
}

TEST_CASE("a live tensor is not overwritten by the next graph of the pool") {
  const cuda::GraphPool pool = cuda::graph_pool_handle();
  const Tensor x = ones({64}, kOnCuda);
  Tensor y, z;
  cuda::Graph first, second;
  first.capture([&] { y = x * 3; }, pool);
  second.capture([&] { z = y * 2; }, pool);  // the result of the first graph stays valid
  first.replay();
  second.replay();
  CHECK(value(y) == 3 * 64);
  CHECK(value(z) == 6 * 64);
}

TEST_CASE("replays of graphs of one pool run in order on any streams") {
  const cuda::GraphPool pool = cuda::graph_pool_handle();
  const Tensor x = ones({1000}, kOnCuda);
  Tensor total = zeros({1000}, kOnCuda);
  cuda::Graph first, second;
  first.capture([&] { total.add_((x * 2) * 3); }, pool);
  second.capture([&] { total.mul_((x * 5) - 3); }, pool);  // with temporaries in the same memory
  const cuda::Stream a = cuda::Stream::from_pool(), b = cuda::Stream::from_pool();
  for (int i = 0; i < 3; ++i) {
    first.replay(a);
    second.replay(b);
  }
  b.synchronize();
  CHECK(value(total) == 84 * 1000);  // ((6 * 2 + 6) * 2 + 6) * 2
}

TEST_CASE("a pool allows one capture at a time and its handle may outlive its graphs") {
  const cuda::GraphPool pool = cuda::graph_pool_handle();
  const Tensor x = ones({8}, kOnCuda);
  Tensor y, z;
  {
    cuda::Graph graph;
    graph.capture(
        [&] {
          std::thread([&] {
            cuda::Graph other;
            CHECK_THROWS_WITH(other.capture([] {}, pool), Contains("another graph is being captured"));
          }).join();
          y = x + 1;
        },
        pool);
    graph.replay();
    CHECK(value(y) == 16);
  }
  cuda::Graph graph;
  CHECK_THROWS_WITH(graph.pool(), Contains("nothing has been captured"));
  CHECK_THROWS_WITH(graph.capture([] { throw std::runtime_error("stop"); }, pool), "stop");
  graph.capture([&] { z = x + 2; }, pool);
  graph.replay();
  CHECK(value(z) == 24);
}

TEST_CASE("a pool can be used by graphs of two devices", "[two_devices]") {
  if (cuda::device_count() < 2) return;
  const cuda::GraphPool pool = cuda::graph_pool_handle();
  const Device second("cuda:1");
  const Tensor x = ones({4}, kOnCuda), y = ones({4}, TensorOptions(second));
  Tensor a, b;
  cuda::Graph here, there(second);
  here.capture([&] { a = x * 2; }, pool);
  there.capture([&] { b = y * 3; }, pool);
  here.replay();
  there.replay();
  CHECK(value(a) == 8);
  CHECK(value(b) == 12);
}

TEST_CASE("Graph::update changes values and addresses in place") {
  const Tensor x = ones({16}, kOnCuda), other = full({16}, 5, kOnCuda);
  Tensor y;
  cuda::Graph graph;
  graph.capture([&] { y = x * 2; });
  graph.replay();
  CHECK(value(y) == 2 * 16);
  const cuda::GraphUpdate done = graph.update([&] { y = other * 7; });
  CHECK(done.in_place);
  CHECK(done.reason.empty());
  graph.replay();
  CHECK(value(y) == 35 * 16);
  CHECK(graph.is_captured());
}

TEST_CASE("Graph::update with different work instantiates a new executable graph and returns the reason") {
  const Tensor x = ones({16}, kOnCuda);
  Tensor y;
  cuda::Graph graph;
  graph.capture([&] { y = x * 2; });
  graph.replay();
  cuda::GraphUpdate done = graph.update([&] { y = (x * 2) + 1; });
  CHECK_FALSE(done.in_place);
  CHECK_THAT(done.reason, Contains("nodes"));
  graph.replay();
  CHECK(value(y) == 3 * 16);
  Tensor z = zeros({16}, kOnCuda);
  graph.update([&] { z.copy_(x); });
  done = graph.update([&] { z.add_(x); });  // a kernel in place of a copy
  CHECK_FALSE(done.in_place);
  CHECK_THAT(done.reason, Contains("another type"));
  graph.replay();
  CHECK(value(z) == 16);
}

TEST_CASE("Graph::update draws random numbers and counts steps like a capture") {
  manual_seed(9);
  Tensor expected[3];
  for (Tensor& draw : expected) draw = rand({10}, kOnCuda);
  manual_seed(9);
  Tensor y;
  cuda::Graph graph;
  graph.capture([&] { y = rand({10}, kOnCuda); });
  graph.replay();
  CHECK(equal(y.cpu(), expected[0].cpu()));
  CHECK(graph.update([&] { y = rand({10}, kOnCuda); }).in_place);
  for (int i = 1; i < 3; ++i) {
    graph.replay();
    CHECK(equal(y.cpu(), expected[i].cpu()));
  }
}

TEST_CASE("a failed Graph::update keeps the old graph") {
  const Tensor x = ones({4}, kOnCuda);
  Tensor y, z;
  cuda::Graph graph, empty;
  CHECK_THROWS_WITH(empty.update([] {}),
                    Contains("cuda::Graph::update") && Contains("nothing has been captured"));
  graph.capture([&] { y = x * 2; });
  CHECK_THROWS_WITH(graph.update([&] {
    z = x * 3;
    throw std::runtime_error("no more");
  }),
                    "no more");
  CHECK_THROWS_WITH(graph.update([&] { x.sum().item(); }), Contains("captured"));
  CHECK_THROWS_WITH(graph.update([&] { graph.replay(); }), Contains("under way"));
  CHECK_THROWS_WITH(graph.update([&] { graph.capture_end(); }), Contains("not capturing"));
  const cuda::Stream side = cuda::Stream::from_pool();
  CHECK_THROWS_WITH(graph.update([&] {
    cuda::Event fork;
    fork.record();
    side.wait(fork);
    const cuda::StreamGuard guard(side);
    x + 1;
  }),
                    Contains("another stream"));
  CHECK(cuda::Stream::current() == cuda::Stream::default_stream());
  graph.replay();
  CHECK(value(y) == 8);
  CHECK_THROWS_WITH(empty.capture([&] { graph.update([] {}); }), Contains("under way"));
}
