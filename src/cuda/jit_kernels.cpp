// Kernels compiled at run time. A kernel is looked up in memory, then in the cache files. If neither contains
// it, it is compiled.
#include "cuda/jit_kernels.h"

#include <ebb/core/error.h>
#include <ebb/core/warning.h>

#include "cuda/cache_files.h"

#include <map>
#include <mutex>
#include <utility>

namespace ebb::cuda {
namespace {

using Kernel = std::shared_ptr<const ebb::detail::JitKernel>;

struct Known {
  std::mutex mutex;
  std::map<std::pair<int, std::string>, Kernel> kernels;  // key: device and source; null: compilation failed
  bool warned = false;
};

Known& known() {
  static Known* const all = new Known;  // never destroyed, because functions in static variables may use it
  return *all;
}

Kernel make(Device device, const std::string& source) {
  const std::string key = compiler_for(device) + '\n' + digest_of_headers() + '\n' + source;
  CacheFiles files(kernel_folder(), "kernel");
  if (const std::optional<std::string> image = files.load(key)) {
    try {
      return load_kernel(device, *image);
    } catch (const Error&) {
      files.remove(key);
    }
  }
  const std::string image = compile_kernel(device, source);
  Kernel kernel = load_kernel(device, image);
  files.save(key, image);
  return kernel;
}

}  // namespace

Kernel make_kernel(Device device, const std::string& source) {
  std::string problem;
  {
    const std::lock_guard lock(known().mutex);
    const auto [at, is_new] = known().kernels.try_emplace({static_cast<int>(device.index()), source});
    if (!is_new) return at->second;
    try {
      return at->second = make(device, source);
    } catch (const Error& error) {
      if (!std::exchange(known().warned, true)) problem = error.what();
    }
  }
  if (!problem.empty())
    warn("compile: elementwise calls on ", device, " are not fused: ", problem,
         " EBB_FUSE=0 in the environment turns fusing off.");
  return nullptr;
}

}  // namespace ebb::cuda
