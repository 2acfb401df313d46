// cuDNN's functions, loaded at the first use. Programs that do not use cuDNN do not load it, and a machine
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
/// major version, or if a part is missing. The search order is: (1) the plugin's run path, LD_LIBRARY_PATH
/// and the system's path; (2) the folder of cuBLASLt; (3) a Python wheel next to the wheel of cuBLASLt; (4)
/// the toolkit in CUDA_PATH or CUDA_HOME.
const Library* find_library();

/// Returns the library, which must have been found before.
inline const Library& library() {
  static const Library& found = *find_library();
  return found;
}

/// Returns whether cuDNN's library for recurrent layers is in the folder of cuDNN. If it is missing, cuDNN
/// would end the program at the first recurrent layer.
bool has_recurrent_layers();

}  // namespace ebb::cuda::dnn
