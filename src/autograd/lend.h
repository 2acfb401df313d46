// Handles that stand for another tensor for a while: what parametrizations and functional calls do to the
// parameters of a module, whose members nothing else can reach.
#pragma once

#include <ebb/autograd/variable.h>

#include "autograd/meta.h"

namespace ebb::autograd {

/// Does the handle stand for another tensor? Nodes then save that one (SavedVariable).
inline bool is_lent(const Variable& x) { return x.impl()->meta && x.impl()->meta->lent; }

/// The tensor that a lent handle stands for now, as a handle of its own.
Variable standing_for(const Variable& lent);

/// Makes `target`, with all handles that share it, stand for `value`: its numbers and its place in the graph.
/// What was recorded before keeps what target was then.
void lend(const Variable& target, const Variable& value);

/// Makes a lent handle a leaf with these numbers again.
void settle(const Variable& target, const Variable& value, bool requires_grad);

/// While it lives, `target` stands for `value`; afterwards it is what it was.
class Loan {
 public:
  Loan(Variable target, const Variable& value);
  ~Loan();
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

 private:
  void give_back();

  Variable target_;
  NdArray data_;
  Ref<Node> grad_fn_;
  AutogradMeta* meta_;
  std::uint32_t output_nr_;
  bool requires_grad_, inference_;
};

}  // namespace ebb::autograd
