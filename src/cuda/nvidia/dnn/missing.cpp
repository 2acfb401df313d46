// Replacement of the interface to cuDNN in builds without cuDNN. Every function declines, so ebb's own
// kernels run.
#include "kernel/cuda/dnn.h"

namespace ebb::cuda {

bool dnn_is_there() { return false; }
bool dnn_is_used() { return false; }
bool dnn_convolve(const DnnConvolution&) { return false; }
std::int64_t dnn_most_elements() { return 0; }
bool dnn_batch_norm(const DnnBatchNorm&) { return false; }
bool dnn_batch_norm_backward(const DnnBatchNormBackward&) { return false; }
bool dnn_attention(const DnnAttention&) { return false; }
bool dnn_attention_backward(const DnnAttentionBackward&) { return false; }
std::optional<DnnRnnSpaces> dnn_rnn_spaces(const DnnRnn&) { return {}; }
bool dnn_rnn(const DnnRnn&, const DnnRnnArrays&, const NdArray&, const NdArray&) { return false; }
bool dnn_rnn_backward(const DnnRnn&, const DnnRnnArrays&, const DnnRnnGrads&) { return false; }

}  // namespace ebb::cuda
