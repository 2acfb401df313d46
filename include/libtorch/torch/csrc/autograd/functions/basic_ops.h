// UndefinedGrad: a graph node that passes no gradients.
#pragma once

#include <ebb/autograd/function.h>

#include <torch/csrc/namespaces.h>

namespace ebb::autograd {

/// Passes tensors on unchanged. In backward it passes undefined gradients.
struct UndefinedGrad {
  variable_list apply(variable_list&& inputs) { return Step::apply(std::move(inputs)); }

 private:
  struct Step : Function<Step> {
    static variable_list forward(AutogradContext*, const variable_list& inputs) {
      variable_list outputs;
      for (const Variable& x : inputs) outputs.push_back(x.detach().clone());
      return outputs;
    }
    static variable_list backward(AutogradContext*, const variable_list& grads) {
      return variable_list(grads.size());
    }
  };
};

}  // namespace ebb::autograd
