// Tensors in libtorch's format, for ebb::torch, which declares what is exported.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <iosfwd>

namespace ebb::detail {

/// Writes the elements in columns, in lines of at most `line` characters, and dtype, device and sizes.
EBB_API void print_in_columns(std::ostream& out, const Variable& tensor, std::int64_t line);
/// Whether a stream takes tensors so, in the whole process, instead of as to_string() has them.
EBB_API void set_printed_in_columns(bool on) noexcept;
bool are_printed_in_columns() noexcept;

}  // namespace ebb::detail
