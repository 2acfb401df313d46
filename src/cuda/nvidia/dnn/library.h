// cuDNN's functions, loaded at the first use. Programs that do not use them load nothing, and a machine
// without cuDNN can run everything else.
#pragma once

#include <cudnn_adv.h>

namespace ebb::cuda::dnn {

struct Library {
  decltype(&cudnnGetVersion) version;
  decltype(&cudnnGetErrorString) error_string;
  decltype(&cudnnGetLastErrorString) last_error_string;
  decltype(&cudnnCreate) create;
  decltype(&cudnnSetStream) set_stream;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor;
  decltype(&cudnnBackendDestroyDescriptor) destroy_descriptor;
  decltype(&cudnnBackendSetAttribute) set_attribute;
  decltype(&cudnnBackendGetAttribute) get_attribute;
  decltype(&cudnnBackendFinalize) finalize;
  decltype(&cudnnBackendExecute) execute;

  // For recurrent layers, which the graph API does not support.
  decltype(&cudnnCreateTensorDescriptor) create_tensor;
  decltype(&cudnnDestroyTensorDescriptor) destroy_tensor;
  decltype(&cudnnSetTensorNdDescriptor) set_tensor;
  decltype(&cudnnGetTensorNdDescriptor) get_tensor;
  decltype(&cudnnCreateRNNDescriptor) create_rnn;
  decltype(&cudnnDestroyRNNDescriptor) destroy_rnn;
  decltype(&cudnnSetRNNDescriptor_v8) set_rnn;
  decltype(&cudnnCreateRNNDataDescriptor) create_rnn_data;
  decltype(&cudnnDestroyRNNDataDescriptor) destroy_rnn_data;
  decltype(&cudnnSetRNNDataDescriptor) set_rnn_data;
  decltype(&cudnnGetRNNWeightSpaceSize) rnn_weight_space_size;
  decltype(&cudnnGetRNNWeightParams) rnn_weight_params;
  decltype(&cudnnGetRNNTempSpaceSizes) rnn_temp_space_sizes;
  decltype(&cudnnRNNForward) rnn_forward;
  decltype(&cudnnRNNBackwardData_v8) rnn_backward_data;
  decltype(&cudnnRNNBackwardWeights_v8) rnn_backward_weights;
};

/// Returns the library, loaded once. Returns null if there is none, if it is older than 9.8 or of another
/// major version, or if a part is missing. The search order is: the plugin's run path, LD_LIBRARY_PATH and
/// the system's path; the folder of cuBLASLt; a Python wheel next to the wheel of cuBLASLt; the toolkit that
/// CUDA_PATH or CUDA_HOME names.
const Library* find_library();

/// Returns the library, which must have been found before.
inline const Library& library() {
  static const Library& found = *find_library();
  return found;
}

/// Returns whether the part for recurrent layers is in the same folder. Without it, cuDNN would end the
/// program when it needs that part.
bool has_recurrent_layers();

}  // namespace ebb::cuda::dnn
