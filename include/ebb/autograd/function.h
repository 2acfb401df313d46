// User-defined differentiable functions.
#pragma once

#include <ebb/autograd/autocast_setting.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/record.h>

#include <concepts>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace ebb::autograd {

/// A non-tensor value saved for backward (it replaces torch's IValue in AutogradContext::saved_data). Reading
/// a value as a type other than its own throws.
class EBB_API SavedValue {
 public:
  SavedValue() = default;
  template <class T>
    requires std::is_arithmetic_v<T>
  SavedValue(T value) : SavedValue(Scalar(value)) {}
  SavedValue(const Scalar& number) : kind_(Kind::number), number_(number) {}
  SavedValue(const char* text);
  SavedValue(std::string text);
  SavedValue(Variable x);
  SavedValue(std::vector<std::int64_t> values);
  SavedValue(std::vector<double> values);

  bool isNone() const { return kind_ == Kind::none; }
  bool isScalar() const { return kind_ == Kind::number; }
  bool isInt() const { return isScalar() && number_.isIntegral(/*include_bool=*/false); }
  bool isDouble() const { return isScalar() && number_.isFloatingPoint(); }
  bool isBool() const { return isScalar() && number_.isBoolean(); }
  bool isString() const { return kind_ == Kind::text; }
  bool isTensor() const { return kind_ == Kind::tensor; }
  bool isIntList() const { return kind_ == Kind::integers; }
  bool isDoubleList() const { return kind_ == Kind::doubles; }
  std::int64_t toInt() const;
  double toDouble() const;
  bool toBool() const;
  const Variable& toTensor() const;
  const std::string& toStringRef() const;
  const std::vector<std::int64_t>& toIntVector() const;
  const std::vector<double>& toDoubleVector() const;
  Scalar toScalar() const;

 private:
  // These are separate members, although a std::variant would need less memory, because the variant would
  // increase the compile time of every program.
  enum class Kind : std::uint8_t { none, number, text, tensor, integers, doubles };
  Kind kind_ = Kind::none;
  Scalar number_;
  std::string text_;
  Variable tensor_;
  std::vector<std::int64_t> integers_;
  std::vector<double> doubles_;
};

class FunctionNode;

/// A half-open range of indices: [first, second). (torch: autograd::IndexRange)
using IndexRange = std::pair<std::size_t, std::size_t>;

/// The context that forward() passes to backward() (torch.autograd.function.FunctionCtx).
class EBB_API AutogradContext {
 public:
  AutogradContext() = default;
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  /// Saves inputs or outputs of forward; call it once, in forward. Other tensors may be saved too, but
  /// gradients do not flow through them.
  void save_for_backward(variable_list tensors) { to_save_ = std::move(tensors); }
  /// Returns the saved tensors. Throws if backward has freed them or an in-place op has changed them.
  variable_list get_saved_variables() const;
  /// Declares inputs that forward wrote into.
  void mark_dirty(const variable_list& inputs);
  /// Declares outputs that have no gradient, such as indices.
  void mark_non_differentiable(const variable_list& outputs);
  /// Sets whether undefined incoming gradients are replaced by zeros (default true).
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  /// Returns whether the i-th tensor argument needs a gradient. Each tensor of a list counts as one argument.
  bool needs_input_grad(std::size_t i) const;
  /// Returns whether any tensor argument in the ranges needs a gradient.
  bool needs_input_grad(std::initializer_list<IndexRange> ranges) const;

  /// Other values that backward needs.
  std::map<std::string, SavedValue> saved_data;

 private:
  friend class FunctionNode;
  variable_list to_save_;
  std::vector<const VariableImpl*> dirty_, non_differentiable_;
  bool materialize_grads_ = true;
  FunctionNode* node_ = nullptr;
};

/// A std::ranges::range, defined here to avoid the include of <ranges>.
template <class T>
concept Range = requires(T& values) {
  std::ranges::begin(values);
  std::ranges::end(values);
};

/// True if T is a tensor type, or a range whose element type shows that it contains tensors.
template <class T>
inline constexpr bool holds_tensors = std::is_base_of_v<Variable, T>;
template <class T>
inline constexpr bool holds_tensors<optional<T>> = holds_tensors<T>;
template <class A, class B>
inline constexpr bool holds_tensors<std::pair<A, B>> = holds_tensors<A> || holds_tensors<B>;
template <class... T>
inline constexpr bool holds_tensors<std::tuple<T...>> = (holds_tensors<T> || ...);
template <class T>
using ElementOf = std::iter_value_t<decltype(std::ranges::begin(std::declval<T&>()))>;
template <Range T>
  requires(!std::is_same_v<ElementOf<T>, T>)  // a path is a range of paths
inline constexpr bool holds_tensors<T> = holds_tensors<ElementOf<T>>;

/// The graph node of a user-defined function.
class EBB_API FunctionNode : public Node {
 public:
  using Backward = variable_list (*)(AutogradContext*, variable_list);
  FunctionNode(const std::type_info& type, Backward backward);

  std::string name() const override;
  GradList apply(GradList&& grads) override;
  bool runs_on_undefined() const override { return context.materialize_grads_; }

  /// Records the next argument of forward: a tensor, a list of tensors, or another value. Tensors are also
  /// added to `inputs`.
  template <class T>
  void add_argument(const T& arg, variable_list& inputs) {
    if constexpr (std::is_base_of_v<Variable, T>) {
      add_tensor(arg, inputs);
    } else if constexpr (!holds_tensors<T>) {
      is_tensor_.push_back(false);
    } else if constexpr (Range<T>) {
      for (const auto& each : arg) add_argument(each, inputs);
    } else if constexpr (requires { arg.has_value(); }) {
      if (arg.has_value())
        add_argument(*arg, inputs);
      else
        is_tensor_.push_back(false);
    } else {
      static_assert(!holds_tensors<T>,
                    "Function::apply does not track tensors in a pair, a tuple or a map. Pass the "
                    "tensors directly, as optionals, or in a list.");
    }
  }
  /// Attaches this node to forward's results as their history.
  void wrap(variable_list& outputs, const variable_list& inputs, bool records);

  AutogradContext context;

 private:
  friend class AutogradContext;
  void add_tensor(const Variable& tensor, variable_list& inputs);

  const std::type_info& type_;
  Backward backward_;
  const AutocastSetting autocast_ = AutocastSetting::now();  // backward runs with the autocast setting of
                                                             // forward
  std::vector<bool> is_tensor_;
  std::vector<std::unique_ptr<SavedVariable>> kept_;
};

template <class X, class... Args>
concept HasForward =
    requires(AutogradContext* ctx, Args&&... args) { X::forward(ctx, std::forward<Args>(args)...); };
template <class X>
concept HasBackward = requires(AutogradContext* ctx, variable_list grads) {
  { X::backward(ctx, std::move(grads)) } -> std::convertible_to<variable_list>;
};
template <class T>
concept TensorOrList = std::same_as<T, Variable> || std::convertible_to<T, variable_list>;
template <class X, class... Args>
concept ReturnsTensors = requires(AutogradContext* ctx, Args&&... args) {
  { X::forward(ctx, std::forward<Args>(args)...) } -> TensorOrList;
};

/// Fails to compile, with a message at the line of apply(), if a user's function lacks a member or has a
/// wrong signature.
template <class X, class... Args>
constexpr bool check_function() {
  constexpr bool takes = HasForward<X, Args...>, gives = ReturnsTensors<X, Args...>, back = HasBackward<X>;
  static_assert(
      takes,
      "Function: forward must be `static Variable forward(AutogradContext* ctx, ...)` and public, and its "
      "parameters after ctx must fit the arguments of apply().");
  static_assert(!takes || gives, "Function: forward must return a Variable or a variable_list.");
  static_assert(back,
                "Function: backward must be `static variable_list backward(AutogradContext* ctx, "
                "variable_list grad_outputs)` and public.");
  return gives && back;
}

/// Runs forward and records its node.
template <class X, class... Args>
auto apply_function(Args&&... args) {
  using Result = decltype(X::forward(std::declval<AutogradContext*>(), std::forward<Args>(args)...));
  Ref<FunctionNode> node = Ref<FunctionNode>::adopt(
      new FunctionNode(typeid(X), [](AutogradContext* ctx, variable_list grads) -> variable_list {
        return X::backward(ctx, std::move(grads));
      }));
  variable_list inputs;
  (node->add_argument(args, inputs), ...);
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

/// A user-defined differentiable function. Derive `struct MyOp : Function<MyOp>` with
///   static Variable (or variable_list) forward(AutogradContext* ctx, const Variable& x, double slope, ...);
///   static variable_list backward(AutogradContext* ctx, variable_list grad_outputs);
/// backward may take grad_outputs by const reference. Call MyOp::apply(x, slope, ...). backward returns one
/// gradient for each argument of forward; the gradient of a non-tensor argument is undefined. A list of
/// tensors (vector, array, TensorList, also of optionals) needs one gradient for each element, in order. An
/// empty optional counts as a non-tensor. If backward uses differentiable ops only, it can itself be
/// differentiated.
template <class Derived>
struct Function {
  template <class X = Derived, class... Args>
  static auto apply(Args&&... args) {
    if constexpr (check_function<X, Args...>()) return apply_function<X>(std::forward<Args>(args)...);
  }
};

}  // namespace ebb::autograd
