// Inputs of rows, their gradients, the ways in which they lie in memory, and how results are compared.
#pragma once

#include "optable/table.h"

// Inputs of rows, their gradients, and how results are compared.

namespace optable {

/// The inputs of one sample in double precision, away from kinks, with distinct values.
variable_list make_inputs(const Row& row, std::size_t sample);
/// Floating inputs in another dtype; the others as they are.
variable_list to(const variable_list& inputs, ebb::DType dtype);
/// The inputs, copied, those that are differentiable as leaves that require grad.
variable_list with_grad(const Row& row, variable_list inputs);
/// Those that require grad.
variable_list leaves_of(const variable_list& inputs);
/// The row's function without the outputs that are not floating.
Row::Function differentiable_part(const Row& row);
/// Those of the row's outputs that can be differentiated.
variable_list differentiable_outputs(const Row& row, const variable_list& inputs);
/// Numbers that differ from place to place, so that a permuted gradient shows; exact in every floating dtype.
Variable seed_for(const Variable& y, std::size_t period = 61);
/// The gradients of the floating outputs, seeded with weights that differ; undefined where there is none.
variable_list gradients(const Row& row, const variable_list& inputs, const variable_list& wanted);
/// The row's results, then their gradients.
variable_list results(const Row& row, const variable_list& inputs);
/// The gradients of those gradients, seeded likewise, with respect to the same inputs and to the seeds.
variable_list second_gradients(const Row& row, const variable_list& inputs, const variable_list& wanted);

Array to_array(const Variable& x);
/// |got - expected| <= tolerance (1 + |expected|), element by element; NaN equals NaN.
void require_close(const Variable& got, const Array& expected, double tolerance);
/// The same for lists, which must have undefined tensors in the same places.
void require_same(const variable_list& got, const variable_list& expected, double tolerance);
bool same_bits(const Variable& a, const Variable& b);
void require_same_bits(const variable_list& got, const variable_list& expected);

/// Puts back how many threads there are.
struct ThreadsGuard {
  int threads = ebb::get_num_threads();
  ~ThreadsGuard() { ebb::set_num_threads(threads); }
};

// Ways in which the same numbers lie in memory.

struct Layout {
  const char* name;
  Variable (*apply)(const Variable&);
  bool repeats;  // the first slice stands for all: other numbers than before
};
const std::vector<Layout>& layouts();

/// The results of the row's function for these inputs, then their gradients; inputs keep their strides.
variable_list laid_out_results(const Row& row, const variable_list& inputs);

}  // namespace optable
