// What is checked of every row.
#pragma once

#include "optable/table.h"

namespace optable {

/// The inputs of one sample in double precision, away from kinks, with distinct values.
variable_list make_inputs(const Row& row, std::size_t sample);

void check_forward(const Row& row);      // f64 and f32 against the reference; f16 and bf16 against f32
void check_derivatives(const Row& row);  // gradcheck, gradgradcheck
void check_layouts(const Row& row);      // transposed, stepped, offset and broadcast inputs give the same
void check_subsets(const Row& row);      // every choice of which inputs require grad
void check_in_place(const Row& row);     // the in-place twin: value, gradient, version
void check_repeatable(const Row& row);   // bitwise, at one and two threads; inputs unmodified; no leak
void check_errors(const Row& row);

}  // namespace optable
