// Whether the plugin's kernels run on a device.
#include "cuda/architectures.h"
#include "cuda/runtime.h"

namespace ebb::cuda {
namespace {

#if !defined(EBB_CUDA_ARCHITECTURES)
#define EBB_CUDA_ARCHITECTURES "90-real"  // the emulation, whose devices are of 90 unless told otherwise
#endif

std::string why_none_for(int device) {
  const cudaDeviceProp& p = properties_of(device);
  if (has_kernels_for(EBB_CUDA_ARCHITECTURES, p.major, p.minor)) return {};
  const std::string own = std::to_string(p.major) + std::to_string(p.minor);
  return "it was built for the architectures " EBB_CUDA_ARCHITECTURES ", and cuda:" + std::to_string(device) +
         " (" + p.name + ") is of " + own + ". Build it with -DCMAKE_CUDA_ARCHITECTURES=" + own +
         ", or choose other devices by CUDA_VISIBLE_DEVICES.";
}

}  // namespace

std::string why_not_used(int device) {
  // Never destroyed: tensors in static storage are freed after everything else.
  static const std::vector<std::string>& all = *[] {
    auto* const reasons = new std::vector<std::string>;
    for (int i = 0; i < visible_devices(); ++i) reasons->push_back(why_none_for(i));
    return reasons;
  }();
  properties_of(device);  // throws for a device that is not there
  return all[static_cast<std::size_t>(device)];
}

}  // namespace ebb::cuda
