// The families of rows.
#pragma once

#include "optable/table.h"

namespace optable {

void register_unary();
void register_activation();
void register_binary();
void register_reduce();
void register_softmax_scan_sort();
void register_shape();
void register_index();
void register_linalg();
void register_conv_pool();
void register_norm_loss();

}  // namespace optable
