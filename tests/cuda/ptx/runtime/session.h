// The interpreter of this process. The environment sets it up:
//
// EBB_PTX_ORDER: forward (default), reverse or shuffled, the order of warps and blocks.
// EBB_PTX_TRACE: 1 prints each launch.
// EBB_PTX_ENTRIES: a file to which the process appends launches and name of each entry that it ran.
// EBB_PTX_PROFILE: a file for the counts of interpreter.h.
//
// Findings go to stderr. A process that had some ends with status 70, whatever its tests say.
#pragma once

#include "cuda/ptx/interpreter/interpreter.h"

#include <cstddef>
#include <span>
#include <string>

namespace ebb::ptx {

/// Memory that kernels may touch.
GlobalMemory& global_memory();

/// Runs a grid to its end. Throws std::runtime_error where the environment asks for what there is not.
Status run(Entry& entry, const std::string& name, const Grid& grid, std::span<const std::byte> values);

/// Reports a finding that did not come from the interpreter.
void report(const std::string& sentence);
/// Tells why a launch is refused, which is not a finding: the program is told by an error.
void print_refusal(const std::string& name, const std::string& why);

// Device memory that copies, fills and products touch is looked at as what kernels touch is.

/// Reports a finding unless all bytes lie in live allocations. Memory that is not the device's passes.
void check_inside(const char* who, const void* first, std::size_t bytes);
/// The same unless all bytes were written, too.
void check_written(const char* who, const void* first, std::size_t bytes);

}  // namespace ebb::ptx
