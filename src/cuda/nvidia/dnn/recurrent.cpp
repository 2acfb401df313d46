// Recurrent layers with cuDNN: descriptors, parameter offsets, and the calls that compute them. Since cuDNN
// 8.9.1, the sequence lengths in the descriptors are sufficient, so the lengths are not passed in device
// memory.
#include "cuda/nvidia/dnn/recurrent.h"

#include <ebb/cuda/cuda.h>

namespace ebb::cuda::dnn {
namespace {

constexpr int kLayers = 1;

int as_int(std::int64_t n) { return static_cast<int>(n); }

cudnnDataType_t type_of(DType dtype) {
  switch (dtype) {
    case kDouble:
      return CUDNN_DATA_DOUBLE;
    case kHalf:
      return CUDNN_DATA_HALF;
    case kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return CUDNN_DATA_FLOAT;
  }
}

cudnnRNNMode_t mode_of(DnnCell cell) {
  switch (cell) {
    case DnnCell::relu:
      return CUDNN_RNN_RELU;
    case DnnCell::lstm:
      return CUDNN_LSTM;
    case DnnCell::gru:
      return CUDNN_GRU;
    default:
      return CUDNN_RNN_TANH;
  }
}

int gates_of(DnnCell cell) { return cell == DnnCell::lstm ? 4 : cell == DnnCell::gru ? 3 : 1; }

bool has_projection(const DnnRnn& l) { return l.projected < l.hidden; }

// Returns the math type. 16-bit types use tensor cores and are summed in float. Float uses tensor cores only
// if TF32 is allowed.
cudnnMathType_t math_of(DType dtype) {
  if (dtype == kHalf || dtype == kBFloat16) return CUDNN_TENSOR_OP_MATH;
  return is_tf32_allowed() ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
}

void describe_layer(const RnnDescriptor& d, const DnnRnn& l) {
  check(library().set_rnn(
            d.raw(), algorithm_of(l), mode_of(l.cell), l.biases ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
            l.directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT,
            type_of(l.dtype), l.dtype == kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, math_of(l.dtype),
            as_int(l.features), as_int(l.hidden), as_int(l.projected), kLayers,
            nullptr,  // ebb applies dropout between the layers itself
            l.is_even() ? CUDNN_RNN_PADDED_IO_ENABLED : CUDNN_RNN_PADDED_IO_DISABLED),
        "cudnnSetRNNDescriptor_v8");
}

// If all sequences have the same length, the padded and the packed layout are equal. The rows are then
// described as padded, because the algorithm for small layers accepts no other layout.
void describe_rows(const RnnDataDescriptor& d, const DnnRnn& l, std::int64_t width) {
  const auto layout =
      l.is_even() ? CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED : CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
  check(library().set_rnn_data(d.raw(), type_of(l.dtype), layout, as_int(l.steps()), as_int(l.batch()),
                               as_int(width), l.lengths.data(), nullptr),
        "cudnnSetRNNDataDescriptor");
}

void describe_states(const TensorDescriptor& d, const DnnRnn& l, std::int64_t width) {
  const int sizes[] = {as_int(l.directions), as_int(l.batch()), as_int(width)};
  const int strides[] = {sizes[1] * sizes[2], sizes[2], 1};
  check(library().set_tensor(d.raw(), type_of(l.dtype), 3, sizes, strides), "cudnnSetTensorNdDescriptor");
}

// The offset of a part of the parameters, or -1, and its size in bytes.
struct Piece {
  std::int64_t place = -1, bytes = 0;
};

// Queries the weight and the bias of each gate.
class Gates {
 public:
  Gates(cudnnHandle_t handle, const DnnRnn& l, const Recurrent& r, std::size_t bytes)
      : handle_(handle), layer_(r.layer.raw()), bytes_(bytes), element_(element_size(l.dtype)) {}

  std::pair<Piece, Piece> of(int direction, int id) const {
    void *weight = nullptr, *bias = nullptr;
    check(library().rnn_weight_params(handle_, layer_, direction, bytes_, kBase, id, weight_.raw(), &weight,
                                      bias_.raw(), &bias),
          "cudnnGetRNNWeightParams");
    return {piece(weight_, weight), piece(bias_, bias)};
  }

 private:
  // A base address to which the library adds the offsets. It is never accessed.
  static inline const char* const kBase = reinterpret_cast<const char*>(std::uintptr_t{4096});

  Piece piece(const TensorDescriptor& d, const void* address) const {
    if (!address) return {};
    cudnnDataType_t type{};
    int dims = 0, sizes[3] = {}, strides[3] = {};
    check(library().get_tensor(d.raw(), 3, &type, &dims, sizes, strides), "cudnnGetTensorNdDescriptor");
    std::int64_t bytes = element_;
    for (int i = 0; i < dims; ++i) bytes *= sizes[i];
    return {static_cast<const char*>(address) - kBase, bytes};
  }

  cudnnHandle_t handle_;
  cudnnRNNDescriptor_t layer_;
  std::size_t bytes_;
  std::int64_t element_;
  TensorDescriptor weight_, bias_;
};

// Appends a gate's part, `next`, to the parts of the previous gates. Returns false if `next` is not adjacent
// to them.
bool append(Piece& all, const Piece& next) {
  if (next.place < 0 || (all.place >= 0 && next.place != all.place + all.bytes)) return false;
  if (all.place < 0) all.place = next.place;
  all.bytes += next.bytes;
  return true;
}

}  // namespace

cudnnRNNAlgo_t algorithm_of(const DnnRnn& l) {
  if (!l.is_even() || !l.biases || l.dtype == kDouble || has_projection(l)) return CUDNN_RNN_ALGO_STANDARD;
  // For float, the algorithm for small layers has errors of up to 2^-11, like TF32, whatever the math type
  // is. It is therefore used only if TF32 is allowed.
  if (l.dtype == kFloat && !is_tf32_allowed()) return CUDNN_RNN_ALGO_STANDARD;
  const bool gated = l.cell == DnnCell::lstm || l.cell == DnnCell::gru;
  const std::int64_t most = l.training ? (gated ? 128 : 256) : (gated ? 192 : 384);
  return l.hidden <= most ? CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H : CUDNN_RNN_ALGO_STANDARD;
}

Recurrent::Recurrent(const DnnRnn& l) {
  describe_layer(layer, l);
  describe_rows(rows, l, l.features);
  describe_rows(result, l, l.directions * l.projected);
  describe_states(hidden, l, l.projected);
  describe_states(cell, l, l.hidden);
}

std::optional<DnnRnnSpaces> places_of(cudnnHandle_t handle, const DnnRnn& l, const Recurrent& r) {
  std::size_t bytes = 0;
  check(library().rnn_weight_space_size(handle, r.layer.raw(), &bytes), "cudnnGetRNNWeightSpaceSize");
  DnnRnnSpaces spaces;
  spaces.parameters = static_cast<std::int64_t>(bytes);
  const Gates ask(handle, l, r, bytes);
  const int gates = gates_of(l.cell);
  std::int64_t taken = 0;
  for (int d = 0; d < l.directions; ++d) {
    Piece parameters[5];  // w_ih, w_hh, b_ih, b_hh, w_hr
    for (int id = 0; id < 2 * gates; ++id) {
      const auto [weight, bias] = ask.of(d, id);
      const int side = id / gates;  // 0: weights of the input, 1: weights of the hidden state
      if (!append(parameters[side], weight) || (l.biases && !append(parameters[2 + side], bias))) return {};
    }
    if (has_projection(l)) parameters[4] = ask.of(d, 2 * gates).first;
    for (int i = 0; i < 5; ++i) {
      spaces.place[d][i] = parameters[i].place;
      taken += parameters[i].bytes;
    }
  }
  if (taken != spaces.parameters) return {};
  return spaces;
}

namespace {

constexpr const std::int32_t* kNoLengths = nullptr;

cudnnForwardMode_t mode_of(const DnnRnn& l) {
  return l.training ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE;
}

cudnnTensorDescriptor_t cell_of(const DnnRnn& l, const Recurrent& r) {
  return l.cell == DnnCell::lstm ? r.cell.raw() : nullptr;
}

void* data_of(const NdArray& x) { return x.defined() ? x.address() : nullptr; }

std::size_t bytes_of(const NdArray& x) { return x.defined() ? static_cast<std::size_t>(x.numel()) : 0; }

}  // namespace

RnnTempSpace temp_space_of(cudnnHandle_t handle, const DnnRnn& l, const Recurrent& r) {
  RnnTempSpace space;
  check(library().rnn_temp_space_sizes(handle, r.layer.raw(), mode_of(l), r.rows.raw(), &space.work,
                                       l.training ? &space.kept : nullptr),
        "cudnnGetRNNTempSpaceSizes");
  return space;
}

void run_forward(cudnnHandle_t handle, const DnnRnn& l, const Recurrent& r, const DnnRnnArrays& a,
                 const NdArray& last_hidden, const NdArray& last_cell, const NdArray& work) {
  check(library().rnn_forward(handle, r.layer.raw(), mode_of(l), kNoLengths, r.rows.raw(), a.rows.address(),
                              r.result.raw(), a.result.address(), r.hidden.raw(), a.hidden.address(),
                              last_hidden.address(), cell_of(l, r), data_of(a.cell), data_of(last_cell),
                              bytes_of(a.parameters), a.parameters.address(), bytes_of(work), work.address(),
                              bytes_of(a.kept), data_of(a.kept)),
        "cudnnRNNForward");
}

void run_backward(cudnnHandle_t handle, const DnnRnn& l, const Recurrent& r, const DnnRnnArrays& a,
                  const DnnRnnGrads& g, const NdArray& work) {
  check(library().rnn_backward_data(handle, r.layer.raw(), kNoLengths, r.result.raw(), a.result.address(),
                                    g.result.address(), r.rows.raw(), g.drows.address(), r.hidden.raw(),
                                    a.hidden.address(), g.last_hidden.address(), g.dhidden.address(),
                                    cell_of(l, r), data_of(a.cell), data_of(g.last_cell), data_of(g.dcell),
                                    bytes_of(a.parameters), a.parameters.address(), bytes_of(work),
                                    work.address(), bytes_of(a.kept), data_of(a.kept)),
        "cudnnRNNBackwardData_v8");
}

void run_backward_to_parameters(cudnnHandle_t handle, const Recurrent& r, const DnnRnnArrays& a,
                                const NdArray& dparameters, const NdArray& work) {
  check(library().rnn_backward_weights(handle, r.layer.raw(), CUDNN_WGRAD_MODE_ADD, kNoLengths, r.rows.raw(),
                                       a.rows.address(), r.hidden.raw(), a.hidden.address(), r.result.raw(),
                                       a.result.address(), bytes_of(dparameters), dparameters.address(),
                                       bytes_of(work), work.address(), bytes_of(a.kept), data_of(a.kept)),
        "cudnnRNNBackwardWeights_v8");
}

}  // namespace ebb::cuda::dnn
