// Where the build found no cuDNN: ebb's own kernels do it all.
#include "kernel/cuda/dnn.h"

namespace ebb::cuda {

bool dnn_is_there() { return false; }
bool dnn_is_used() { return false; }
bool dnn_convolve(const DnnConvolution&) { return false; }
bool dnn_batch_norm(const DnnBatchNorm&) { return false; }
bool dnn_batch_norm_backward(const DnnBatchNormBackward&) { return false; }
bool dnn_pool(const DnnPooling&) { return false; }
bool dnn_attention(const DnnAttention&) { return false; }
bool dnn_attention_backward(const DnnAttentionBackward&) { return false; }

}  // namespace ebb::cuda
