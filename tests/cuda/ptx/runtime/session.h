// The PTX interpreter of this process, configured by the environment:
//
// EBB_PTX_ORDER: forward (default), reverse or shuffled, the order of warps and blocks.
// EBB_PTX_TRACE: 1 prints each launch.
// EBB_PTX_ENTRIES: a file to which the process appends the number of launches and the name of each entry that
// ran.
// EBB_PTX_PROFILE: a file for the counts of interpreter.h.
//
// Findings are written to stderr. A process with findings exits with status 70, even if its tests pass.
#pragma once

#include "cuda/ptx/interpreter/interpreter.h"

#include <cstddef>
#include <span>
#include <string>

namespace ebb::ptx {

/// Memory that kernels may touch.
GlobalMemory& global_memory();

/// Runs a grid to its end. Throws std::runtime_error for invalid settings in the environment.
Status run(Entry& entry, const std::string& name, const Grid& grid, std::span<const std::byte> values);

/// Reports a finding from outside the interpreter.
void report(const std::string& sentence);
/// Prints why a launch is refused. This is not a finding, because the program gets an error.
void print_refusal(const std::string& name, const std::string& why);

// Copies, fills and products are checked like accesses of kernels.

/// Reports a finding unless all bytes are in live allocations. Memory outside the device is accepted.
void check_inside(const char* who, const void* first, std::size_t bytes);
/// The same, and all bytes must have been written.
void check_written(const char* who, const void* first, std::size_t bytes);

}  // namespace ebb::ptx
