// Kernels: registered by nvcc's code or compiled at run time, and launched through all launch functions.
#include "cuda/ptx/runtime/bridge.h"
#include "cuda/ptx/runtime/kernels.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>

// Functions that nvcc's code calls before main(), or when the plugin is loaded: they register the fat
// binaries and their kernels. The toolkit declares them in crt/host_runtime.h, which only nvcc can compile.

using ebb::ptx::FatBinary;

extern "C" {

// The handle of a fat binary is its address here. It is never freed, because kernels of static objects may
// run late.
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

// Device variables that the host never uses: the interpreter creates them when it loads their module.
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}

}  // extern "C"

// Run-time compiled kernels: the driver functions that load a library and launch its kernels. An image is the
// PTX from NVRTC.

namespace {

using namespace ebb::ptx;

// Never freed: ebb keeps run-time compiled kernels until the process ends.
struct JitLibrary {
  std::shared_ptr<Module> module;
};

CUresult load_data(CUlibrary* library, const void* image, CUjit_option*, void**, unsigned, CUlibraryOption*,
                   void**, unsigned) {
  try {
    *library = reinterpret_cast<CUlibrary>(new JitLibrary{load(static_cast<const char*>(image))});
    return CUDA_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ptx: a compiled kernel: %s\n", error.what());
    return CUDA_ERROR_INVALID_PTX;
  }
}

CUresult get_kernel(CUkernel* kernel, CUlibrary library, const char* name) {
  Entry* const entry = find_entry(*reinterpret_cast<JitLibrary*>(library)->module, name);
  if (!entry) return CUDA_ERROR_NOT_FOUND;
  *kernel = reinterpret_cast<CUkernel>(new Kernel(name, entry));
  return CUDA_SUCCESS;
}

CUresult launch_kernel(CUfunction kernel, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                       unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared_bytes,
                       CUstream stream, void** arguments, void**) {
  const Grid grid{{blocks_x, blocks_y, blocks_z}, {threads_x, threads_y, threads_z}, shared_bytes};
  return static_cast<CUresult>(launch(*reinterpret_cast<Kernel*>(kernel), grid, arguments, stream));
}

// Checks that a function pointer has the type of the driver function.
template <class F>
void* as(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void* ebb::ptx::find_library_function(const char* name) {
  static const std::map<std::string_view, void*> all = {
      {"cuLibraryLoadData", as<decltype(cuLibraryLoadData)>(&load_data)},
      {"cuLibraryGetKernel", as<decltype(cuLibraryGetKernel)>(&get_kernel)},
      {"cuLaunchKernel", as<decltype(cuLaunchKernel)>(&launch_kernel)}};
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

// Launches, through all functions that nvcc's code and the C++ API use.

namespace {

using namespace ebb::ptx;

struct Configuration {
  dim3 blocks, threads;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

// The configuration between the two calls that nvcc generates for <<<>>>.
thread_local Configuration pushed;

Extent extent(const dim3& d) { return {d.x, d.y, d.z}; }

cudaError_t launch(const void* host_or_kernel, const Configuration& c, void** arguments) {
  Kernel* const kernel = find_kernel(host_or_kernel);
  if (!kernel) return static_cast<cudaError_t>(set_error(cudaErrorInvalidDeviceFunction));
  const Grid grid{extent(c.blocks), extent(c.threads), c.shared_bytes};
  return static_cast<cudaError_t>(ebb::ptx::launch(*kernel, grid, arguments, c.stream));
}

}  // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, std::size_t shared_bytes,
                                     CUstream_st* stream) {
  pushed = {blocks, threads, shared_bytes, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* blocks, dim3* threads, std::size_t* shared_bytes, void* stream) {
  *blocks = pushed.blocks;
  *threads = pushed.threads;
  *shared_bytes = pushed.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = pushed.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = reinterpret_cast<cudaKernel_t>(find_kernel(host));
  return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 blocks, dim3 threads, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  return launch(kernel, {blocks, threads, shared_bytes, stream}, arguments);
}

cudaError_t cudaLaunchKernel(const void* host, dim3 blocks, dim3 threads, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return launch(host, {blocks, threads, shared_bytes, stream}, arguments);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* c, const void* host, void** arguments) {
  if (c->numAttrs > 0)  // clusters and similar attributes
    return static_cast<cudaError_t>(set_error(cudaErrorNotSupported));
  return launch(host, {c->gridDim, c->blockDim, c->dynamicSmemBytes, c->stream}, arguments);
}

}  // extern "C"
