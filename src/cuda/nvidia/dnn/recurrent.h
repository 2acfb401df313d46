// Recurrent layers through cuDNN's legacy functions, because the graph API does not support them.
#pragma once

#include "cuda/nvidia/dnn/descriptor.h"
#include "kernel/cuda/dnn.h"

#include <optional>
#include <utility>

namespace ebb::cuda::dnn {

/// Owns a descriptor of type T. kCreate and kDestroy are the members of Library that create and destroy it.
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

/// The descriptors for the calls of a layer.
struct Recurrent {
  RnnDescriptor layer;
  RnnDataDescriptor rows, result;
  TensorDescriptor hidden, cell;

  explicit Recurrent(const DnnRnn& layer);
};

/// Returns the algorithm for both passes of a layer. The algorithm for small layers reads the parameters only
/// once for all steps. The limits of its size are the same as in PyTorch; they depend on the memory of a
/// multiprocessor.
cudnnRNNAlgo_t algorithm_of(const DnnRnn& layer);

/// Returns the parameters' offsets as the library reports them. Returns no value if the library's layout
/// differs from ebb's, in which the gates of each parameter are contiguous and in the order of DnnCell.
/// `handle` may be any non-null handle.
std::optional<DnnRnnSpaces> places_of(cudnnHandle_t handle, const DnnRnn& layer, const Recurrent& r);

/// Sizes in bytes of the scratch memory of a call, and of the reserve space in training.
struct RnnTempSpace {
  std::size_t work = 0, kept = 0;
};
RnnTempSpace temp_space_of(cudnnHandle_t handle, const DnnRnn& layer, const Recurrent& r);

/// The passes of dnn_rnn() and dnn_rnn_backward(). The backward pass consists of run_backward() and then
/// run_backward_to_parameters(). `work` is an array of bytes, the scratch memory.
void run_forward(cudnnHandle_t handle, const DnnRnn& layer, const Recurrent& r, const DnnRnnArrays& arrays,
                 const NdArray& last_hidden, const NdArray& last_cell, const NdArray& work);
void run_backward(cudnnHandle_t handle, const DnnRnn& layer, const Recurrent& r, const DnnRnnArrays& arrays,
                  const DnnRnnGrads& grads, const NdArray& work);
void run_backward_to_parameters(cudnnHandle_t handle, const Recurrent& r, const DnnRnnArrays& arrays,
                                const NdArray& dparameters, const NdArray& work);

}  // namespace ebb::cuda::dnn
