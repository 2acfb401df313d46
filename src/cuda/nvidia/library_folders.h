// Folders of NVIDIA's libraries that the dynamic loader does not search.
#pragma once

#include <ebb/core/environment.h>

#include <dlfcn.h>

#include <string>
#include <vector>

namespace ebb::cuda {

/// Returns the folders in which to search for a library of NVIDIA, in this order: the folder of cuBLAS, which
/// is linked; the folder `wheel` of the same site-packages; the library folders of CUDA_PATH and CUDA_HOME.
/// Each folder ends with a slash.
inline std::vector<std::string> library_folders(const std::string& wheel) {
  std::vector<std::string> found;
  Dl_info info{};
  void* const blas = dlsym(RTLD_DEFAULT, "cublasLtCreate");
  if (blas && dladdr(blas, &info) && info.dli_fname) {
    const std::string path = info.dli_fname;
    const std::string folder = path.substr(0, path.find_last_of('/') + 1);
    if (!folder.empty()) {
      found.push_back(folder);
      // If cuBLAS is from a wheel, `folder` is site-packages/nvidia/<one>/lib/.
      found.push_back(folder + "../../" + wheel + "/lib/");
    }
  }
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char* root = ebb::detail::environment(variable))
      for (const char* folder : {"/lib64/", "/lib/"}) found.push_back(root + std::string(folder));
  return found;
}

}  // namespace ebb::cuda
