// Threads and parallel loops.
#pragma once

#include <ebb/core/parallel.h>

#include <torch/csrc/namespaces.h>

#include <cstdint>

namespace at {

inline std::int64_t divup(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }
/// Does nothing: the first parallel op starts the threads.
inline void init_num_threads() {}
/// Returns 1: each thread of a program runs one op at a time.
inline int get_num_interop_threads() { return 1; }
inline void set_num_interop_threads(int) {}

}  // namespace at
