// Rows of the op table in PyTorch's words.
#pragma once

#include <string>

namespace programs {

/// What the row computes, as an expression of Python over a list x of tensors; a tuple or list where it gives
/// several. Empty where PyTorch has no such function.
std::string torch_row(const std::string& row, bool in_place);

}  // namespace programs
