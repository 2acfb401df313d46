// at::print: tensors as text.
#pragma once

#include <ebb/autograd/variable.h>

#include <torch/csrc/namespaces.h>

#include <cstdint>
#include <iostream>

namespace ebb::detail {
EBB_API void print_in_columns(std::ostream& out, const Variable& tensor, std::int64_t line);
}

namespace at {

/// Prints a tensor in lines of at most `line` characters.
inline std::ostream& print(std::ostream& out, const ebb::Variable& tensor, std::int64_t line) {
  ebb::detail::print_in_columns(out, tensor, line);
  return out;
}
inline void print(const ebb::Variable& tensor, std::int64_t line = 80) { print(std::cout, tensor, line); }

}  // namespace at
