// What a library does for neural networks: cuDNN where the build and the machine have it and
// cuda::is_cudnn_enabled(), else nobody. Every function runs on the device's current stream, or returns
// false, with nothing done, where the library has no algorithm; the caller's own kernels then compute. Arrays
// are (rows, channels, spatial...) of one floating dtype, dense, all contiguous or all channels-last. 16-bit
// floats are summed in float.
#pragma once

#include <ebb/core/environment.h>
#include <ebb/core/ndarray.h>

#include <optional>
#include <string_view>

namespace ebb::cuda {

/// Whether EBB_CUDNN=0 in the environment forbids the library, as if the machine had none.
inline bool is_dnn_forbidden() {
  static const bool forbidden = [] {
    const char* value = ebb::detail::environment("EBB_CUDNN");
    return value && std::string_view(value) == "0";
  }();
  return forbidden;
}
/// Whether there is a library that may be asked; loads it.
bool dnn_is_there();
/// The same, and cuda::is_cudnn_enabled(): worth preparing arrays for.
bool dnn_is_used();

enum class DnnConv : std::uint8_t { forward, input, weight };

/// out = conv(in, weight), or one of its transposes: `kind` names the array that is written. One to three
/// spatial axes. The number of groups follows from the shapes.
struct DnnConvolution {
  DnnConv kind = DnnConv::forward;
  const NdArray& in;
  const NdArray& weight;
  const NdArray& out;
  IntArrayRef stride, padding, dilation;  // one value an axis
  const NdArray* bias = nullptr;          // with forward: added to out, a value a channel
  bool relu = false;                      // with forward and bias: and what is below 0 becomes 0
};

/// Float is summed in float unless cuda::is_tf32_allowed(). No array may have more than dnn_most_elements().
bool dnn_convolve(const DnnConvolution& convolution);
std::int64_t dnn_most_elements();

/// out = (in - mean) rstd weight + bias, where mean and rstd = 1 / sqrt(biased variance + eps) of each
/// channel are computed and written too. No or up to three spatial axes; weight, bias, mean and rstd are
/// Float.
struct DnnBatchNorm {
  const NdArray& in;
  const NdArray& out;
  const NdArray &mean, &rstd;
  const NdArray &weight, &bias;
  float eps = 0;
};

bool dnn_batch_norm(const DnnBatchNorm& norm);

/// The gradients of that: din, and dweight and dbias (Float) of each channel, all of which are written.
struct DnnBatchNormBackward {
  const NdArray& in;
  const NdArray& dout;
  const NdArray &mean, &rstd, &weight;  // Float
  const NdArray& din;
  const NdArray &dweight, &dbias;  // Float
};

bool dnn_batch_norm_backward(const DnnBatchNormBackward& norm);

/// result = softmax(query key^T scale) value, and log_sum, the natural logarithm of the sum of the
/// exponentials of each row's scores. query and result are (N, H, L, .), key and value (N, H / g, S, .),
/// where g neighbouring heads of query share one; all of one 16-bit dtype; query, key and value in any
/// strides but 1 along the last dimension, all else contiguous; log_sum is Float, (N, H, L). Causal: a query
/// sees the keys up to its own number.
struct DnnAttention {
  const NdArray &query, &key, &value;
  const NdArray& result;
  const NdArray& log_sum;
  float scale = 1;
  bool causal = false;
};

bool dnn_attention(const DnnAttention& attention);

/// The gradients of that, contiguous, all three written. query_sum (as query, contiguous) and delta (as
/// log_sum) are Float and scratch. query_sum must be zero: the library's engines add to it by atomics.
struct DnnAttentionBackward {
  const DnnAttention& forward;
  const NdArray& grad;
  const NdArray &dquery, &dkey, &dvalue;
  const NdArray &query_sum, &delta;
};

bool dnn_attention_backward(const DnnAttentionBackward& attention);

/// What a recurrent layer is made of; the gates of an LSTM are i f g o, those of a GRU r z n, whose reset
/// comes after the product.
enum class DnnCell : std::uint8_t { tanh, relu, lstm, gru };

/// A recurrent layer in one direction or both, over sequences that lie step by step, the longest first: step
/// t is a row of each sequence that is longer than t, and both directions' results lie side by side in a row.
struct DnnRnn {
  DnnCell cell = DnnCell::tanh;
  DType dtype = kFloat;
  Device device;
  std::int64_t directions = 1;
  std::int64_t features = 0, hidden = 0, projected = 0;  // projected: less than hidden with a projection
  bool biases = true;
  bool training = false;           // a backward follows
  ArrayRef<std::int32_t> lengths;  // of each sequence

  std::int64_t batch() const { return static_cast<std::int64_t>(lengths.size()); }
  std::int64_t steps() const { return lengths[0]; }
  bool is_even() const { return lengths.front() == lengths.back(); }
};

/// The memory of a layer besides its arrays, in bytes: all parameters, of which w_ih, w_hh, b_ih, b_hh and
/// w_hr of direction d, each contiguous, begin at place[d]; and, in training, what backward needs.
struct DnnRnnSpaces {
  std::int64_t parameters = 0, kept = 0;
  std::int64_t place[2][5] = {};
};

/// None where the library does not compute such layers.
std::optional<DnnRnnSpaces> dnn_rnn_spaces(const DnnRnn& layer);

/// Arrays of a layer, contiguous: rows (rows, features), the first states (directions, batch, projected), an
/// LSTM's cells (directions, batch, hidden), else undefined; the result (rows, directions * projected).
/// `parameters` and `kept` are bytes as dnn_rnn_spaces() says; the latter is written in training.
struct DnnRnnArrays {
  const NdArray &rows, &hidden, &cell;
  const NdArray& parameters;
  const NdArray& result;
  const NdArray& kept;
};

/// Writes the result and the last states.
bool dnn_rnn(const DnnRnn& layer, const DnnRnnArrays& arrays, const NdArray& last_hidden,
             const NdArray& last_cell);

/// Gradients of the result and the last states, and those of what the layer reads, which are written, but for
/// dparameters: added to, and left alone where undefined. What was kept is spoilt.
struct DnnRnnGrads {
  const NdArray &result, &last_hidden, &last_cell;
  const NdArray &drows, &dhidden, &dcell;
  const NdArray& dparameters;
};

bool dnn_rnn_backward(const DnnRnn& layer, const DnnRnnArrays& arrays, const DnnRnnGrads& grads);

}  // namespace ebb::cuda
