// SavedVariables: a list of tensors that a node saves for backward.
#pragma once

#include <ebb/autograd/saved_variable.h>

#include <deque>

namespace ebb::ops {

/// Declared as a member of a Node: `SavedVariables inputs{this};`. It is a deque because the node links the
/// elements, which must not move.
class SavedVariables {
 public:
  explicit SavedVariables(autograd::Node* owner) : owner_(owner) {}

  /// Saves inputs of the op. Undefined tensors are permitted.
  void save(TensorList inputs) {
    for (const Variable& x : inputs) each_.emplace_back(owner_).save(x);
  }
  /// Returns the tensors as parts of the graph.
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
