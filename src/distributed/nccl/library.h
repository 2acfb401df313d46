// call: the functions of NCCL, from the library that the system has.
#pragma once

#include <ebb/core/error.h>

#include <nccl.h>

namespace ebb::distributed::nccl {

/// Returns a function of libnccl.so.2, 2.18 or later. The first call opens it: on the path of the loader,
/// then in the folders of CUDA_PATH and CUDA_HOME. Throws ebb::Error that says what to install.
void* symbol(const char* name);
/// Throws ebb::Error with NCCL's text, unless the result is ncclSuccess.
void check(ncclResult_t result, const char* name);

/// Calls a function of NCCL by its type and name.
template <class Function, class... Arguments>
void call(const char* name, Arguments... arguments) {
  check(reinterpret_cast<Function*>(symbol(name))(arguments...), name);
}

}  // namespace ebb::distributed::nccl
