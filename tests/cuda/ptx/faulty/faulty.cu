// A program with at most one mistake, selected by its argument; it prints the CUDA status of each step. The
// script in this folder checks how the process ends.
#include <cuda_runtime.h>

#include <cstdio>
#include <string_view>

namespace {

constexpr int kCount = 100;

__global__ void fill(float* to, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) to[i] = 1;
}

__global__ void copy(float* to, const float* from) { to[threadIdx.x] = from[threadIdx.x]; }

// There is no barrier between the write and the read.
__global__ void turn(float* to) {
  __shared__ float values[2 * 32];
  values[threadIdx.x] = 1;
  to[threadIdx.x] = values[63 - threadIdx.x];
}

__global__ void fill_shared(float* to) {
  extern __shared__ float values[];
  values[threadIdx.x] = 1;
  to[threadIdx.x] = values[threadIdx.x];
}

void say(const char* step, cudaError_t error) { std::printf("%s: %s\n", step, cudaGetErrorName(error)); }

float* allocate() {
  void* made = nullptr;
  say("allocation", cudaMallocAsync(&made, kCount * sizeof(float), nullptr));
  return static_cast<float*>(made);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mistake = argc > 1 ? argv[1] : "";
  float *const a = allocate(), *const b = allocate();
  if (mistake == "none") {
    fill<<<4, 32>>>(a, kCount);
    copy<<<1, kCount>>>(b, a);
  } else if (mistake == "outside") {
    fill<<<4, 32>>>(a, kCount + 1);
  } else if (mistake == "unwritten") {
    copy<<<1, kCount>>>(b, a);
  } else if (mistake == "race") {
    turn<<<1, 64>>>(a);
  } else if (mistake == "copy") {
    float values[kCount + 1];
    say("copy", cudaMemcpyAsync(values, a, sizeof(values), cudaMemcpyDeviceToHost, nullptr));
  } else if (mistake == "threads") {
    fill<<<1, 2048>>>(a, kCount);
  } else if (mistake == "shared") {
    fill_shared<<<1, 32, 64 << 10>>>(a);
    say("launch", cudaGetLastError());
    say("attribute",
        cudaFuncSetAttribute(fill_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
    fill_shared<<<1, 32, 64 << 10>>>(a);
  }
  say("launch", cudaGetLastError());
  say("wait", cudaDeviceSynchronize());
  say("memory", cudaFreeAsync(a, nullptr));
  return 0;
}
