// Device memory that copies, fills and products touch is looked at as what kernels touch is.
#pragma once

#include <cstddef>

namespace ebb::ptx {

/// Reports a finding unless all bytes lie in live allocations. Memory that is not the device's passes.
void check_inside(const char* who, const void* first, std::size_t bytes);
/// The same unless all bytes were written, too.
void check_written(const char* who, const void* first, std::size_t bytes);

}  // namespace ebb::ptx
