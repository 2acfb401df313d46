// Ranges of NVIDIA's Tools Extension: see ebb/cuda/nvtx.h.
#pragma once

#include <cstdint>

namespace ebb::cuda {

int push_range(const char* message) noexcept;
int pop_range() noexcept;
void set_mark(const char* message) noexcept;
std::uint64_t start_range(const char* message) noexcept;
void end_range(std::uint64_t id) noexcept;

}  // namespace ebb::cuda
