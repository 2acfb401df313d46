// A cuDNN that is older than ebb can use.
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
