// The list of families.
#include "optable/rows.h"

#include "optable/rows_layers.h"

namespace optable {

void register_all() {
  family("elementwise");
  register_unary();
  register_special();
  register_parts();
  register_activation();
  register_binary();
  register_division();
  register_compare();
  register_numbers();
  family("reduce");
  register_reduce();
  register_statistics();
  family("softmax");
  register_softmax();
  family("scan");
  register_scan();
  register_calculus();
  family("sort");
  register_sort();
  register_histograms();
  family("shape");
  register_views();
  register_join();
  register_rearrange();
  register_pad();
  family("index");
  register_index();
  register_mask();
  register_segments();
  family("linalg");
  register_linalg();
  family("decomposition");
  register_decomposition();
  register_roots();
  register_solve();
  register_matrix();
  family("attention");
  register_attention();
  family("rnn");
  register_rnn();
  register_packing();
  family("conv");
  register_conv();
  family("pool");
  register_pool();
  family("resample");
  register_resample();
  family("norm");
  register_norm();
  family("loss");
  register_loss();
  register_ctc();
  family("copy");
  register_copy();
  family("creation");
  register_creation();
  register_windows();
  family("random");
  register_random();
  register_counts();
  family("nn");
  register_functional();
  register_layer_functions();
  register_native();
  register_transformer();
  register_bessel_and_divisors();
  register_parts_of_tensors();
}

}  // namespace optable
