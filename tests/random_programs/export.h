// Programs and rows as Python that runs them in PyTorch and compares, and rows in PyTorch's words.
#pragma once

#include "random_programs/program.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace programs {

/// Writes a file: the programs drawn with `count` seeds from `seed` on, and what each statement of them gave.
void export_programs(std::ostream& file, std::uint64_t seed, std::int64_t count);
/// Every row that PyTorch has, on the row's own samples: results, gradients, and what is written in place.
void export_rows(std::ostream& file);

/// Functions of Python that such a file begins with.
extern const char* const python_prelude;

// Rows of the op table in PyTorch's words.

/// The formula of the row, as an expression of Python over a list x of tensors; a tuple or list where it
/// gives several. Empty where PyTorch has no such function, and where the numbers are drawn at random.
std::string torch_row(const std::string& row, bool in_place);

/// An entry of the tables, which are sorted by row. Rows without one are functions of torch, or of
/// torch.special, that take all inputs; the form in place follows from the other one where it is not given.
struct TorchRow {
  const char* row;
  const char* expression;
  const char* in_place = "";
};
const std::vector<TorchRow>& pointwise_rows();
const std::vector<TorchRow>& line_rows();
const std::vector<TorchRow>& place_rows();
const std::vector<TorchRow>& layer_rows();
const std::vector<TorchRow>& matrix_rows();

}  // namespace programs
