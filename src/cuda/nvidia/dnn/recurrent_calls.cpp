// The calls that compute recurrent layers. They get no lengths on the device: since cuDNN 8.9.1 those that
// descriptors have are enough.
#include "cuda/nvidia/dnn/recurrent.h"

namespace ebb::cuda::dnn {
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
