// The families of rows.
#pragma once

#include "optable/table.h"

namespace optable {

void register_unary();
void register_special();
void register_parts();
void register_activation();
void register_binary();
void register_division();
void register_compare();
void register_numbers();
void register_reduce();
void register_statistics();
void register_softmax();
void register_scan();
void register_calculus();
void register_sort();
void register_histograms();
void register_views();
void register_join();
void register_rearrange();
void register_pad();
void register_index();
void register_mask();
void register_segments();
void register_linalg();
void register_decomposition();
void register_roots();
void register_solve();
void register_matrix();
void register_attention();
void register_rnn();
void register_packing();
void register_conv();
void register_pool();
void register_norm();
void register_loss();
void register_copy();
void register_creation();
void register_windows();
void register_random();
void register_counts();
void register_functional();
void register_bessel_and_divisors();
void register_parts_of_tensors();
void register_transformer();

}  // namespace optable
