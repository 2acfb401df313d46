// each(): applies a function to each tensor of a list.
#pragma once

#include <ebb/autograd/variable.h>

#include <vector>

namespace ebb::ops {

/// Returns the results of f in the order of the tensors.
template <class F>
std::vector<Variable> each(TensorList tensors, F&& f) {
  std::vector<Variable> out;
  out.reserve(tensors.size());
  for (const Variable& x : tensors) out.push_back(f(x));
  return out;
}

}  // namespace ebb::ops
