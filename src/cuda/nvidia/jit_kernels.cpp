// Kernels compiled by NVRTC, loaded and launched through the driver.
#include "cuda/jit_kernels.h"

#include <ebb/core/error.h>

#include "cuda/driver_entry.h"
#include "cuda/nvidia/nvrtc.h"
#include "cuda/runtime.h"

namespace ebb::cuda {
namespace {

constexpr int kMajor = CUDART_VERSION / 1000;

int architecture_of(Device device) {
  const cudaDeviceProp& properties = properties_of(device.index());
  return properties.major * 10 + properties.minor;
}

struct Driver {
  decltype(&cuGetErrorString) error_string = nullptr;
  decltype(&cuLibraryLoadData) load = nullptr;
  decltype(&cuLibraryGetKernel) kernel = nullptr;
  decltype(&cuLaunchKernel) launch = nullptr;

  void check(CUresult error, const char* what) const {
    if (error == CUDA_SUCCESS) return;
    const char* words = nullptr;
    error_string(error, &words);
    ebb::detail::fail("CUDA: ", what, " failed: ", words ? words : "unknown error", " (",
                      static_cast<int>(error), ").");
  }
};

const Driver& driver() {
  static const Driver found = [] {
    Driver d;
    const bool complete =
        find_in_driver(d.error_string, "cuGetErrorString") && find_in_driver(d.load, "cuLibraryLoadData") &&
        find_in_driver(d.kernel, "cuLibraryGetKernel") && find_in_driver(d.launch, "cuLaunchKernel");
    EBB_CHECK(complete,
              "CUDA: the driver cannot load kernels that are compiled at run time. Update the driver.");
    return d;
  }();
  return found;
}

class LoadedKernel final : public ebb::detail::JitKernel {
 public:
  LoadedKernel(Device device, CUkernel kernel) : device_(device), kernel_(kernel) {}

  void launch(unsigned blocks, unsigned threads, const void* argument, std::size_t) const override {
    const DeviceScope scope(device_);
    void* arguments[] = {const_cast<void*>(argument)};
    driver().check(driver().launch(reinterpret_cast<CUfunction>(kernel_), blocks, 1, 1, threads, 1, 1, 0,
                                   current_stream(device_), arguments, nullptr),
                   "launching a compiled kernel");
  }

 private:
  Device device_;
  CUkernel kernel_;
};

}  // namespace

std::string compiler_for(Device device) { return nvrtc_stamp(kMajor, architecture_of(device)); }

std::string compile_kernel(Device device, const std::string& source) {
  return compile_by_nvrtc(kMajor, architecture_of(device), source);
}

std::shared_ptr<const ebb::detail::JitKernel> load_kernel(Device device, const std::string& image) {
  const DeviceScope scope(device);
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  driver().check(driver().load(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                 "loading a compiled kernel");
  driver().check(driver().kernel(&kernel, library, "jit_kernel"), "finding a compiled kernel");
  return std::make_shared<LoadedKernel>(device, kernel);
}

}  // namespace ebb::cuda
