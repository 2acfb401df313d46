// A fake CUDA driver without a device, for programs that build plans and do not execute them. cuDNN compiles
// kernels when it builds a plan and loads them into the driver: this one accepts all and runs none. It has
// the functions that cuDNN 9.19 looks up in libcuda.so.1; functions that a plan needs succeed, and the others
// return that there is no device.

namespace {

constexpr int kSuccess = 0, kNoDevice = 100, kVersion = 13000;

int give(void** handle) {
  static char anything;
  *handle = &anything;
  return kSuccess;
}

}  // namespace

#define EBB_NO_DEVICE(name) \
  extern "C" int name() { return kNoDevice; }

extern "C" {
int cuDriverGetVersion(int* version) { return *version = kVersion, kSuccess; }
int cuCtxGetCurrent(void** context) { return *context = nullptr, kSuccess; }
int cuGetErrorName(int, const char** text) { return *text = "no device", kSuccess; }
int cuGetErrorString(int, const char** text) { return *text = "this driver has no device", kSuccess; }
int cuLibraryLoadData(void** library) { return give(library); }
int cuLibraryUnload(void*) { return kSuccess; }
int cuLibraryGetKernel(void** kernel) { return give(kernel); }
int cuKernelGetAttribute(int* value) { return *value = 0, kSuccess; }
}

EBB_NO_DEVICE(cuCtxGetLimit)
EBB_NO_DEVICE(cuCtxPopCurrent)
EBB_NO_DEVICE(cuCtxPushCurrent)
EBB_NO_DEVICE(cuDeviceGet)
EBB_NO_DEVICE(cuDeviceGetCount)
EBB_NO_DEVICE(cuInit)
EBB_NO_DEVICE(cuKernelSetAttribute)
EBB_NO_DEVICE(cuLaunchCooperativeKernel)
EBB_NO_DEVICE(cuLaunchKernel)
EBB_NO_DEVICE(cuLaunchKernelEx)
EBB_NO_DEVICE(cuLibraryLoadFromFile)
EBB_NO_DEVICE(cuLinkAddData)
EBB_NO_DEVICE(cuLinkComplete)
EBB_NO_DEVICE(cuLinkCreate)
EBB_NO_DEVICE(cuLinkDestroy)
EBB_NO_DEVICE(cuOccupancyMaxPotentialClusterSize)
EBB_NO_DEVICE(cuStreamGetCtx)
