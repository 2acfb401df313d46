// The checks that run for every row.
#pragma once

#include "optable/table.h"

namespace optable {

void check_forward(const Row& row);      // f64 and f32 against the reference
void check_halves(const Row& row);       // f16 and bf16, forward and backward, against f64
void check_derivatives(const Row& row);  // gradcheck, gradgradcheck
void check_adjoint(const Row& row);      // <v, J u> = <J^T v, u>
void check_subsets(const Row& row);      // every subset of inputs that require grad
void check_layouts(const Row& row);      // transposed, stepped, offset, channels-last and expanded inputs
void check_in_place(const Row& row);     // the in-place form: value, gradient, version
void check_repeatable(const Row& row);   // bitwise, at one and two threads; inputs unmodified; no leak
void check_errors(const Row& row);       // the error cases of the row
// undefined, wrongly typed and wrongly shaped inputs: a result or an ebb::Error
void check_misuse(const Row& row);
void check_points(const Row& row);     // the points of the row: values and derivatives
void check_dtypes(const Row& row);     // integers, the dtype of the result, the name of the node
void check_pointwise(const Row& row);  // pointwise ops bit by bit: layouts, broadcasts, aliases, accuracy
void check_large(const Row& row);      // pointwise ops on sizes for SIMD and threads
void check_compiled(const Row& row);   // recorded once and replayed
/// Returns whether a function that calls the row is not replayed, because values decide or a generator is
/// seeded.
bool stays_eager(const std::string& row);
void check_upstream(const Row& row);  // incoming gradients that are expanded, transposed, stepped, offset
void check_threads(const Row& row);   // large samples on one thread and on several, bit by bit
void check_lengths(const Row& row);   // short and long rows against the reference
void check_shrunk(const Row& row);    // every size as 1 and as 0
void check_far_out(const Row& row);   // pointwise ops from subnormal numbers to 1e30
void check_channels_last(const Row& row, ebb::Device device = ebb::kCPU);

/// Compares CPU and CUDA up to the second derivative, in every dtype and layout; needs a CUDA device.
void check_cuda(const Row& row);
/// Returns rows with one size of a sample enlarged each: lines longer than a block, more lines than fit into
/// a block, remainders.
std::vector<Row> stretched_rows(const Row& row);
/// The factors to try, the largest first, and the largest numbers of elements of inputs and results.
struct Stretch {
  std::vector<std::int64_t> factors;
  std::int64_t most_elements, most_results;
};
std::vector<Row> stretched_rows(const Row& row, const Stretch& how);
/// Compares CPU and CUDA for integers and Bool in place of floating inputs; errors must occur on both.
void check_cuda_numbers(const Row& row);
/// Compares values and gradients on CPU and CUDA for stretched_rows().
void check_cuda_stretched(const Row& row);

}  // namespace optable
