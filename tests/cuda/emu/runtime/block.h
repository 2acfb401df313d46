// How a grid of threads runs on one CPU thread: blocks one after another, the threads of a block as fibres
// that take turns at barriers and shuffles.
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
/// shared memory, and need no stack of their own. Throws ebb::Error when threads wait for each other for
/// ever.
void run_grid(dim3 blocks, dim3 threads, std::size_t shared_bytes, bool independent,
              const std::function<void()>& body);

/// What is shared by the block that runs: its dynamic memory.
void* shared_memory();
/// Waits for all threads of the block that have not ended.
void wait_for_block();
/// Waits for all threads of the warp that have not ended.
void wait_for_warp();
/// Lane of the calling thread, and the 8 bytes that it shows the others of its warp; two sets that take
/// turns.
int lane();
std::uint64_t& exchange_of(int lane);
void turn_exchange();

}  // namespace ebb::emu
