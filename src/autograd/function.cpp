// The implementation of Function<T>: saved values, marks, and the checks of forward and backward.
#include <ebb/autograd/function.h>

#include "autograd/meta.h"
#include "autograd/thread_state.h"
#include "core/messages.h"

#include <algorithm>
#include <memory>

namespace ebb::autograd {

namespace {

void check_stored(bool stored, const char* method) {
  EBB_CHECK(stored, "saved_data: ", method,
            "() was called on a value of another type, or on one that was never stored.");
}

bool contains(const std::vector<const VariableImpl*>& tensors, const Variable& x) {
  return std::find(tensors.begin(), tensors.end(), x.impl()) != tensors.end();
}

}  // namespace

SavedValue::SavedValue(const char* text) : SavedValue(std::string(text)) {}
SavedValue::SavedValue(std::string text) : kind_(Kind::text), text_(std::move(text)) {}
SavedValue::SavedValue(Variable x) : kind_(Kind::tensor), tensor_(std::move(x)) {}
SavedValue::SavedValue(std::vector<std::int64_t> values)
    : kind_(Kind::integers), integers_(std::move(values)) {}
SavedValue::SavedValue(std::vector<double> values) : kind_(Kind::doubles), doubles_(std::move(values)) {}

std::int64_t SavedValue::toInt() const {
  check_stored(kind_ == Kind::number && number_.is_integral(), "toInt");
  return number_.to_long();
}
double SavedValue::toDouble() const {
  check_stored(kind_ == Kind::number && number_.is_floating_point(), "toDouble");
  return number_.to_double();
}
bool SavedValue::toBool() const {
  check_stored(kind_ == Kind::number && number_.is_boolean(), "toBool");
  return number_.toBool();
}
const Variable& SavedValue::toTensor() const {
  check_stored(kind_ == Kind::tensor, "toTensor");
  return tensor_;
}
const std::string& SavedValue::toStringRef() const {
  check_stored(kind_ == Kind::text, "toStringRef");
  return text_;
}
const std::vector<std::int64_t>& SavedValue::toIntVector() const {
  check_stored(kind_ == Kind::integers, "toIntVector");
  return integers_;
}
const std::vector<double>& SavedValue::toDoubleVector() const {
  check_stored(kind_ == Kind::doubles, "toDoubleVector");
  return doubles_;
}
Scalar SavedValue::toScalar() const {
  check_stored(kind_ == Kind::number, "toScalar");
  return number_;
}

variable_list AutogradContext::get_saved_variables() const {
  EBB_CHECK(node_, "get_saved_variables: only backward can read the saved tensors.");
  variable_list tensors;
  tensors.reserve(node_->kept_.size());
  for (const auto& kept : node_->kept_) tensors.push_back(kept->unpack());
  return tensors;
}

void AutogradContext::mark_dirty(const variable_list& inputs) {
  for (const Variable& x : inputs) dirty_.push_back(x.impl());
}

void AutogradContext::mark_non_differentiable(const variable_list& outputs) {
  for (const Variable& x : outputs) non_differentiable_.push_back(x.impl());
}

bool AutogradContext::needs_input_grad(std::size_t i) const {
  EBB_CHECK(node_ && i < node_->num_outputs(), "needs_input_grad: there is no tensor argument ",
            std::uint64_t{i}, ".");
  return node_->needs(i);
}

bool AutogradContext::needs_input_grad(std::initializer_list<IndexRange> ranges) const {
  for (const auto& [first, last] : ranges)
    for (std::size_t i = first; i < last; ++i)
      if (needs_input_grad(i)) return true;
  return false;
}

FunctionNode::FunctionNode(const std::type_info& type, Backward backward) : type_(type), backward_(backward) {
  context.node_ = this;
}

std::string FunctionNode::name() const {
  std::string name = ebb::detail::demangled(type_);
  if (const auto at = name.rfind("::"); at != std::string::npos) name.erase(0, at + 2);
  return name + "Backward";
}

void FunctionNode::add_tensor(const Variable& tensor, variable_list& inputs) {
  is_tensor_.push_back(true);
  inputs.push_back(tensor);
  add_input(tensor);
}

void FunctionNode::wrap(variable_list& outputs, const variable_list& inputs, bool records) {
  const auto is_input = [&](const Variable& y) {
    for (const Variable& x : inputs)
      if (x.defined() && x.impl() == y.impl()) return true;
    return false;
  };
  for (const VariableImpl* dirty : context.dirty_) {
    bool returned = false;
    for (const Variable& y : outputs) returned |= y.impl() == dirty;
    EBB_CHECK(returned, name(),
              ": an input marked dirty was not returned; return every tensor that forward writes into.");
  }
  const Ref<Node> self = Ref<Node>::share(this);
  for (Variable& y : outputs) {
    if (!y.defined()) {
      EBB_CHECK(!records, name(), ": forward returned an undefined tensor.");
      continue;
    }
    const bool differentiable = !contains(context.non_differentiable_, y) && is_floating(y.dtype());
    if (contains(context.dirty_, y)) {
      if (!records) continue;
      EBB_CHECK(outputs.size() == 1 || !is_tracked_view(y), name(),
                ": a function that writes into a view must return that view alone, got ",
                std::uint64_t{outputs.size()},
                " outputs. Pass it a clone(), or return the others from "
                "another function.");
      check_inplace(y, name().c_str());
      bump_version(y);
      if (differentiable) {
        rebase_history(y, self);
      } else {
        add_output(y.array());  // a non-differentiable output still needs an output slot
        if (y.requires_grad()) y = y.detach();
      }
      continue;
    }
    if (is_input(y)) {
      // An input that is returned unchanged becomes a new tensor with this node as its history. It is a view
      // of the input, so that a write to either increments the version of both.
      NoGradGuard no_grad;
      y = records && !differentiable && y.requires_grad() ? y.detach() : make_view(y, y.array(), nullptr);
    } else if (records && y.impl()->requires_grad) {
      // A leaf from outside the function gets a new handle, whose history is this node.
      y = Variable(y.array());
    }
    if (records && differentiable)
      set_history(y, self);
    else if (records)
      add_output(y.array());
  }
  if (!records) {
    context.to_save_.clear();
    return;
  }
  for (const Variable& x : context.to_save_) {
    SavedVariable& kept = *kept_.emplace_back(std::make_unique<SavedVariable>(this));
    bool saved = false;
    for (std::size_t i = 0; i < outputs.size() && !saved; ++i)
      if (x.defined() && outputs[i].impl() == x.impl() && x.grad_fn() == self) {
        kept.save_output(outputs[i]);
        saved = true;
      }
    if (!saved) kept.save(x);
  }
  context.to_save_.clear();
}

GradList FunctionNode::apply(GradList&& grads) {
  variable_list given(grads.begin(), grads.end());
  if (context.materialize_grads_)
    for (std::size_t i = 0; i < given.size(); ++i) given[i] = grad_or_zeros(grads, i);
  variable_list results;
  {
    const AutocastAgain as_forward(autocast_);
    results = backward_(&context, std::move(given));
  }
  while (results.size() > is_tensor_.size() && !results.back().defined()) results.pop_back();
  EBB_CHECK(results.size() == is_tensor_.size(), "function ", name(),
            " returned an incorrect number of gradients (expected ", std::uint64_t{is_tensor_.size()},
            ", got ", std::uint64_t{results.size()},
            "). Return one for each argument of forward, undefined for those that are not tensors.");
  GradList out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (is_tensor_[i])
      out.push_back(std::move(results[i]));
    else
      EBB_CHECK(!results[i].defined(), "function ", name(),
                " returned a gradient different than None at position ", std::uint64_t{i + 1},
                ", but the corresponding forward input was not a Variable.");
  }
  return out;
}

}  // namespace ebb::autograd
