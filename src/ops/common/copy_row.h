// The innermost loop of a copy: converts one strided sequence of elements.
#pragma once

#include <ebb/core/dtype.h>

#include <cstdint>

namespace ebb::cpu {

/// Converts n elements; strides count elements. The two sequences do not overlap.
using CopyRow = void (*)(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride,
                         std::int64_t n);

/// Returns the loop that converts from one dtype to another.
CopyRow copy_row(DType to, DType from);

}  // namespace ebb::cpu
