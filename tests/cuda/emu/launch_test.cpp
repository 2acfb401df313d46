// The number of shared memory requests of launches, and of algorithm queries of matrix products.
#include "kernel/cuda/launch.h"

#include <ebb/core/error.h>

#include "cuda/emu/runtime/api.h"
#include "kernel/cuda/gemm.h"
#include "support/catch.h"

#include <cublasLt.h>

#include <thread>
#include <utility>
#include <vector>

// How often launches of a kernel with large shared memory call the driver to allow it.

using namespace ebb;
using namespace ebb::cuda;
using support::Contains;

namespace {

const Device kFirst("cuda:0"), kSecond("cuda:1");
constexpr std::size_t kKiB = 1024;

template <int kNumber>
__global__ void nothing_kernel() {}

// The number of cudaFuncSetAttribute calls of a launch.
template <int kNumber>
long calls(Device device, std::size_t kib) {
  const long before = emu::attribute_calls();
  launch(device, {dim3(1), dim3(32), kib * kKiB}, &nothing_kernel<kNumber>);
  return emu::attribute_calls() - before;
}

}  // namespace

TEST_CASE("more than 48 KiB of shared memory is requested once per kernel and device") {
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

TEST_CASE("a launch with too much shared memory is an error each time") {
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH(calls<2>(kFirst, 300), Contains("shared memory of a kernel") && Contains("invalid"));
  cudaGetLastError();
  CHECK(calls<2>(kFirst, 64) == 1);
  // Without a request, a launch has 48 KiB.
  const cudaLaunchConfig_t config{dim3(1), dim3(32), 64 * kKiB};
  CHECK(cudaLaunchKernelEx(&config, &nothing_kernel<2>) == cudaSuccess);
  CHECK(cudaLaunchKernelEx(&config, &nothing_kernel<3>) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("threads may launch one kernel with different shared memory sizes") {
  constexpr std::size_t kThreads = 8;
  const std::vector<void (*)()> kernels = [&]<int... kNumber>(std::integer_sequence<int, kNumber...>) {
    return std::vector<void (*)()>{&nothing_kernel<100 + kNumber>...};
  }(std::make_integer_sequence<int, 50>());
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

// How often cuBLASLt is queried for an algorithm: once for all products of one kind and alignment.

namespace {

const Device kDevice("cuda:0");
constexpr std::uintptr_t kBase = 4096;

// A matrix that is never read.
BatchedMatrix matrix(std::int64_t rows, std::int64_t columns, std::uintptr_t address = kBase) {
  return {reinterpret_cast<void*>(address), rows, columns, columns, 1, rows * columns};
}

bool multiply(std::int64_t rows, std::uintptr_t a = kBase, std::uintptr_t b = kBase, std::uintptr_t c = kBase,
              std::int64_t batch = 1) {
  return library_gemm(kDevice, kHalf, batch, matrix(rows, 16, a), matrix(16, 8, b), matrix(rows, 8, c), 1, 0);
}

// The number of algorithm queries of a call.
template <class F>
long questions(const F& call) {
  const long before = emu::blas_questions;
  call();
  return emu::blas_questions - before;
}

}  // namespace

TEST_CASE("aligned views of matrices share a cuBLASLt plan") {
  CHECK(questions([] { multiply(3); }) == 1);
  for (const std::uintptr_t offset : {16, 32, 48, 64, 128, 256, 512}) {
    CHECK(questions([&] { multiply(3, kBase + offset); }) == 0);
    CHECK(questions([&] { multiply(3, kBase, kBase + offset, kBase + 3 * offset); }) == 0);
  }
  for (const std::uintptr_t offset : {2, 4, 8}) {
    CHECK(questions([&] { multiply(3, kBase, kBase + offset); }) == 1);
    CHECK(questions([&] { multiply(3, kBase + 3 * offset); }) == 0);
  }
  const auto with_bias = [](std::uintptr_t bias) {
    return questions([&] {
      CHECK(gemm_epilogue(kDevice, kHalf, matrix(3, 16), matrix(16, 8), matrix(3, 8),
                          {.bias = reinterpret_cast<const void*>(bias)}));
    });
  };
  CHECK(with_bias(kBase) == 1);
  CHECK(with_bias(kBase + 16) == 0);
  CHECK(with_bias(kBase + 192) == 0);
  CHECK(with_bias(kBase + 8) == 1);
}

TEST_CASE("products with many new shapes do not evict the plans in use") {
  multiply(1);
  const long objects = emu::blas_objects;
  std::thread([] {  // a new thread starts without plans
    multiply(1);
    long asked = 0;
    for (std::int64_t rows = 2; rows < 10000; ++rows) {
      asked += questions([&] { multiply(rows); });
      if (rows % 1000 == 0) CHECK(questions([] { multiply(1); }) == 0);
    }
    CHECK(asked == 9998);
    CHECK(questions([] { multiply(9999); }) == 0);
    CHECK(questions([] { multiply(2); }) == 1);
    CHECK(emu::blas_objects < 5 * 4096);
  })
      .join();
  CHECK(emu::blas_objects == objects);  // plans are destroyed with their thread
}

TEST_CASE("a product without a cuBLASLt algorithm is reported and looked up only once") {
  struct Restore {
    ~Restore() { emu::blas_alignment = 1; }
  } restore;
  emu::blas_alignment = 4;
  CHECK(questions([] { CHECK_FALSE(multiply(5, kBase + 2)); }) == 1);
  CHECK(questions([] { CHECK_FALSE(multiply(5, kBase + 2)); }) == 0);
  CHECK(multiply(5));
  CHECK(multiply(5, kBase + 4));
}

TEST_CASE("all parts of a split batch have the same alignment") {
  struct Restore {
    ~Restore() { emu::blas_alignment = 1; }
  } restore;
  emu::blas_alignment = 16;
  const long before = emu::blas_products;
  // Matrices of 3 x 1 elements of 2 bytes start 6 bytes apart.
  CHECK(library_gemm(kDevice, kHalf, 200000, matrix(3, 1), matrix(1, 1), matrix(3, 1), 1, 0));
  CHECK(emu::blas_products - before == 4);
}
