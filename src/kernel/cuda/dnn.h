// Interface to cuDNN. It is used if the build and the machine have it and cuda::is_cudnn_enabled() returns
// true. Each function runs on the device's current stream. If the library has no algorithm, the function
// returns false without any effect, and the caller's own kernels compute the result. Unless stated otherwise,
// arrays are (rows, channels, spatial...), dense, and of the same floating dtype; they are either all
// contiguous or all channels-last. 16-bit floats are summed in float.
#pragma once

#include <ebb/core/environment.h>
#include <ebb/core/ndarray.h>

#include <optional>
#include <string_view>

namespace ebb::cuda {

/// Returns whether EBB_CUDNN=0 is set, which disables the library as if it were not installed.
inline bool is_dnn_forbidden() {
  static const bool forbidden = [] {
    const char* value = ebb::detail::environment("EBB_CUDNN");
    return value && std::string_view(value) == "0";
  }();
  return forbidden;
}
/// Loads the library and returns whether it is available.
bool dnn_is_there();
/// Returns whether the library is available and enabled (cuda::is_cudnn_enabled()). If so, callers may
/// convert arrays to the layouts that the library accepts.
bool dnn_is_used();

enum class DnnConv : std::uint8_t { forward, input, weight };

/// The arguments of a convolution, out = conv(in, weight), or of its derivative with respect to `in` or
/// `weight`. `kind` is the array that is computed; the other two are read. There are one to three spatial
/// axes. The number of groups follows from the shapes.
struct DnnConvolution {
  DnnConv kind = DnnConv::forward;
  const NdArray& in;
  const NdArray& weight;
  const NdArray& out;
  IntArrayRef stride, padding, dilation;  // one value per axis
  const NdArray* bias = nullptr;          // only for kind forward: one value per channel, added to out
  bool relu = false;                      // only for kind forward with a bias: apply relu to out
};

/// Computes a convolution. Float is summed in float unless cuda::is_tf32_allowed(). No array may have more
/// than dnn_most_elements() elements.
bool dnn_convolve(const DnnConvolution& convolution);
std::int64_t dnn_most_elements();

/// Batch normalization: out = (in - mean) rstd weight + bias, with rstd = 1 / sqrt(biased variance + eps).
/// The mean and rstd of each channel are also written. There are zero to three spatial axes; weight, bias,
/// mean and rstd are Float.
struct DnnBatchNorm {
  const NdArray& in;
  const NdArray& out;
  const NdArray &mean, &rstd;
  const NdArray &weight, &bias;
  float eps = 0;
};

bool dnn_batch_norm(const DnnBatchNorm& norm);

/// The gradients of batch normalization. Writes din, and dweight and dbias (Float), which have one value per
/// channel.
struct DnnBatchNormBackward {
  const NdArray& in;
  const NdArray& dout;
  const NdArray &mean, &rstd, &weight;  // Float
  const NdArray& din;
  const NdArray &dweight, &dbias;  // Float
};

bool dnn_batch_norm_backward(const DnnBatchNormBackward& norm);

/// Scaled dot-product attention: result = softmax(query key^T scale) value. Also computes log_sum, the
/// natural logarithm of the sum of the exponentials of each row's scores. Shapes: `query` and `result` (N, H,
/// L, .); `key` and `value` (N, H / g, S, .), where g adjacent heads of query share one head of key and
/// value; `log_sum` (N, H, L). log_sum is Float; the others have the same 16-bit dtype. query, key and value
/// may have any strides with a last stride of 1; the other arrays are contiguous. If causal, query i uses the
/// keys 0 to i.
struct DnnAttention {
  const NdArray &query, &key, &value;
  const NdArray& result;
  const NdArray& log_sum;
  float scale = 1;
  bool causal = false;
};

bool dnn_attention(const DnnAttention& attention);

/// The gradients of attention. Writes dquery, dkey and dvalue, which are contiguous. `query_sum` (contiguous,
/// with the shape of query) and `delta` (with the shape of log_sum) are Float scratch memory. query_sum must
/// be zero, because cuDNN adds to it with atomics.
struct DnnAttentionBackward {
  const DnnAttention& forward;
  const NdArray& grad;
  const NdArray &dquery, &dkey, &dvalue;
  const NdArray &query_sum, &delta;
};

bool dnn_attention_backward(const DnnAttentionBackward& attention);

/// The cell of a recurrent layer. The order of the gates is i f g o for an LSTM, and r z n for a GRU, which
/// applies the reset gate r after the product.
enum class DnnCell : std::uint8_t { tanh, relu, lstm, gru };

/// A recurrent layer in one or two directions over packed sequences, which are sorted by decreasing length.
/// Step t consists of one row for each sequence that is longer than t. A result row contains both directions,
/// one after the other.
struct DnnRnn {
  DnnCell cell = DnnCell::tanh;
  DType dtype = kFloat;
  Device device;
  std::int64_t directions = 1;
  // With a projection, `projected` is less than `hidden`. Otherwise the two are equal.
  std::int64_t features = 0, hidden = 0, projected = 0;
  bool biases = true;
  bool training = false;           // a backward pass follows
  ArrayRef<std::int32_t> lengths;  // one per sequence

  std::int64_t batch() const { return static_cast<std::int64_t>(lengths.size()); }
  std::int64_t steps() const { return lengths[0]; }
  bool is_even() const { return lengths.front() == lengths.back(); }
};

/// The sizes of a layer's memory in bytes: all parameters (`parameters`) and, in training, the reserve space
/// for backward (`kept`). In direction d, the contiguous arrays w_ih, w_hh, b_ih, b_hh and w_hr begin at the
/// offsets place[d][0 .. 4].
struct DnnRnnSpaces {
  std::int64_t parameters = 0, kept = 0;
  std::int64_t place[2][5] = {};
};

/// Returns the sizes, or no value if the library does not support the layer.
std::optional<DnnRnnSpaces> dnn_rnn_spaces(const DnnRnn& layer);

/// The arrays of a layer, all contiguous. Shapes: `rows` (rows, features); `hidden`, the initial states,
/// (directions, batch, projected); `cell` (directions, batch, hidden), undefined unless the layer is an LSTM;
/// `result` (rows, directions * projected). `parameters` and `kept` have the sizes of
/// dnn_rnn_spaces(); `kept` is written in training.
struct DnnRnnArrays {
  const NdArray &rows, &hidden, &cell;
  const NdArray& parameters;
  const NdArray& result;
  const NdArray& kept;
};

/// Writes the result and the last states.
bool dnn_rnn(const DnnRnn& layer, const DnnRnnArrays& arrays, const NdArray& last_hidden,
             const NdArray& last_cell);

/// The gradients of a layer. Reads the gradients of the result and of the last states. Writes `drows`,
/// `dhidden` and `dcell`. Adds the gradients of the parameters to `dparameters`, unless it is undefined.
/// Overwrites the `kept` memory of the layer.
struct DnnRnnGrads {
  const NdArray &result, &last_hidden, &last_cell;
  const NdArray &drows, &dhidden, &dcell;
  const NdArray& dparameters;
};

bool dnn_rnn_backward(const DnnRnn& layer, const DnnRnnArrays& arrays, const DnnRnnGrads& grads);

}  // namespace ebb::cuda
