// The list of families.
#include "optable/rows.h"

namespace optable {

void register_all() {
  register_unary();
  register_activation();
  register_binary();
  register_reduce();
  register_softmax_scan_sort();
  register_shape();
  register_index();
  register_linalg();
  register_conv_pool();
  register_norm_loss();
}

}  // namespace optable
