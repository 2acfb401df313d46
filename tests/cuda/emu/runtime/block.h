// Runs a grid of threads on one CPU thread: blocks one after another, with the threads of a block as fibers
// that switch at barriers and shuffles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

inline constinit thread_local uint3 threadIdx{};
inline constinit thread_local uint3 blockIdx{};
inline constinit thread_local dim3 blockDim{};
inline constinit thread_local dim3 gridDim{};
constexpr int warpSize = 32;

namespace ebb::emu {

/// Runs `body` once for every thread of the grid. `independent` threads use no barrier, no shuffle and no
/// shared memory, and need no separate stack. Throws ebb::Error for a deadlock of threads.
void run_grid(dim3 blocks, dim3 threads, std::size_t shared_bytes, bool independent,
              const std::function<void()>& body);

/// The dynamic shared memory of the running block.
void* shared_memory();
/// Waits for all threads of the block that have not exited.
void wait_for_block();
/// Waits for all threads of the warp that have not exited.
void wait_for_warp();
/// The lane of the calling thread, and the 8 bytes that it shows to the other lanes of its warp; two buffers
/// that alternate.
int lane();
std::uint64_t& exchange_of(int lane);
void turn_exchange();

}  // namespace ebb::emu
