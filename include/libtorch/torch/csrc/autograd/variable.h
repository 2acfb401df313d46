// make_variable: a tensor as a leaf.
#pragma once

#include <ebb/autograd/node.h>
#include <ebb/autograd/record.h>
#include <ebb/autograd/variable.h>

#include <torch/csrc/namespaces.h>

namespace ebb::autograd {

/// Returns a new leaf with the same data.
inline Variable make_variable(const Variable& data, bool requires_grad = false,
                              bool /*allow_tensor_metadata_change*/ = true) {
  return data.defined() ? data.detach().set_requires_grad(requires_grad) : Variable();
}

}  // namespace ebb::autograd
