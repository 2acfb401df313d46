// ModuleList, ModuleDict, ParameterList, ParameterDict and Functional.
#pragma once

#include <ebb/nn/cloneable.h>

namespace ebb::nn {

/// A list of modules, without forward (torch::nn::ModuleList).
class EBB_API ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;
  using ConstIterator = std::vector<std::shared_ptr<Module>>::const_iterator;

  ModuleListImpl();
  template <class... Modules>
    requires(sizeof...(Modules) > 0 &&
             (!std::is_base_of_v<ModuleListImpl, std::remove_cvref_t<Modules>> && ...))
  explicit ModuleListImpl(Modules&&... modules) : ModuleListImpl() {
    (push_back(std::forward<Modules>(modules)), ...);
  }
  std::shared_ptr<Module> clone(const optional<Device>& device = nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  void push_back(std::shared_ptr<Module> module);
  template <class M>
    requires std::is_base_of_v<Module, std::remove_cvref_t<M>>
  void push_back(M&& module) {
    push_back(std::make_shared<std::remove_cvref_t<M>>(std::forward<M>(module)));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& holder) {
    push_back(std::shared_ptr<Module>(holder.ptr()));
  }
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }
  /// Inserts a module before the one at `index`.
  void insert(std::size_t index, std::shared_ptr<Module> module);
  template <class M>
  void insert(std::size_t index, const ModuleHolder<M>& holder) {
    insert(index, std::shared_ptr<Module>(holder.ptr()));
  }

  Iterator begin() { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator begin() const { return modules_.begin(); }
  ConstIterator end() const { return modules_.end(); }
  template <class T>
  T& at(std::size_t index) const {
    T* module = ptr(index)->template as<T>();
    EBB_CHECK(module, "Unable to cast module[", std::uint64_t{index}, "] to the requested type");
    return *module;
  }
  std::shared_ptr<Module> ptr(std::size_t index) const;
  template <class T>
  std::shared_ptr<T> ptr(std::size_t index) const {
    return std::dynamic_pointer_cast<T>(ptr(index));
  }
  std::shared_ptr<Module> operator[](std::size_t index) const { return ptr(index); }
  std::size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  std::vector<std::shared_ptr<Module>> modules_;
};
EBB_LIBRARY_MODULE(ModuleList);

/// A dictionary of modules, without forward (torch::nn::ModuleDict).
class EBB_API ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Dict = OrderedDict<std::string, std::shared_ptr<Module>>;
  using Pairs = std::vector<std::pair<std::string, std::shared_ptr<Module>>>;

  ModuleDictImpl();
  explicit ModuleDictImpl(const Pairs& modules);
  explicit ModuleDictImpl(const Dict& modules);
  std::shared_ptr<Module> clone(const optional<Device>& device = nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  Pairs items() const;
  std::vector<std::string> keys() const;
  std::vector<std::shared_ptr<Module>> values() const;
  Dict::Iterator begin() { return children_.begin(); }
  Dict::Iterator end() { return children_.end(); }
  Dict::ConstIterator begin() const { return children_.begin(); }
  Dict::ConstIterator end() const { return children_.end(); }
  std::size_t size() const noexcept { return children_.size(); }
  bool empty() const noexcept { return children_.is_empty(); }
  bool contains(const std::string& key) const noexcept { return children_.contains(key); }
  void clear();
  /// Adds a module, or replaces the module that has this key.
  void insert(const std::string& key, std::shared_ptr<Module> module);
  /// Removes a module and returns it.
  std::shared_ptr<Module> pop(const std::string& key);
  void update(const Pairs& modules);
  template <class Container>
  void update(const Container& container) {
    for (const auto& item : container) insert(item.key(), item.value());
  }
  std::shared_ptr<Module> operator[](const std::string& key) const { return children_[key]; }
  template <class T>
  T& at(const std::string& key) const {
    T* module = children_[key]->template as<T>();
    EBB_CHECK(module, "Unable to cast module[", key, "] to the requested type");
    return *module;
  }
  template <class T>
  std::shared_ptr<T> ptr(const std::string& key) const {
    return std::dynamic_pointer_cast<T>(children_[key]);
  }
};
EBB_LIBRARY_MODULE(ModuleDict);

/// A list of parameters (torch::nn::ParameterList).
class EBB_API ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Dict = OrderedDict<std::string, Variable>;

  ParameterListImpl();
  template <class... Tensors>
    requires(sizeof...(Tensors) > 0 && (std::is_same_v<Variable, std::remove_cvref_t<Tensors>> && ...))
  explicit ParameterListImpl(Tensors&&... parameters) : ParameterListImpl() {
    (append(parameters), ...);
  }
  void reset() override {}
  std::shared_ptr<Module> clone(const optional<Device>& device = nullopt) const override;
  void pretty_print(std::ostream& stream) const override;

  void append(const Variable& parameter);
  void append(const Dict::Item& item);
  /// Appends each tensor of a container. The tensors of an OrderedDict keep their names.
  template <class Container>
  void extend(const Container& container) {
    for (const auto& parameter : container) append(parameter);
  }
  /// Appends the parameters of another list. `other` may be this list. The names of the new parameters
  /// continue the numbering.
  void extend(const ParameterListImpl& other);
  ParameterListImpl& operator+=(const ParameterListImpl& other) {
    extend(other);
    return *this;
  }
  Dict::Iterator begin() { return parameters_.begin(); }
  Dict::Iterator end() { return parameters_.end(); }
  Dict::ConstIterator begin() const { return parameters_.begin(); }
  Dict::ConstIterator end() const { return parameters_.end(); }
  Variable& at(std::size_t index);
  const Variable& at(std::size_t index) const { return const_cast<ParameterListImpl&>(*this).at(index); }
  Variable& operator[](std::size_t index) { return at(index); }
  const Variable& operator[](std::size_t index) const { return at(index); }
  std::size_t size() const noexcept { return parameters_.size(); }
  bool is_empty() const noexcept { return parameters_.is_empty(); }
};
EBB_LIBRARY_MODULE(ParameterList);

/// A dictionary of parameters (torch::nn::ParameterDict).
class EBB_API ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Dict = OrderedDict<std::string, Variable>;

  ParameterDictImpl();
  explicit ParameterDictImpl(const Dict& parameters);
  void reset() override {}
  std::shared_ptr<Module> clone(const optional<Device>& device = nullopt) const override;
  void pretty_print(std::ostream& stream) const override;

  Variable& insert(const std::string& key, const Variable& parameter);
  /// Removes a parameter and returns it.
  Variable pop(const std::string& key);
  std::vector<std::string> keys() const;
  std::vector<Variable> values() const;
  Dict::Iterator begin() { return parameters_.begin(); }
  Dict::Iterator end() { return parameters_.end(); }
  Dict::ConstIterator begin() const { return parameters_.begin(); }
  Dict::ConstIterator end() const { return parameters_.end(); }
  std::size_t size() const noexcept { return parameters_.size(); }
  bool empty() const noexcept { return parameters_.is_empty(); }
  template <class Container>
  void update(const Container& container) {
    for (const auto& item : container) parameters_[item.key()] = item.value();
  }
  void clear() { parameters_.clear(); }
  bool contains(const std::string& key) const noexcept { return parameters_.contains(key); }
  Variable& get(const std::string& key) { return parameters_[key]; }
  const Variable& get(const std::string& key) const { return parameters_[key]; }
  Variable& operator[](const std::string& key) { return parameters_[key]; }
  const Variable& operator[](const std::string& key) const { return parameters_[key]; }
};
EBB_LIBRARY_MODULE(ParameterDict);

/// A function of one tensor as a module: `Functional(ebb::relu)`, `Functional(ebb::elu, 1, 0, 1)`
/// (torch::nn::Functional).
class EBB_API FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Variable(Variable)>;

  explicit FunctionalImpl(Function function);
  template <class F, class... Args>
    requires(sizeof...(Args) > 0)
  explicit FunctionalImpl(F function, Args&&... args)
      : FunctionalImpl(Function([=](const Variable& input) { return function(input, args...); })) {}
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
  Variable operator()(const Variable& input) { return forward(input); }

 private:
  Function function_;
};
EBB_LIBRARY_MODULE(Functional);

}  // namespace ebb::nn
