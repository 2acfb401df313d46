// A cuDNN library that is too old for ebb.
#include <cstddef>

extern "C" std::size_t cudnnGetVersion() { return 90700; }

#define EBB_NOTHING(name) \
  extern "C" int name() { return 1; }

EBB_NOTHING(cudnnGetErrorString)
EBB_NOTHING(cudnnGetLastErrorString)
EBB_NOTHING(cudnnCreate)
EBB_NOTHING(cudnnSetStream)
EBB_NOTHING(cudnnBackendCreateDescriptor)
EBB_NOTHING(cudnnBackendDestroyDescriptor)
EBB_NOTHING(cudnnBackendSetAttribute)
EBB_NOTHING(cudnnBackendGetAttribute)
EBB_NOTHING(cudnnBackendFinalize)
EBB_NOTHING(cudnnBackendExecute)
EBB_NOTHING(cudnnCreateTensorDescriptor)
EBB_NOTHING(cudnnDestroyTensorDescriptor)
EBB_NOTHING(cudnnSetTensorNdDescriptor)
EBB_NOTHING(cudnnGetTensorNdDescriptor)
EBB_NOTHING(cudnnCreateRNNDescriptor)
EBB_NOTHING(cudnnDestroyRNNDescriptor)
EBB_NOTHING(cudnnSetRNNDescriptor_v8)
EBB_NOTHING(cudnnCreateRNNDataDescriptor)
EBB_NOTHING(cudnnDestroyRNNDataDescriptor)
EBB_NOTHING(cudnnSetRNNDataDescriptor)
EBB_NOTHING(cudnnGetRNNWeightSpaceSize)
EBB_NOTHING(cudnnGetRNNWeightParams)
EBB_NOTHING(cudnnGetRNNTempSpaceSizes)
EBB_NOTHING(cudnnRNNForward)
EBB_NOTHING(cudnnRNNBackwardData_v8)
EBB_NOTHING(cudnnRNNBackwardWeights_v8)
