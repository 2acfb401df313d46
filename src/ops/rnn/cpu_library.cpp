// The CPU has no library for recurrent layers: each direction goes by ebb's kernels.
#include "ops/rnn/kernels.h"

namespace ebb::cpu {

void rnn_layer(bool& done, ops::RnnOutput&, const ops::RnnLayer&, bool) { done = false; }

void rnn_layer_backward(bool& done, ops::RnnLayerGrads&, const ops::RnnOutput&, const ops::RnnOutput&,
                        const ops::RnnLayer&, bool) {
  done = false;
}

}  // namespace ebb::cpu
