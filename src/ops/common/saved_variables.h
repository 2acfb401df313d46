// A list of tensors that a node keeps for backward.
#pragma once

#include <ebb/autograd/saved_variable.h>

#include <deque>

namespace ebb::ops {

/// A member of a Node: `SavedVariables inputs{this};`. A deque never moves its elements, which the node
/// links.
class SavedVariables {
 public:
  explicit SavedVariables(autograd::Node* owner) : owner_(owner) {}

  /// Keeps inputs of the op, undefined ones too.
  void save(TensorList inputs) {
    for (const Variable& x : inputs) each_.emplace_back(owner_).save(x);
  }
  /// The tensors, as parts of the graph.
  variable_list unpack() const {
    variable_list out;
    out.reserve(each_.size());
    for (const autograd::SavedVariable& saved : each_) out.push_back(saved.unpack());
    return out;
  }

 private:
  autograd::Node* owner_;
  std::deque<autograd::SavedVariable> each_;
};

}  // namespace ebb::ops
