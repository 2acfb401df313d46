// Kernels for planted_test.cpp: some are correct, and each of the others has one mistake that its name
// states.

namespace {

constexpr int kThreads = 256;

}  // namespace

extern "C" {

__global__ void right_sum(float* out, const float* in) {
  __shared__ float sums[kThreads];
  sums[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = sums[0];
}

__global__ void right_blocks(float* out, const float* in) {
  __shared__ float first;
  if (threadIdx.x == 0) first = in[blockIdx.x];
  __syncthreads();
  if (threadIdx.x == blockIdx.x) out[threadIdx.x] = first;
}

__global__ void right_exchange(float* out, const float* in) {
  __shared__ float values[32];
  values[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = values[31 - threadIdx.x];
}

__global__ void right_count(unsigned* out) { atomicAdd(out, 1U); }

__global__ void missing_barrier(float* out, const float* in) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = values[kThreads - 1 - threadIdx.x];
}

__global__ void missing_second_barrier(float* out, const float* in) {
  __shared__ float values[kThreads];
  for (int round = 0; round < 2; ++round) {
    values[threadIdx.x] = in[threadIdx.x] + round;
    __syncthreads();
    out[threadIdx.x] += values[kThreads - 1 - threadIdx.x];
  }
}

__global__ void missing_syncwarp(float* out, const float* in) {
  __shared__ float values[32];
  values[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = values[31 - threadIdx.x];
}

__global__ void divergent_barrier(float* out, const float* in) {
  __shared__ float values[kThreads];
  if (threadIdx.x % 2 != 0) {
    values[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x];
  } else {
    values[threadIdx.x] = 2 * in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x] + 1;
  }
}

__global__ void divergent_shuffle(float* out, const float* in) {
  float value = in[threadIdx.x];
  if (threadIdx.x % 32 < 16)
    value += __shfl_xor_sync(0xffffffffU, value, 1);
  else if (in[0] > 1e30F)
    value += __shfl_xor_sync(0xffffffffU, value * 2, 2);
  out[threadIdx.x] = value;
  __syncthreads();
}

__global__ void shuffle_from_inactive(float* out, const float* in) {
  if (threadIdx.x >= 16) return;
  out[threadIdx.x] = __shfl_down_sync(0xffffU, in[threadIdx.x], 8, 32);
}

__global__ void one_beyond_the_end(float* out, const float* in) { out[threadIdx.x + 1] = in[threadIdx.x]; }

__global__ void one_before_the_start(float* out, const float* in) {
  out[threadIdx.x] = in[static_cast<int>(threadIdx.x) - 1];
}

__global__ void beyond_shared_memory(float* out) {
  extern __shared__ float values[];
  values[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x];
}

__global__ void misaligned_vector(float4* out, const float* in) {
  out[threadIdx.x] = *reinterpret_cast<const float4*>(in + 1);
}

__global__ void unwritten_shared(float* out, const float* in) {
  __shared__ float values[kThreads];
  if (threadIdx.x != 7) values[threadIdx.x] = in[0];
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x];
}

__global__ void unwritten_global(float* out, const float* in) { out[threadIdx.x] += in[threadIdx.x]; }

__global__ void race_between_blocks(float* out, const float* in) {
  out[threadIdx.x] = in[threadIdx.x] + blockIdx.x;
}

__global__ void race_in_global_memory(float* out, const float* in) {
  out[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] += out[(threadIdx.x + 32) % kThreads];
}

__global__ void count_without_atomics(unsigned* out) { *out = *out + 1; }

__global__ void __launch_bounds__(128) right_within_bounds(float* out) { out[threadIdx.x] = 1; }

__global__ void endless(volatile unsigned* flag) {
  while (*flag == 0) {
  }
}

__global__ void trap(const float* in) {
  if (in[0] == 0) __trap();
}

}  // extern "C"
