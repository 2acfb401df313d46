// What a program may ask about CUDA devices, with or without one (torch::cuda).
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

/// Devices that can be used; 0 without the plugin, a driver or a device. Never throws.
EBB_API std::size_t device_count() noexcept;
/// Whether there is at least one. Never throws.
EBB_API bool is_available() noexcept;
/// Waits until everything queued on the device (-1: the current one) is done. Throws ebb::Error when there is
/// none.
EBB_API void synchronize(std::int64_t device_index = -1);
/// Seeds the generators of the CUDA devices; does nothing when there are none.
EBB_API void manual_seed(std::uint64_t seed);
EBB_API void manual_seed_all(std::uint64_t seed);

/// Whether matrix products and convolutions of float tensors may round their inputs to TF32 (10 bits of
/// mantissa), which tensor cores multiply several times faster. Off unless set; f64 and 16-bit dtypes are not
/// concerned (torch.backends.cuda.matmul.allow_tf32).
EBB_API void allow_tf32(bool allow);
EBB_API bool is_tf32_allowed();

/// With true, the first convolution of each shape, dtype and layout on a GPU tries the algorithms that cuDNN
/// proposes and keeps the fastest; else cuDNN's first proposal is taken. Worth it where shapes repeat.
/// Nothing is timed while a graph is captured. Off unless set (torch.backends.cudnn.benchmark).
EBB_API void benchmark_convolutions(bool benchmark);
EBB_API bool are_convolutions_benchmarked();

/// Whether cuDNN computes what it has algorithms for: convolutions, batch norm in training, mean pools,
/// attention, recurrent layers. With false ebb's own kernels compute them all, the convolutions slowly; to
/// compare the two, or to do without the seconds that cuDNN takes to compile a kernel for a new shape. On
/// unless set; without effect where cudnn_is_available() is false (torch.backends.cudnn.enabled).
EBB_API void enable_cudnn(bool enable);
EBB_API bool is_cudnn_enabled();
/// With true, cuDNN computes only what gives the same bits at every run; use_deterministic_algorithms asks
/// that of all ops. Off unless set (torch.backends.cudnn.deterministic).
EBB_API void use_deterministic_cudnn(bool deterministic);
/// Whether either was asked for.
EBB_API bool is_cudnn_deterministic();
/// Whether there is a cuDNN to use: ebb was built with its headers, the machine has the library, and
/// EBB_CUDNN is not 0 in the environment. Looks for it, so that the first call may take a while. Never throws
/// (torch::cuda::cudnn_is_available).
EBB_API bool cudnn_is_available() noexcept;

}  // namespace ebb::cuda
