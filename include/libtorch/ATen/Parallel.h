// Threads and the loops that share them.
#pragma once

#include <ebb/core/parallel.h>

#include <torch/csrc/namespaces.h>

#include <cstdint>

namespace at {

inline std::int64_t divup(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }
/// Nothing: threads are there from the first op that shares its work.
inline void init_num_threads() {}
/// ebb runs one op at a time in each thread of a program.
inline int get_num_interop_threads() { return 1; }
inline void set_num_interop_threads(int) {}

}  // namespace at
