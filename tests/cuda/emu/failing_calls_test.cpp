// Streams, events, copies, pinned memory and graphs on a runtime in which each call fails once.
#include <ebb/core/error.h>

#include "core/capture.h"
#include "cuda/async_allocator.h"
#include "cuda/emu/runtime/state.h"
#include "cuda/pinned.h"
#include "cuda/runtime.h"
#include "kernel/cuda/launch.h"
#include "support/catch.h"

using namespace ebb;

namespace {

const Device kFirst("cuda:0"), kSecond("cuda:1");

__global__ void add_to(float* x, float value) { *x += value; }

void add(const detail::DeviceBlock& x, float value) {
  cuda::launch_independent(x.device, {dim3(1), dim3(1)}, &add_to, static_cast<float*>(x.data), value);
}
float read(const detail::DeviceBlock& x) {
  return cuda::read_back(x.device, static_cast<const float*>(x.data));
}

// A block that is freed even after an exception.
struct Held {
  detail::DeviceBlock block;
  ~Held() { cuda::free(block); }
};

struct CurrentStream {
  explicit CurrentStream(void* stream) {
    cuda::set_current_stream(kFirst, static_cast<cudaStream_t>(stream));
  }
  ~CurrentStream() { cuda::set_current_stream(kFirst, nullptr); }
};

void across_streams() {
  const Held x{cuda::allocate(4, kFirst)}, pinned{cuda::allocate_pinned(4)};
  auto* const host = static_cast<float*>(pinned.block.data);
  *host = 5;
  void* const side = cuda::pool_stream(kFirst);
  cuda::copy_bytes(x.block.data, kFirst, host, Device(kCPU), 4, false);
  cuda::record_use(pinned.block, kFirst, nullptr);
  cuda::order_streams(kFirst, nullptr, kFirst, side);
  {
    const CurrentStream current(side);
    cuda::record_use(x.block, kFirst, side);
    add(x.block, 2);
  }
  cuda::order_streams(kFirst, side, kFirst, nullptr);
  const float got = read(x.block);
  REQUIRE(got == 7);
}

void across_devices() {
  const Held x{cuda::allocate(4, kFirst)}, y{cuda::allocate(4, kSecond)};
  const float value = 3;
  cuda::copy_bytes(x.block.data, kFirst, &value, Device(kCPU), 4, true);
  cuda::copy_bytes(y.block.data, kSecond, x.block.data, kFirst, 4, true);
  add(y.block, 1);
  const float got = read(y.block);
  REQUIRE(got == 4);
}

void with_a_graph() {
  const Held x{cuda::allocate(4, kFirst)};
  const float zero = 0;
  cuda::copy_bytes(x.block.data, kFirst, &zero, Device(kCPU), 4, true);
  detail::Capture capture;
  const auto graph = cuda::make_graph(kFirst);
  graph->begin(&capture, cuda::make_graph_pool());
  try {
    const Held inside{cuda::allocate(100, kFirst)};
    add(x.block, 2);
  } catch (...) {
    graph->discard();
    throw;
  }
  graph->end();
  graph->replay(nullptr);
  graph->replay(cuda::pool_stream(kFirst));
  graph->replay(nullptr);
  const float got = read(x.block);
  REQUIRE(got == 6);
}

}  // namespace

TEST_CASE("a failing driver call throws and the next attempt succeeds") {
  for (void (*const scenario)() : {&across_streams, &across_devices, &with_a_graph}) {
    scenario();
    for (int n = 0; n < 60; ++n) {
      emu::fail_call(n);
      // Events that guard memory may survive a failure.
      try {
        scenario();
      } catch (const Error&) {
      }
      emu::fail_call(-1);
      INFO("call " << n);
      CHECK_FALSE(cuda::thread_state().capture);
      CHECK(cuda::thread_state().streams[0] == nullptr);
      CHECK(cuda::current_device_index() == 0);
      scenario();
      cuda::empty_cache_of(kFirst);
      cuda::empty_cache_of(kSecond);
      CHECK(cuda::memory_stats_of(kFirst).current == 0);
      CHECK(cuda::memory_stats_of(kFirst).cached == 0);
      CHECK(cuda::memory_stats_of(kSecond).cached == 0);
    }
  }
}

TEST_CASE("an allocation on a broken device is not reported as out of memory") {
  const auto broken = [](const auto& call) {
    emu::break_device(cudaErrorUnknown);
    std::string said;
    try {
      call();
    } catch (const Error& error) {
      said = error.what();
    }
    emu::break_device(cudaSuccess);
    INFO(said);
    CHECK(said.find("cudaErrorUnknown") != said.npos);
    CHECK(said.find("an earlier kernel caused the error") != said.npos);
    CHECK(said.find("out of memory") == said.npos);
  };
  constexpr std::size_t kNotCached = std::size_t{200} << 20;
  cuda::AsyncAllocator async(kFirst);
  {
    const Held x{cuda::allocate(4, kFirst)};
  }
  broken([&] { cuda::allocate(kNotCached, kFirst); });
  broken([&] { async.allocate(kNotCached, nullptr); });
  broken([&] { cuda::allocate_pinned(kNotCached); });
  broken([&] { cuda::order_streams(kFirst, nullptr, kFirst, cuda::pool_stream(kFirst)); });
}

TEST_CASE("a transient error is not attributed to a kernel") {
  emu::fail_call(0);
  CHECK_THROWS_WITH(cuda::wait_for_device(kFirst), support::EndsWith("(cudaErrorUnknown)."));
  emu::fail_call(-1);
}

TEST_CASE("injected driver failures are reported as errors") {
  int failed = 0;
  for (int n = 0; n < 60; ++n) {
    emu::fail_call(n);
    try {
      with_a_graph();
    } catch (const Error&) {
      ++failed;
    }
    emu::fail_call(-1);
  }
  CHECK(failed > 12);
}
