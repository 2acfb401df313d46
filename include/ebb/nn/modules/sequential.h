// Sequential: a chain of modules.
#pragma once

#include <ebb/nn/any_module.h>
#include <ebb/nn/cloneable.h>

namespace ebb::nn {

namespace detail {
/// The arguments that push_back() takes without a name.
template <class M>
concept InSequential = std::is_base_of_v<Module, std::remove_cvref_t<M>> || Holder<std::remove_cvref_t<M>> ||
                       std::is_convertible_v<M, std::shared_ptr<Module>> ||
                       std::is_convertible_v<M, NamedAnyModule> || std::is_convertible_v<M, AnyModule>;

template <class M>
constexpr bool check_in_sequential() {
  constexpr bool fits = InSequential<M>;
  static_assert(fits,
                "Sequential takes modules: derive the class from nn::Module, and wrap a function in "
                "Functional.");
  return fits;
}
}  // namespace detail

/// Passes the output of each module to the next: `Sequential(Linear(3, 4), ReLU(), Linear(4, 1))`, or with
/// names, `Sequential({{"in", Linear(3, 4)}, {"act", ReLU()}})`. The output type of each module must match
/// the input type of the next (torch::nn::Sequential).
class EBB_API SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;

  SequentialImpl();
  template <class... Modules>
    requires(sizeof...(Modules) > 0 && ((detail::InSequential<Modules> &&
                                         !std::is_base_of_v<SequentialImpl, std::remove_cvref_t<Modules>>) &&
                                        ...))
  explicit SequentialImpl(Modules&&... modules) : SequentialImpl() {
    (push_back(std::forward<Modules>(modules)), ...);
  }
  explicit SequentialImpl(OrderedDict<std::string, AnyModule>&& modules);
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> modules);

  std::shared_ptr<Module> clone(const optional<Device>& device = nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  /// Calls all modules in order. The first gets `inputs`.
  template <class Return = Variable, class... Inputs>
  Return forward(Inputs&&... inputs) {
    check_not_empty();
    AnyValue value = modules_.front().any_forward(std::forward<Inputs>(inputs)...);
    for (std::size_t i = 1; i < modules_.size(); ++i) value = modules_[i].any_forward(std::move(value));
    Return* result = value.template try_get<Return>();
    if (!result) wrong_return_type(value.type_info(), typeid(Return));
    return std::move(*result);
  }

  /// Appends a module, named by its index or by `name`.
  template <class M>
  void push_back(std::shared_ptr<M> module) {
    push_back(std::to_string(modules_.size()), std::move(module));
  }
  template <class M>
  void push_back(std::string name, std::shared_ptr<M> module) {
    push_back(std::move(name), AnyModule(std::move(module)));
  }
  template <class M>
    requires std::is_base_of_v<Module, std::remove_cvref_t<M>>
  void push_back(M&& module) {
    push_back(std::to_string(modules_.size()), AnyModule(std::forward<M>(module)));
  }
  template <class M>
    requires std::is_base_of_v<Module, std::remove_cvref_t<M>>
  void push_back(std::string name, M&& module) {
    push_back(std::move(name), AnyModule(std::forward<M>(module)));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& holder) {
    push_back(std::to_string(modules_.size()), AnyModule(holder));
  }
  template <class M>
  void push_back(std::string name, const ModuleHolder<M>& holder) {
    push_back(std::move(name), AnyModule(holder));
  }
  template <class M>
    requires(!detail::InSequential<M>)
  void push_back(M&&) {
    detail::check_in_sequential<M>();
  }
  void push_back(NamedAnyModule module);
  void push_back(AnyModule module);
  void push_back(std::string name, AnyModule module);
  /// Appends each module of a container.
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }

  Iterator begin() { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator begin() const { return modules_.begin(); }
  ConstIterator end() const { return modules_.end(); }
  /// Returns the module at an index, as a T.
  template <class T>
  T& at(std::size_t index) const {
    check_index(index);
    return modules_[index].get<T>();
  }
  std::shared_ptr<Module> ptr(std::size_t index) const;
  template <class T>
  std::shared_ptr<T> ptr(std::size_t index) const {
    check_index(index);
    return modules_[index].ptr<T>();
  }
  std::shared_ptr<Module> operator[](std::size_t index) const { return ptr(index); }
  std::size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  void check_index(std::size_t index) const;
  void check_not_empty() const;
  [[noreturn]] static void wrong_return_type(const std::type_info& actual, const std::type_info& asked);

  std::vector<AnyModule> modules_;
};

extern template class Cloneable<SequentialImpl>;

/// Handle of SequentialImpl.
class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  Sequential() = default;
  /// This constructor is not inherited. Compiler errors about an inherited constructor would not show the
  /// line in which the user passes a wrong argument.
  template <class Head, class... Tail>
    requires detail::MakesModule<ModuleHolder<SequentialImpl>, Head, Tail...>
  explicit Sequential(Head&& head, Tail&&... tail)
      : ModuleHolder(make(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}
  EBB_API Sequential(std::initializer_list<NamedAnyModule> modules);
  template <class Return = Variable, class... Inputs>
  Return operator()(Inputs&&... inputs) {
    SequentialImpl& module = *get();
    const auto forward = [&](auto&&... input) -> Return {
      return module.template forward<Return>(std::forward<decltype(input)>(input)...);
    };
    if (module.has_hooks()) [[unlikely]]
      return detail::hooked(module, forward, std::forward<Inputs>(inputs)...);
    return forward(std::forward<Inputs>(inputs)...);
  }

 private:
  template <class... Modules>
  static std::shared_ptr<SequentialImpl> make(Modules&&... modules) {
    if constexpr (std::is_constructible_v<SequentialImpl, Modules...>)
      return std::make_shared<SequentialImpl>(std::forward<Modules>(modules)...);
    else
      (static_cast<void>(detail::check_in_sequential<Modules>()), ...);
    return nullptr;
  }
};

}  // namespace ebb::nn
