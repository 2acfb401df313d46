// What the CUDA plugin asks of the family.
#pragma once

#include "ops/rnn/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::rnn_forward) rnn_forward;
decltype(ebb::cpu::rnn_backward) rnn_backward;
decltype(ebb::cpu::rnn_layer) rnn_layer;
decltype(ebb::cpu::rnn_layer_backward) rnn_layer_backward;
/// Fills the family's kernel slots.
void register_rnn();

}  // namespace ebb::cuda
