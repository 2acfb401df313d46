// TorchScript, which ebb does not have. Programs may include this header; each use of a name in it is a
// compile error with advice.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/torch.h>

namespace ebb::jit {

/// Its instantiation is a compile error.
template <class...>
struct NeedsTorchScript {
  static_assert(
      sizeof(NeedsTorchScript*) == 0,
      "ebb has no TorchScript. Build the model of torch::nn modules and load its weights: in Python, "
      "safetensors.torch.save_file(model.state_dict(), 'model.safetensors'); here, torch::load(net, "
      "\"model.safetensors\").");
};

using c10::IValue;

/// The result type of load(). A program can name the type, for example in a signature, but cannot create an
/// object.
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
