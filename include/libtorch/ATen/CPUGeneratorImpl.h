// CPUGeneratorImpl: random number generators.
#pragma once

#include <ebb/core/random.h>

#include <torch/csrc/namespaces.h>

namespace at {

/// ebb's Generator is both the handle and the implementation.
using CPUGeneratorImpl = ebb::Generator;

namespace detail {

inline Generator createCPUGenerator(std::uint64_t seed = 67280421310721ull) { return Generator(seed); }
inline Generator& getDefaultCPUGenerator() { return default_generator(); }

}  // namespace detail
}  // namespace at
