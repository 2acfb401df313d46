// ModuleHolder: a handle with which `Linear fc(3, 4)` creates a shared LinearImpl.
#pragma once

#include <ebb/nn/module.h>

#include <typeinfo>

namespace ebb::nn {

namespace detail {
[[noreturn]] EBB_API void fail_empty(const std::type_info& contained);

/// True if a holder constructed from these arguments creates a module. Otherwise it refers to an existing
/// one.
template <class Own, class Head, class... Tail>
concept MakesModule =
    sizeof...(Tail) > 0 || !((Holder<Head> && std::is_base_of_v<Own, std::remove_cvref_t<Head>>) ||
                             std::is_convertible_v<Head, std::shared_ptr<typename Own::ContainedType>>);
}  // namespace detail

/// A std::shared_ptr to a module, constructed like the module itself. Copies refer to the same module.
/// `Linear fc{nullptr};` creates an empty holder, to which a module is assigned later
/// (torch::nn::ModuleHolder).
template <class Contained>
class ModuleHolder : detail::ModuleHolderBase {
 public:
  using ContainedType = Contained;
  using Impl = Contained;

  /// Creates a module with its default constructor.
  ModuleHolder() : impl_(default_construct()) {}
  ModuleHolder(std::nullptr_t) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}
  /// Creates a module from these arguments.
  template <class Head, class... Tail>
    requires detail::MakesModule<ModuleHolder, Head, Tail...>
  explicit ModuleHolder(Head&& head, Tail&&... tail)
      : impl_(construct(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}
  /// Creates a module from options in a braced list, as in `LayerNorm({5, 6})`.
  template <class T>
    requires(std::is_constructible_v<Contained, std::initializer_list<T>> &&
             !std::is_same_v<T, std::nullptr_t>)
  explicit ModuleHolder(std::initializer_list<T> list) : impl_(std::make_shared<Contained>(list)) {}

  explicit operator bool() const noexcept { return !is_empty(); }
  bool is_empty() const noexcept { return impl_ == nullptr; }
  Contained* operator->() EBB_LIFETIMEBOUND { return get(); }
  const Contained* operator->() const EBB_LIFETIMEBOUND { return get(); }
  Contained& operator*() EBB_LIFETIMEBOUND { return *get(); }
  const Contained& operator*() const EBB_LIFETIMEBOUND { return *get(); }
  const std::shared_ptr<Contained>& ptr() const {
    check();
    return impl_;
  }
  Contained* get() {
    check();
    return impl_.get();
  }
  const Contained* get() const {
    check();
    return impl_.get();
  }
  /// Calls forward() with the module's hooks.
  template <class... Args, class C = Contained>
  auto operator()(Args&&... args) -> decltype(std::declval<C&>().forward(std::forward<Args>(args)...)) {
    return detail::call_module(*get(), std::forward<Args>(args)...);
  }
  // The compiler shows this line in its error, so it is not wrapped.
  // clang-format off
  template <class... Args>
  void forward(Args&&...) const = delete;  // a holder is a pointer to its module: write net(x), or net->forward(x)
  // clang-format on
  template <class Arg>
  decltype(auto) operator[](Arg&& arg) {
    return (*get())[std::forward<Arg>(arg)];
  }
  template <class Arg>
  decltype(auto) operator[](Arg&& arg) const {
    return (*get())[std::forward<Arg>(arg)];
  }
  decltype(auto) begin() { return get()->begin(); }
  decltype(auto) end() { return get()->end(); }
  decltype(auto) begin() const { return get()->begin(); }
  decltype(auto) end() const { return get()->end(); }

 protected:
  std::shared_ptr<Contained> impl_;

 private:
  void check() const {
    if (is_empty()) [[unlikely]]
      detail::fail_empty(typeid(Contained));
  }
  template <class... Args>
  static std::shared_ptr<Contained> construct(Args&&... args) {
    constexpr bool fits = std::is_constructible_v<Contained, Args...>;
    static_assert(fits, "This module has no constructor that takes these arguments.");
    if constexpr (fits)
      return std::make_shared<Contained>(std::forward<Args>(args)...);
    else
      return nullptr;
  }
  static std::shared_ptr<Contained> default_construct() {
    static_assert(
        std::is_default_constructible_v<Contained>,
        "This module has no default constructor: give the holder arguments, or nullptr to fill it later.");
    return std::make_shared<Contained>();
  }
};

template <class Contained>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<Contained>& module) {
  return stream << static_cast<const Module&>(*module);
}

}  // namespace ebb::nn

/// Declares the handle `Name` of a module class `NameImpl` (libtorch's TORCH_MODULE).
#define EBB_MODULE(Name) using Name = ::ebb::nn::ModuleHolder<Name##Impl>
#define EBB_MODULE_IMPL(Name, Impl) using Name = ::ebb::nn::ModuleHolder<Impl>
