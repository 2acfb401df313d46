// What is checked of every row.
#pragma once

#include "optable/table.h"

namespace optable {

void check_forward(const Row& row);      // f64 and f32 against the reference
void check_halves(const Row& row);       // f16 and bf16, forward and backward, against f64
void check_derivatives(const Row& row);  // gradcheck, gradgradcheck
void check_adjoint(const Row& row);      // <v, J u> = <J^T v, u>
void check_subsets(const Row& row);      // every choice of which inputs require grad
void check_layouts(const Row& row);      // transposed, stepped, offset, channels-last and expanded inputs
void check_in_place(const Row& row);     // the in-place twin: value, gradient, version
void check_repeatable(const Row& row);   // bitwise, at one and two threads; inputs unmodified; no leak
void check_errors(const Row& row);       // the row's own error cases
void check_misuse(const Row& row);  // undefined, ill-typed and ill-shaped inputs: a result or an ebb::Error
void check_points(const Row& row);  // the row's own places: values and slopes
void check_dtypes(const Row& row);  // integers, the result's dtype, the node's name
void check_pointwise(const Row& row);  // pointwise ops bit by bit: layouts, broadcasts, aliases, accuracy
void check_large(const Row& row);      // pointwise ops where vectors and threads work
void check_compiled(const Row& row);   // recorded once and replayed
/// Whether a function that calls the row is not replayed: values decide, or a generator is seeded.
bool stays_eager(const std::string& row);
void check_upstream(const Row& row);  // incoming gradients that are expanded, transposed, stepped, offset
void check_threads(const Row& row);   // large samples on one thread and on several, bit by bit
void check_lengths(const Row& row);   // short and long rows against the reference
void check_shrunk(const Row& row);    // every size as 1 and as 0
void check_far_out(const Row& row);   // pointwise ops from subnormal numbers to 1e30
void check_channels_last(const Row& row, ebb::Device device = ebb::kCPU);

/// CPU against CUDA to the second derivative, in every dtype and layout; needs a CUDA device.
void check_cuda(const Row& row);
/// The row's samples with one of their sizes stretched, a row each: lines longer than a block, more lines
/// than fit into one, tails.
std::vector<Row> stretched_rows(const Row& row);
/// The factors to try, the largest first, and how many elements inputs and results may have.
struct Stretch {
  std::vector<std::int64_t> factors;
  std::int64_t most_elements, most_results;
};
std::vector<Row> stretched_rows(const Row& row, const Stretch& how);
/// CPU against CUDA for whole numbers and truth values in the place of floating ones, or errors on both.
void check_cuda_numbers(const Row& row);
/// CPU against CUDA on these, values and gradients.
void check_cuda_stretched(const Row& row);

}  // namespace optable
