// Kernels whose threads communicate, on the fibers of the emulation.
#include <ebb/core/error.h>

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/launch.h"
#include "support/catch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <numeric>
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
