// Functions that nvcc's code calls before main(), or as the plugin is loaded: they name the fat binaries and
// their kernels. The toolkit declares them in crt/host_runtime.h, which only nvcc can read.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "cuda/ptx/runtime/fat_binary.h"
#include "cuda/ptx/runtime/kernels.h"

using ebb::ptx::FatBinary;

extern "C" {

// The handle of a fat binary is its address here. It is never freed: kernels of static storage may run late.
void** __cudaRegisterFatBinary(void* wrapper) {
  try {
    return reinterpret_cast<void**>(new FatBinary(wrapper));
  } catch (const std::exception& error) {  // no caller could catch it
    std::fprintf(stderr, "ptx: %s\n", error.what());
    std::abort();
  }
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }

void __cudaRegisterFunction(void** binary, const char* host, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  ebb::ptx::add_kernel(host, name, *reinterpret_cast<FatBinary*>(binary));
}

// Variables of the device that the host never names: the interpreter makes them as it loads their module.
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}

}  // extern "C"
