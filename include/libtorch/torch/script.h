// TorchScript, which ebb does not have: programs may include this; a use says what to do.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/torch.h>

namespace ebb::jit {

/// An error while the program is compiled.
template <class...>
struct NeedsTorchScript {
  static_assert(
      sizeof(NeedsTorchScript*) == 0,
      "ebb has no TorchScript. Build the model of torch::nn modules and load its weights: in Python, "
      "safetensors.torch.save_file(model.state_dict(), 'model.safetensors'); here, torch::load(net, "
      "\"model.safetensors\").");
};

using c10::IValue;

/// What load() would return. It can be named, as in the signature of a function, but not made.
struct Module {
  template <class... Args>
  explicit Module(Args&&...) {
    static_cast<void>(NeedsTorchScript<Args...>());
  }
};
namespace script {
using jit::Module;
}

template <class... Args>
Module load(const Args&... args) {
  return Module(args...);
}
template <class... Args>
Module compile(const Args&... args) {
  return Module(args...);
}

}  // namespace ebb::jit
