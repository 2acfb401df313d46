// AnyModule: a module of any type behind a type-erased interface.
#pragma once

#include <ebb/nn/module.h>

#include <memory>
#include <typeinfo>

namespace ebb::nn {

namespace detail {
EBB_API std::string type_name(const std::type_info& type);
}

/// A type-erased value of any copyable type, which modules of a Sequential pass on.
class AnyValue {
 public:
  AnyValue() = default;
  AnyValue(const AnyValue&) = default;
  AnyValue(AnyValue&&) = default;
  AnyValue& operator=(const AnyValue&) = default;
  AnyValue& operator=(AnyValue&&) = default;
  template <class T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, AnyValue>)
  explicit AnyValue(T&& value)
      : type_(&typeid(std::decay_t<T>)),  // a string literal is stored as a const char*
        value_(std::make_shared<std::decay_t<T>>(std::forward<T>(value))) {}

  const std::type_info& type_info() const noexcept { return *type_; }
  template <class T>
  T* try_get() {
    return *type_ == typeid(T) ? static_cast<T*>(value_.get()) : nullptr;
  }
  template <class T>
  T get() {
    T* value = try_get<T>();
    EBB_CHECK(value, "Attempted to cast AnyValue to ", detail::type_name(typeid(T)),
              ", but its actual type is ", detail::type_name(*type_));
    return *value;
  }

 private:
  const std::type_info* type_ = &typeid(void);
  std::shared_ptr<void> value_;
};

namespace detail {

[[noreturn]] EBB_API void wrong_argument_count(const Module& module, std::size_t expected, std::size_t got);
[[noreturn]] EBB_API void wrong_argument_type(const Module& module, std::size_t position,
                                              const std::type_info& expected, const std::type_info& got);

/// Type-erased access to the forward() of one module type.
struct AnyForward {
  virtual ~AnyForward() = default;
  virtual AnyValue forward(Module& module, std::vector<AnyValue>& arguments) const = 0;
};

template <class M, class C, class R, class... Args, std::size_t... I>
AnyValue call_forward(Module& module, R (C::*)(Args...), std::vector<AnyValue>& arguments,
                      std::index_sequence<I...>) {
  if (arguments.size() != sizeof...(Args)) wrong_argument_count(module, sizeof...(Args), arguments.size());
  const auto get = [&]<class T>(std::size_t i, std::type_identity<T>) -> T& {
    T* value = arguments[i].try_get<T>();
    if (!value) wrong_argument_type(module, i, typeid(T), arguments[i].type_info());
    return *value;
  };
  M& m = static_cast<M&>(module);
  if constexpr (std::is_void_v<R>) {
    call_module(m, static_cast<Args>(get(I, std::type_identity<std::remove_cvref_t<Args>>()))...);
    return AnyValue();
  } else {
    return AnyValue(
        call_module(m, static_cast<Args>(get(I, std::type_identity<std::remove_cvref_t<Args>>()))...));
  }
}

template <class M, class C, class R, class... Args>
AnyValue call_forward(Module& module, R (C::*forward)(Args...), std::vector<AnyValue>& arguments) {
  return call_forward<M>(module, forward, arguments, std::index_sequence_for<Args...>());
}
template <class M, class C, class R, class... Args>
AnyValue call_forward(Module& module, R (C::*)(Args...) const, std::vector<AnyValue>& arguments) {
  return call_forward<M>(module, static_cast<R (C::*)(Args...)>(nullptr), arguments,
                         std::index_sequence_for<Args...>());
}

template <class M>
concept ForwardsTensor = requires(M& module, const Variable& x) { module.forward(x); };
template <class M>
concept HasOneForward = requires { &M::forward; };

template <class M>
struct AnyForwardOf final : AnyForward {
  AnyValue forward(Module& module, std::vector<AnyValue>& arguments) const override {
    // Appends the missing default arguments. libtorch's FORWARD_HAS_DEFAULT_ARGS declares them as pairs of
    // position and value, in ascending order.
    if constexpr (requires { M::forward_default_arguments(); })
      for (auto& argument : M::forward_default_arguments())
        if (argument.first == arguments.size()) arguments.push_back(argument.second);
    // With a single tensor, calls forward() directly, so that default arguments and overloads work.
    if constexpr (ForwardsTensor<M>) {
      if (arguments.size() == 1)
        if (const Variable* x = arguments[0].try_get<Variable>())
          return AnyValue(call_module(static_cast<M&>(module), *x));
    }
    AnyValue result;
    if (arguments.size() > 1 &&
        with_tensors(static_cast<M&>(module), arguments, std::make_index_sequence<8>(), result))
      return result;
    if constexpr (HasOneForward<M>)
      return call_forward<M>(module, &M::forward, arguments);
    else
      wrong_argument_count(module, 1, arguments.size());
  }

 private:
  template <std::size_t... Place>
  static bool with_tensors(M& module, std::vector<AnyValue>& arguments, std::index_sequence<Place...>,
                           AnyValue& result) {
    return (... || with_as_many(module, arguments, std::make_index_sequence<Place + 1>(), result));
  }
  template <std::size_t... I>
  static bool with_as_many(M& module, std::vector<AnyValue>& arguments, std::index_sequence<I...>,
                           AnyValue& result) {
    if constexpr (sizeof...(I) > 1 && requires(const Variable& x) { module.forward(((void)I, x)...); }) {
      if (arguments.size() != sizeof...(I) || !(... && arguments[I].template try_get<Variable>()))
        return false;
      using Result = decltype(module.forward(*arguments[I].template try_get<Variable>()...));
      if constexpr (std::is_void_v<Result>)
        call_module(module, *arguments[I].template try_get<Variable>()...);
      else
        result = AnyValue(call_module(module, *arguments[I].template try_get<Variable>()...));
      return true;
    }
    return false;
  }
};

}  // namespace detail

/// Stores a module of any type that has a forward(). Empty when default-constructed (torch::nn::AnyModule).
class EBB_API AnyModule {
 public:
  AnyModule() = default;
  template <class M>
    requires std::is_base_of_v<Module, M>
  explicit AnyModule(std::shared_ptr<M> module) : module_(std::move(module)), forward_(forward_of<M>()) {}
  template <class M>
    requires(std::is_base_of_v<Module, std::remove_cvref_t<M>>)
  explicit AnyModule(M&& module)
      : AnyModule(std::make_shared<std::remove_cvref_t<M>>(std::forward<M>(module))) {}
  template <class M>
  explicit AnyModule(const ModuleHolder<M>& holder) : AnyModule(holder.ptr()) {}
  template <class M>
    requires std::is_base_of_v<Module, M>
  AnyModule& operator=(std::shared_ptr<M> module) {
    return *this = AnyModule(std::move(module));
  }
  template <class M>
  AnyModule& operator=(const ModuleHolder<M>& holder) {
    return *this = AnyModule(holder);
  }

  bool is_empty() const noexcept { return module_ == nullptr; }
  AnyModule clone(optional<Device> device = nullopt) const;

  /// Calls the module. The types of the arguments must be exactly those of its forward().
  template <class... Args>
  AnyValue any_forward(Args&&... args) {
    std::vector<AnyValue> values;
    values.reserve(sizeof...(Args));
    (values.push_back(wrap(std::forward<Args>(args))), ...);
    return forward_values(values);
  }
  template <class Return = Variable, class... Args>
  Return forward(Args&&... args) {
    return any_forward(std::forward<Args>(args)...).template get<Return>();
  }
  /// Returns the module as a T. Throws if it has another type.
  template <class T>
  T& get() const {
    EBB_CHECK(!is_empty(), "Cannot call get() on an empty AnyModule");
    T* module = dynamic_cast<T*>(ptr().get());
    EBB_CHECK(module, "Attempted to cast module of type ", module_->name(), " to type ",
              detail::type_name(typeid(T)));
    return *module;
  }
  template <class T>
    requires detail::Holder<T>
  T get() const {
    return T(ptr<typename T::ContainedType>());
  }
  std::shared_ptr<Module> ptr() const;
  template <class T>
    requires(std::is_base_of_v<Module, T>)
  std::shared_ptr<T> ptr() const {
    const std::shared_ptr<Module> module = ptr();
    get<T>();
    return std::static_pointer_cast<T>(module);
  }
  const std::type_info& type_info() const;

 private:
  template <class T>
  static AnyValue wrap(T&& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<T>, AnyValue>)
      return std::forward<T>(value);
    else
      return AnyValue(std::forward<T>(value));
  }
  template <class M>
  static const detail::AnyForward* forward_of() {
    if constexpr (detail::HasOneForward<M> || detail::ForwardsTensor<M>) {
      static const detail::AnyForwardOf<M> forward;
      return &forward;
    } else {
      return nullptr;
    }
  }
  AnyValue forward_values(std::vector<AnyValue>& values);

  std::shared_ptr<Module> module_;
  const detail::AnyForward* forward_ = nullptr;
};

/// A module with its name in the parent: `{"fc1", Linear(3, 4)}`.
class NamedAnyModule {
 public:
  template <class M>
  NamedAnyModule(std::string name, M&& module)
      : name_(std::move(name)), module_(as_any(std::forward<M>(module))) {}
  const std::string& name() const noexcept { return name_; }
  AnyModule& module() noexcept { return module_; }
  const AnyModule& module() const noexcept { return module_; }

 private:
  template <class M>
  static AnyModule as_any(M&& module) {
    return AnyModule(std::forward<M>(module));
  }
  std::string name_;
  AnyModule module_;
};

}  // namespace ebb::nn
