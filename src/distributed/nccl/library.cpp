// symbol: opens NCCL, and finds its functions.
#include "distributed/nccl/library.h"

#include "cuda/nvidia/library_folders.h"

#include <dlfcn.h>

namespace ebb::distributed::nccl {
namespace {

constexpr const char* kName = "libnccl.so.2";
constexpr int kOldest = 21800;

void* open() {
  void* library = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  const std::string reason = library ? "" : dlerror();
  for (const std::string& folder : cuda::library_folders("nccl"))
    if (!library) library = dlopen((folder + kName).c_str(), RTLD_NOW | RTLD_LOCAL);
  EBB_CHECK(library, "distributed::init: the backend \"nccl\" cannot open NCCL: ", reason,
            ". Install NCCL, and name its folder in LD_LIBRARY_PATH");
  const auto read = reinterpret_cast<decltype(&ncclGetVersion)>(dlsym(library, get_version.name));
  int version = 0;
  if (read) read(&version);
  EBB_CHECK(version >= kOldest, "distributed::init: the backend \"nccl\" needs ", kName, " of the version ",
            kOldest, " (2.18) or later, but it has ", version, ". Install a later version of NCCL");
  return library;
}

}  // namespace

void* symbol(const char* name) {
  static void* const library = open();
  void* const found = dlsym(library, name);
  EBB_CHECK(found, kName, " has no function ", name, ". Install a later version of NCCL");
  return found;
}

void check(ncclResult_t result, const char* name) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  const auto text = reinterpret_cast<decltype(&ncclGetErrorString)>(symbol("ncclGetErrorString"));
  const auto last = reinterpret_cast<decltype(&ncclGetLastError)>(symbol("ncclGetLastError"));
  ebb::detail::fail(name, " failed: ", text(result), " (", last(nullptr),
                    "). A rank may be gone; NCCL_DEBUG=WARN tells more");
}

}  // namespace ebb::distributed::nccl
