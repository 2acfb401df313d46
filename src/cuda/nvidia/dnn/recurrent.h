// Recurrent layers as cuDNN's functions for them take them. They are older than the graph API, which has
// none.
#pragma once

#include "cuda/nvidia/dnn/descriptor.h"
#include "kernel/cuda/dnn.h"

#include <optional>
#include <utility>

namespace ebb::cuda::dnn {

/// A descriptor of one type, made and destroyed by these functions of the library.
template <class T, auto kCreate, auto kDestroy>
class Owned {
 public:
  Owned() { check((library().*kCreate)(&raw_), "cudnnCreate...Descriptor"); }
  Owned(const Owned&) = delete;
  ~Owned() { (library().*kDestroy)(raw_); }
  T raw() const { return raw_; }

 private:
  T raw_ = nullptr;
};

using TensorDescriptor = Owned<cudnnTensorDescriptor_t, &Library::create_tensor, &Library::destroy_tensor>;
using RnnDescriptor = Owned<cudnnRNNDescriptor_t, &Library::create_rnn, &Library::destroy_rnn>;
using RnnDataDescriptor =
    Owned<cudnnRNNDataDescriptor_t, &Library::create_rnn_data, &Library::destroy_rnn_data>;

/// What calls for a layer are made of.
struct Recurrent {
  RnnDescriptor layer;
  RnnDataDescriptor rows, result;
  TensorDescriptor hidden, cell;

  explicit Recurrent(const DnnRnn& layer);
};

/// Both passes of a layer use one algorithm. That for small layers reads its parameters once for all steps;
/// how small depends on what a multiprocessor holds. These are the sizes that PyTorch uses it for.
cudnnRNNAlgo_t algorithm_of(const DnnRnn& layer);

/// Where the parameters lie, as the library says; none where it is not as ebb's parameters lie: the gates of
/// each one after another, in the same order, and nothing between. `handle` may be any that is not null.
std::optional<DnnRnnSpaces> places_of(cudnnHandle_t handle, const DnnRnn& layer, const Recurrent& r);

/// Scratch for a call, and what is kept in training, in bytes.
struct RnnTempSpace {
  std::size_t work = 0, kept = 0;
};
RnnTempSpace temp_space_of(cudnnHandle_t handle, const DnnRnn& layer, const Recurrent& r);

/// The passes of dnn_rnn() and dnn_rnn_backward(), the latter in two parts, of which that to the parameters
/// comes last. `work`, bytes, is scratch.
void run_forward(cudnnHandle_t handle, const DnnRnn& layer, const Recurrent& r, const DnnRnnArrays& arrays,
                 const NdArray& last_hidden, const NdArray& last_cell, const NdArray& work);
void run_backward(cudnnHandle_t handle, const DnnRnn& layer, const Recurrent& r, const DnnRnnArrays& arrays,
                  const DnnRnnGrads& grads, const NdArray& work);
void run_backward_to_parameters(cudnnHandle_t handle, const Recurrent& r, const DnnRnnArrays& arrays,
                                const NdArray& dparameters, const NdArray& work);

}  // namespace ebb::cuda::dnn
