// Invalid uses of captured graphs: each is an error, after which everything works as before.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

using namespace ebb;
using support::Contains;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

// A capture and a replay that must succeed.
void check_usable() {
  CHECK(cuda::Stream::current() == cuda::Stream::default_stream());
  Tensor x = ones({8}, kOnCuda);
  cuda::Graph graph;
  graph.capture([&] { x.add_(1); });
  graph.replay();
  CHECK(x.sum().item<float>() == 16);
}

// Checks that capturing the step throws an error with all of these texts.
template <class Step>
void check_refused(const Step& step, std::initializer_list<const char*> said) {
  cuda::Graph graph;
  std::string message;
  try {
    graph.capture([&] { step(); });
  } catch (const Error& error) {
    message = error.what();
  }
  for (const char* piece : said) CHECK_THAT(message, Contains(piece));
  CHECK_FALSE(graph.is_captured());
  check_usable();
}

}  // namespace

TEST_CASE("host reads and synchronization throw in a capture") {
  const Tensor x = ones({4}, kOnCuda), on_cpu = ones({4});
  const std::initializer_list<const char*> refused = {"cuda::Graph", "captured"};
  check_refused([&] { (x + 1).sum().item(); }, refused);
  check_refused([&] { (x + 1).cpu(); }, refused);
  check_refused([&] { cuda::synchronize(); }, refused);
  check_refused([&] { cuda::Stream::current().synchronize(); }, refused);
  check_refused([&] { cuda::Stream::current().query(); }, refused);
  check_refused([&] { (x > 0).nonzero(); }, refused);
  check_refused([&] { cuda::empty_cache(); }, refused);
  check_refused([&] { x + on_cpu.to(Device::CUDA); }, {"cuda::Graph", "captured", "pinned"});
  check_refused(
      [&] {
        std::ostringstream out;
        out << x + 1;
      },
      refused);
  check_refused(
      [&] {
        cuda::Event event;
        event.record();
        event.synchronize();
      },
      refused);
}

TEST_CASE("an exception ends the capture and reaches the caller") {
  const Tensor x = ones({4}, kOnCuda);
  cuda::Graph graph;
  const auto fails = [&] {
    Tensor y = x * 2;
    throw std::runtime_error("no more data");
  };
  CHECK_THROWS_WITH(graph.capture(fails), "no more data");
  CHECK_THROWS_WITH(graph.replay(), Contains("nothing has been captured"));
  Tensor y;
  graph.capture([&] { y = x * 2; });
  graph.replay();
  CHECK(y.sum().item<float>() == 8);
  check_usable();
}

TEST_CASE("destroying a graph ends its capture") {
  const Tensor x = ones({4}, kOnCuda);
  {
    cuda::Graph graph;
    graph.capture_begin();
    const Tensor y = x + 1;
  }
  check_usable();
}

TEST_CASE("functions of a graph throw if they are called in the wrong order") {
  const Tensor x = ones({4}, kOnCuda);
  Tensor y;
  cuda::Graph graph, other;
  CHECK_THROWS_WITH(graph.replay(), Contains("nothing has been captured"));
  CHECK_THROWS_WITH(graph.capture_end(), Contains("capture_begin"));
  CHECK_THROWS_WITH(graph.capture([&] { other.capture_begin(); }), Contains("already"));
  graph.capture([&] { y = x + 1; });
  CHECK_THROWS_WITH(graph.capture([&] { y = x + 1; }), Contains("reset"));
  CHECK_THROWS_WITH(other.capture([&] { graph.replay(); }), Contains("under way"));
  graph.replay();
  CHECK(y.sum().item<float>() == 8);
  graph.reset();
  CHECK_THROWS_WITH(graph.replay(), Contains("nothing has been captured"));
  cuda::Graph moved = std::move(graph);
  CHECK_THROWS_WITH(graph.replay(), Contains("moved"));
  CHECK_THROWS_WITH(moved.capture([&] { moved.reset(); }), Contains("being captured"));
  check_usable();
}

TEST_CASE("work that a capture cannot record is refused", "[two_devices]") {
  const Tensor x = ones({4}, kOnCuda);
  const cuda::Stream side = cuda::Stream::from_pool();
  check_refused(
      [&] {
        const cuda::StreamGuard guard(cuda::Stream::default_stream());
        x + 1;
      },
      {"default stream", "takes no part in the capture"});
  check_refused(
      [&] {
        const cuda::StreamGuard guard(side);
        x + 1;
      },
      {"takes no part in the capture"});
  check_refused(
      [&] {
        cuda::Event fork;
        fork.record();
        side.wait(fork);
        const cuda::StreamGuard guard(side);
        x + 1;
      },
      {"another stream", "event"});
  const Tensor w = ones({4}, kOnCuda).requires_grad_(), before = (w * x).sum();
  check_refused([&] { before.backward(); }, {"outside of the capture", "Capture both"});
  if (cuda::device_count() < 2) return;
  const Tensor y = ones({4}, TensorOptions(Device("cuda:1")));
  check_refused([&] { y + 1; }, {"cuda:1", "takes no part"});
  check_refused([&] { x.to(Device("cuda:1")); }, {"cuda:1", "takes no part"});
  cuda::Graph graph;
  Tensor z = zeros({4}, kOnCuda);
  graph.capture([&] { z.copy_(x); });
  CHECK_THROWS_WITH(graph.replay(cuda::Stream::default_stream(Device("cuda:1"))),
                    Contains("cuda:0") && Contains("cuda:1"));
}

TEST_CASE("a graph of a second device is captured and replayed on that device", "[two_devices]") {
  if (cuda::device_count() < 2) return;
  const Device second("cuda:1");
  const Tensor x = ones({4}, TensorOptions(second));
  Tensor y;
  cuda::Graph graph(second);
  CHECK(graph.device() == second);
  graph.capture([&] {
    CHECK(cuda::current_device() == 1);
    y = x * 3;
  });
  CHECK(cuda::current_device() == 0);
  graph.replay();
  CHECK(y.sum().item<float>() == 12);
}

TEST_CASE("synchronizing a device while another thread captures throws and does not end the capture") {
  Tensor x = ones({8}, kOnCuda);
  cuda::Graph graph;
  std::string said;
  graph.capture([&] {
    std::thread([&] {
      try {
        cuda::synchronize();
      } catch (const Error& error) {
        said = error.what();
      }
    }).join();
    x.add_(1);
  });
  CHECK_THAT(said, Contains("another thread captures a graph"));
  graph.replay();
  CHECK(x.sum().item<float>() == 16);
  cuda::synchronize();
}
