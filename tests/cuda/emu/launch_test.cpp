// How often a launch of a kernel with much shared memory asks the driver to allow that.
#include "kernel/cuda/launch.h"

#include <ebb/core/error.h>

#include <thread>
#include <utility>
#include <vector>

#include "cuda/emu/runtime/api.h"
#include "support/catch.h"

using namespace ebb;
using namespace ebb::cuda;
using support::Contains;

namespace {

const Device kFirst("cuda:0"), kSecond("cuda:1");
constexpr std::size_t kKiB = 1024;

template <int kNumber>
__global__ void nothing_kernel() {}

// Calls of cudaFuncSetAttribute by a launch.
template <int kNumber>
long calls(Device device, std::size_t kib) {
  const long before = emu::attribute_calls();
  launch(device, {dim3(1), dim3(32), kib * kKiB}, &nothing_kernel<kNumber>);
  return emu::attribute_calls() - before;
}

}  // namespace

TEST_CASE("a launch with more than 48 KiB of shared memory asks the driver once a kernel and device") {
  CHECK(calls<0>(kFirst, 48) == 0);
  CHECK(calls<0>(kFirst, 64) == 1);
  for (int i = 0; i < 3; ++i) CHECK(calls<0>(kFirst, 64) == 0);
  CHECK(calls<0>(kFirst, 50) == 0);
  CHECK(calls<0>(kFirst, 96) == 1);
  CHECK(calls<0>(kFirst, 64) == 0);
  CHECK(calls<0>(kFirst, 96) == 0);
  CHECK(calls<1>(kFirst, 64) == 1);
  CHECK(calls<0>(kSecond, 64) == 1);
  CHECK(calls<0>(kSecond, 64) == 0);
}

TEST_CASE("shared memory that the driver does not allow is an error at every launch") {
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH(calls<2>(kFirst, 300), Contains("shared memory of a kernel") && Contains("invalid"));
  cudaGetLastError();
  CHECK(calls<2>(kFirst, 64) == 1);
  // Without asking a launch has 48 KiB.
  const cudaLaunchConfig_t config{dim3(1), dim3(32), 64 * kKiB};
  CHECK(cudaLaunchKernelEx(&config, &nothing_kernel<2>) == cudaSuccess);
  CHECK(cudaLaunchKernelEx(&config, &nothing_kernel<3>) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("threads that ask for different shared memory of one kernel all get it") {
  constexpr std::size_t kThreads = 8;
  const std::vector<void (*)()> kernels = [&]<int... kNumber>(std::integer_sequence<int, kNumber...>) {
    return std::vector<void (*)()>{&nothing_kernel<100 + kNumber>...};
  }
  (std::make_integer_sequence<int, 50>());
  std::vector<std::thread> threads;
  std::vector<int> failed(kThreads);
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (void (*const kernel)() : kernels) try {
          for (int i = 0; i < 3; ++i) launch(kFirst, {dim3(1), dim3(32), (50 + 20 * t) * kKiB}, kernel);
        } catch (const Error&) {
          ++failed[t];
        }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == std::vector<int>(kThreads));
}
