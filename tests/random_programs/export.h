// Exports programs and rows as Python code that runs them in PyTorch and compares; PyTorch expressions of
// rows.
#pragma once

#include "random_programs/program.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace programs {

/// Writes the programs for `count` seeds starting at `seed`, with the results of each statement.
void export_programs(std::ostream& file, std::uint64_t seed, std::int64_t count);
/// Writes each row that PyTorch has, with the row's own samples: results, gradients, and in-place results.
void export_rows(std::ostream& file);

/// Python functions at the beginning of such a file.
extern const char* const python_prelude;

// PyTorch expressions of the rows of the op table.

/// Returns the formula of the row as a Python expression over a list x of tensors; several results are a
/// tuple or list. Returns an empty string if PyTorch has no such function, or if the result is random.
std::string torch_row(const std::string& row, bool in_place);

/// An entry of the tables, which are sorted by row. Rows without an entry are functions of torch or
/// torch.special that take all inputs. A missing in-place form is derived from the other form.
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
