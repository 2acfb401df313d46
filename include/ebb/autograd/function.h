// User-defined differentiable functions.
#pragma once

#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/record.h>

#include <deque>
#include <initializer_list>
#include <map>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <unordered_set>
#include <variant>
#include <vector>

namespace ebb::autograd {

/// One non-tensor value kept for backward (stands for torch's IValue in AutogradContext::saved_data).
class EBB_API SavedValue {
 public:
  SavedValue() = default;
  template <class T>
  requires std::is_arithmetic_v<T> SavedValue(T value) {
    if constexpr (std::is_same_v<T, bool>)
      value_ = value;
    else if constexpr (std::is_integral_v<T>)
      value_ = static_cast<std::int64_t>(value);
    else
      value_ = static_cast<double>(value);
  }
  SavedValue(const char* text) : value_(std::string(text)) {}
  SavedValue(std::string text) : value_(std::move(text)) {}
  SavedValue(Variable x) : value_(std::move(x)) {}
  SavedValue(std::vector<std::int64_t> values) : value_(std::move(values)) {}
  SavedValue(std::vector<double> values) : value_(std::move(values)) {}
  SavedValue(const Scalar& s) {
    if (s.is_floating_point())
      value_ = s.to_double();
    else if (s.is_boolean())
      value_ = s.toBool();
    else
      value_ = s.to_long();
  }

  bool isNone() const { return std::holds_alternative<std::monostate>(value_); }
  std::int64_t toInt() const { return get<std::int64_t>("toInt"); }
  double toDouble() const { return get<double>("toDouble"); }
  bool toBool() const { return get<bool>("toBool"); }
  const Variable& toTensor() const { return get<Variable>("toTensor"); }
  const std::string& toStringRef() const { return get<std::string>("toStringRef"); }
  const std::vector<std::int64_t>& toIntVector() const {
    return get<std::vector<std::int64_t>>("toIntVector");
  }
  const std::vector<double>& toDoubleVector() const { return get<std::vector<double>>("toDoubleVector"); }
  Scalar toScalar() const;

 private:
  template <class T>
  const T& get(const char* method) const {
    const T* value = std::get_if<T>(&value_);
    EBB_CHECK(value, "saved_data: ", method,
              "() was called on a value of another type, or one never stored.");
    return *value;
  }
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Variable, std::vector<std::int64_t>,
               std::vector<double>>
      value_;
};

class FunctionNode;

/// What forward() hands on to backward() (torch.autograd.function.FunctionCtx).
class EBB_API AutogradContext {
 public:
  AutogradContext() = default;
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  /// Keeps inputs or outputs of forward; call once, in forward. Other tensors are kept too, but not
  /// differentiated.
  void save_for_backward(variable_list tensors) { to_save_ = std::move(tensors); }
  /// The tensors kept; throws when backward has freed them or an in-place op has changed them.
  variable_list get_saved_variables() const;
  /// Declares inputs that forward wrote into.
  void mark_dirty(const variable_list& inputs);
  /// Declares outputs that have no gradient, such as indices.
  void mark_non_differentiable(const variable_list& outputs);
  /// Whether undefined incoming gradients are replaced by zeros (default true).
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  /// Whether the i-th tensor argument wants a gradient.
  bool needs_input_grad(std::size_t i) const;

  /// Anything else backward needs.
  std::map<std::string, SavedValue> saved_data;

 private:
  friend class FunctionNode;
  variable_list to_save_;
  std::unordered_set<const VariableImpl*> dirty_, non_differentiable_;
  bool materialize_grads_ = true;
  FunctionNode* node_ = nullptr;
};

/// The node of a user's function.
class EBB_API FunctionNode : public Node {
 public:
  using Backward = variable_list (*)(AutogradContext*, variable_list);
  FunctionNode(const std::type_info& type, Backward backward);

  std::string name() const override;
  GradList apply(GradList&& grads) override;
  bool runs_on_undefined() const override { return context.materialize_grads_; }

  /// Argument k of forward: a tensor or something else.
  void add_argument(const Variable& tensor);
  template <class T>
  void add_argument(const T&) {
    is_tensor_.push_back(false);
  }
  /// Gives forward's results their history.
  void wrap(variable_list& outputs, const variable_list& inputs, bool records);

  AutogradContext context;

 private:
  friend class AutogradContext;
  const std::type_info& type_;
  Backward backward_;
  std::vector<bool> is_tensor_;
  std::deque<SavedVariable> kept_;
};

/// Derive `struct MyOp : Function<MyOp>` with
///   static Variable (or variable_list) forward(AutogradContext* ctx, const Variable& x, double slope, ...);
///   static variable_list backward(AutogradContext* ctx, variable_list grad_outputs);
/// backward returns one gradient for each argument of forward, undefined for those that are not tensors. Call
/// MyOp::apply(x, slope, ...). Written in differentiable ops, backward can itself be differentiated.
template <class Derived>
struct Function {
  template <class X = Derived, class... Args>
  static auto apply(Args&&... args) {
    using Result = decltype(X::forward(std::declval<AutogradContext*>(), std::forward<Args>(args)...));
    Ref<FunctionNode> node = Ref<FunctionNode>::adopt(new FunctionNode(typeid(X), &X::backward));
    variable_list inputs;
    const auto note = [&]<class T>(const T& arg) {
      if constexpr (std::is_base_of_v<Variable, T>) {
        inputs.push_back(arg);
        node->add_argument(static_cast<const Variable&>(arg));
      } else {
        node->add_argument(0);
      }
    };
    (note(args), ...);
    const bool record = records(inputs);
    variable_list outputs;
    {
      NoGradGuard no_grad;
      if constexpr (std::is_same_v<Result, Variable>)
        outputs = {X::forward(&node->context, std::forward<Args>(args)...)};
      else
        outputs = X::forward(&node->context, std::forward<Args>(args)...);
    }
    node->wrap(outputs, inputs, record);
    if constexpr (std::is_same_v<Result, Variable>)
      return outputs[0];
    else
      return outputs;
  }
};

}  // namespace ebb::autograd
