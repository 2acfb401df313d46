// Queries and settings of CUDA devices; all work without a device too (torch::cuda).
#pragma once

#include <ebb/core/api.h>
#include <ebb/cuda/device.h>
#include <ebb/cuda/graph.h>
#include <ebb/cuda/memory.h>
#include <ebb/cuda/nvtx.h>
#include <ebb/cuda/stream.h>

#include <cstddef>
#include <cstdint>

namespace ebb::cuda {

/// Returns the number of usable devices; 0 without the plugin, a driver or a device. Never throws.
EBB_API std::size_t device_count() noexcept;
/// Returns whether there is at least one device. Never throws.
EBB_API bool is_available() noexcept;
/// Waits until all work queued on the device is done (-1: the current device). Throws ebb::Error if there is
/// no device.
EBB_API void synchronize(std::int64_t device_index = -1);
/// Seeds the generators of the CUDA devices; does nothing when there are none.
EBB_API void manual_seed(std::uint64_t seed);
EBB_API void manual_seed_all(std::uint64_t seed);

/// Sets whether matrix products and convolutions of float tensors may round their inputs to TF32 (10 bits of
/// mantissa), which tensor cores multiply several times faster. The default is off. Double and 16-bit dtypes
/// are not affected (torch.backends.cuda.matmul.allow_tf32).
EBB_API void allow_tf32(bool allow);
EBB_API bool is_tf32_allowed();

/// With true, the first convolution of each shape, dtype and layout on a GPU measures the algorithms that
/// cuDNN proposes and keeps the fastest. Otherwise cuDNN's first proposal is used. The measurement is
/// worthwhile if shapes repeat. Nothing is measured during a graph capture. The default is off
/// (torch.backends.cudnn.benchmark).
EBB_API void benchmark_convolutions(bool benchmark);
EBB_API bool are_convolutions_benchmarked();

/// Sets whether cuDNN computes the ops that it has algorithms for: convolutions, batch norm in training, mean
/// pools, attention, recurrent layers. With false, ebb's own kernels compute them all, and convolutions are
/// slow. Use false to compare both implementations, or to avoid the seconds that cuDNN needs to compile a
/// kernel for a new shape. The default is on. The setting has no effect if cudnn_is_available() is false
/// (torch.backends.cudnn.enabled).
EBB_API void enable_cudnn(bool enable);
EBB_API bool is_cudnn_enabled();
/// With true, only deterministic cuDNN algorithms are used. use_deterministic_algorithms also makes all other
/// ops deterministic. The default is off (torch.backends.cudnn.deterministic).
EBB_API void use_deterministic_cudnn(bool deterministic);
/// Returns whether use_deterministic_cudnn or use_deterministic_algorithms is on.
EBB_API bool is_cudnn_deterministic();
/// Returns whether cuDNN can be used: ebb was built with its headers, the library is installed, and the
/// environment variable EBB_CUDNN is not 0. The first call may take a while, because it searches for the
/// library. Never throws (torch::cuda::cudnn_is_available).
EBB_API bool cudnn_is_available() noexcept;

}  // namespace ebb::cuda
