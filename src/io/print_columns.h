// Printing of tensors in libtorch's format, for ebb::torch.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <iosfwd>

namespace ebb::detail {

/// Writes the elements in columns, with at most `line` characters per line of text, then dtype, device and
/// sizes.
EBB_API void print_in_columns(std::ostream& out, const Variable& tensor, std::int64_t line);
/// Sets whether operator<< prints tensors in this format and not in to_string()'s, for the whole process.
EBB_API void set_printed_in_columns(bool on) noexcept;
bool are_printed_in_columns() noexcept;

}  // namespace ebb::detail
