// Kernels that are made at run time: the driver's functions that load a library and launch what is in it. An
// image is the PTX that NVRTC wrote.
#include <cuda.h>

#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "cuda/ptx/runtime/bridge.h"
#include "cuda/ptx/runtime/kernels.h"

namespace {

using namespace ebb::ptx;

// Never freed: ebb keeps its made kernels as long as the process.
struct MadeLibrary {
  std::shared_ptr<Module> module;
};

CUresult load_data(CUlibrary* library, const void* image, CUjit_option*, void**, unsigned, CUlibraryOption*,
                   void**, unsigned) {
  try {
    *library = reinterpret_cast<CUlibrary>(new MadeLibrary{load(static_cast<const char*>(image))});
    return CUDA_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ptx: a made kernel: %s\n", error.what());
    return CUDA_ERROR_INVALID_PTX;
  }
}

CUresult get_kernel(CUkernel* kernel, CUlibrary library, const char* name) {
  Entry* const entry = find_entry(*reinterpret_cast<MadeLibrary*>(library)->module, name);
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

// A pointer to what must have the type of the driver's function.
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
