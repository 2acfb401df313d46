// Inputs of rows, their gradients, their layouts, and the comparison of results.
#pragma once

#include "optable/table.h"

namespace optable {

/// Returns the inputs of one sample in double precision, away from kinks, with distinct values.
variable_list make_inputs(const Row& row, std::size_t sample);
/// Converts floating inputs to another dtype and returns the others unchanged.
variable_list to(const variable_list& inputs, ebb::DType dtype);
/// Returns copies of the inputs, where differentiable ones are leaves that require grad.
variable_list with_grad(const Row& row, variable_list inputs);
/// Returns the inputs that require grad.
variable_list leaves_of(const variable_list& inputs);
/// Returns the function of the row without the outputs that are not floating.
Row::Function differentiable_part(const Row& row);
/// Returns the outputs of the row that can be differentiated.
variable_list differentiable_outputs(const Row& row, const variable_list& inputs);
/// Returns distinct numbers, so that a permuted gradient is detected; they are exact in every floating dtype.
Variable seed_for(const Variable& y, std::size_t period = 61);
/// Returns the gradients of the floating outputs, seeded with distinct weights; undefined if there is none.
variable_list gradients(const Row& row, const variable_list& inputs, const variable_list& wanted);
/// Returns the results of the row, and then their gradients.
variable_list results(const Row& row, const variable_list& inputs);
/// Returns the gradients of those gradients, seeded the same way, with respect to the inputs and the seeds.
variable_list second_gradients(const Row& row, const variable_list& inputs, const variable_list& wanted);

Array to_array(const Variable& x);
/// Requires |got - expected| <= tolerance (1 + |expected|) for each element; NaN equals NaN.
void require_close(const Variable& got, const Array& expected, double tolerance);
/// Compares lists, which must have undefined tensors at the same positions.
void require_same(const variable_list& got, const variable_list& expected, double tolerance);
bool same_bits(const Variable& a, const Variable& b);
void require_same_bits(const variable_list& got, const variable_list& expected);

/// Restores the number of threads.
struct ThreadsGuard {
  int threads = ebb::get_num_threads();
  ~ThreadsGuard() { ebb::set_num_threads(threads); }
};

// A memory layout of the same numbers.

struct Layout {
  const char* name;
  Variable (*apply)(const Variable&);
  bool repeats;  // the first slice is repeated, so the numbers change
};
const std::vector<Layout>& layouts();

/// Returns the results of the function of the row for these inputs, and their gradients; inputs keep their
/// strides.
variable_list laid_out_results(const Row& row, const variable_list& inputs);

}  // namespace optable
