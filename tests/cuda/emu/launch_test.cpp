// Kernels whose threads communicate, on the fibers of the emulation; the number of shared memory requests of
// launches, and of algorithm queries of matrix products.
#include "kernel/cuda/launch.h"

#include <ebb/core/error.h>

#include "cuda/emu/runtime/api.h"
#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/gemm.h"
#include "support/catch.h"

#include <cublasLt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <numeric>
#include <thread>
#include <utility>
#include <vector>

using namespace ebb;
using namespace ebb::cuda;
using support::Contains;

namespace {

const Device kDevice(DeviceType::CUDA, 0);

__global__ void sum_kernel(long long* out, int n) {
  __shared__ long long scratch[kWarp];
  long long value = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) value += i;
  value = block_reduce(value, scratch, Plus(), static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x));
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// Thread i passes its number to the next thread through dynamic shared memory.
__global__ void rotate_kernel(int* out) {
  int* const ring = dynamic_shared<int>();
  ring[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = ring[(threadIdx.x + 1) % blockDim.x];
}

__global__ void shuffle_kernel(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  out[lane] = __shfl_xor_sync(kFullWarp, lane, 5);
  out[32 + lane] = __shfl_up_sync(kFullWarp, lane, 3, 16);
  out[64 + lane] = __shfl_down_sync(kFullWarp, lane, 3, 8);
  out[96 + lane] = static_cast<int>(__ballot_sync(kFullWarp, lane % 3 == 0));
}

__global__ void divergent_kernel() {
  if (threadIdx.x < 16)
    __syncthreads();
  else
    __syncwarp();
}

__global__ void count_kernel(int* out) {
  out[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] += 1;
}

template <class T>
struct DeviceMemory {
  T* data = nullptr;
  explicit DeviceMemory(std::size_t n) { cudaMalloc(reinterpret_cast<void**>(&data), n * sizeof(T)); }
  ~DeviceMemory() { cudaFree(data); }
  std::vector<T> read(std::size_t n) const {
    std::vector<T> values(n);
    cudaMemcpyAsync(values.data(), data, n * sizeof(T), cudaMemcpyDefault, nullptr);
    return values;
  }
};

}  // namespace

TEST_CASE("a block sum is returned to all threads of the block") {
  for (const unsigned threads : {32u, 64u, 256u, 1024u}) {
    const DeviceMemory<long long> out(2 * threads);
    launch(kDevice, {dim3(2), dim3(threads)}, &sum_kernel, out.data, 5000);
    for (const long long value : out.read(2 * threads)) REQUIRE(value == 5000LL * 4999 / 2);
  }
}

TEST_CASE("threads of a block share dynamic shared memory") {
  const DeviceMemory<int> out(100);
  launch(kDevice, {dim3(1), dim3(100), 400}, &rotate_kernel, out.data);
  const std::vector<int> values = out.read(100);
  for (int i = 0; i < 100; ++i) CHECK(values[static_cast<std::size_t>(i)] == (i + 1) % 100);
}

TEST_CASE("emulated shuffles and votes follow the CUDA semantics") {
  const DeviceMemory<int> out(128);
  launch(kDevice, {dim3(1), dim3(32)}, &shuffle_kernel, out.data);
  const std::vector<int> values = out.read(128);
  for (int lane = 0; lane < 32; ++lane) {
    const auto at = static_cast<std::size_t>(lane);
    CHECK(values[at] == (lane ^ 5));
    CHECK(values[32 + at] == (lane % 16 >= 3 ? lane - 3 : lane));
    CHECK(values[64 + at] == (lane % 8 < 5 ? lane + 3 : lane));
    CHECK(values[96 + at] == 0x49249249);
  }
}

TEST_CASE("a deadlock of threads is an error and the next launch works") {
  CHECK_THROWS_WITH(launch(kDevice, {dim3(1), dim3(32)}, &divergent_kernel), Contains("for ever"));
  const DeviceMemory<long long> out(64);
  launch(kDevice, {dim3(1), dim3(64)}, &sum_kernel, out.data, 10);
  CHECK(out.read(64)[63] == 45);
}

TEST_CASE("each thread of a grid runs once") {
  const DeviceMemory<int> out(60);
  cudaMemsetAsync(out.data, 0, 240, nullptr);
  launch_independent(kDevice, {dim3(3, 2), dim3(10)}, &count_kernel, out.data);
  CHECK(out.read(60) == std::vector<int>(60, 1));
}

TEST_CASE("the host cannot read device memory") {
  const DeviceMemory<int> memory(4);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    const volatile int value = *static_cast<volatile int*>(memory.data);
    _exit(value == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK((WIFSIGNALED(status) || WEXITSTATUS(status) > 1));
}

TEST_CASE("emulated device memory is limited and freed memory is available again") {
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  void* p = nullptr;
  CHECK(cudaMalloc(&p, total + 1) == cudaErrorMemoryAllocation);
  CHECK(p == nullptr);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaSuccess);
  const DeviceMemory<char> block(1 << 20);
  std::size_t less = 0;
  cudaMemGetInfo(&less, &total);
  CHECK(less == free - (1 << 20));
}

TEST_CASE("stream capture records work and a graph replays it") {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const DeviceMemory<char> memory(4096);
  cudaMemsetAsync(memory.data, 1, 4096, nullptr);
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  cudaMemsetAsync(memory.data, 2, 4096, stream);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  CHECK(memory.read(1)[0] == 1);
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  CHECK(memory.read(1)[0] == 2);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  // Synchronizing inside a capture invalidates it.
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
  cudaStreamDestroy(stream);
}

// How often launches of a kernel with large shared memory call the driver to allow it.

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

TEST_CASE("a batched product is split into parts with the same alignment") {
  struct Restore {
    ~Restore() { emu::blas_alignment = 1; }
  } restore;
  emu::blas_alignment = 16;
  const long before = emu::blas_products;
  // Matrices of 3 x 1 elements of 2 bytes start 6 bytes apart.
  CHECK(library_gemm(kDevice, kHalf, 200000, matrix(3, 1), matrix(1, 1), matrix(3, 1), 1, 0));
  CHECK(emu::blas_products - before == 4);
}
