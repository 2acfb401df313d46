// The headers of a Python extension for torch, without Python. Sources that are also compiled into C++
// programs need no other headers of torch/extension.h.
#pragma once

#include <torch/torch.h>

namespace [[deprecated("ebb's tensors are not those of Python's torch: Python bindings need libtorch.")]] py {
}

#define PYBIND11_MODULE(name, module)                                             \
  static_assert(sizeof(#name) == 0,                                               \
                "ebb's tensors are not those of Python's torch: a Python module " \
                "needs libtorch. A C++ program calls the functions directly.");   \
  template <class Module>                                                         \
  void bind_##name(Module& module)
