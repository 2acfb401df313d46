// Containers: Sequential, AnyModule, ModuleList, ModuleDict, ParameterList, ParameterDict and Functional.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/modules/container.h>
#include <ebb/nn/modules/sequential.h>
#include <ebb/ops/creation.h>

#include "nn/module_tools.h"

#include <ostream>
#include <unordered_map>

namespace ebb::nn {

namespace detail {

std::string type_name(const std::type_info& type) {
  if (type == typeid(Variable)) return named_by_program("ebb::Tensor");
  return class_name(type);
}

void wrong_argument_count(const Module& module, std::size_t expected, std::size_t got) {
  ebb::detail::fail(module.name(), "'s forward() method expects ", std::uint64_t{expected},
                    " argument(s), but received ", std::uint64_t{got}, ". If ", module.name(),
                    "'s forward() method has default arguments, call it through a module of its own.");
}

void wrong_argument_type(const Module& module, std::size_t position, const std::type_info& expected,
                         const std::type_info& got) {
  ebb::detail::fail("Expected argument #", std::uint64_t{position}, " of ", module.name(),
                    "'s forward() to be of type ", type_name(expected), ", but received value of type ",
                    type_name(got));
}

}  // namespace detail

std::shared_ptr<Module> AnyModule::ptr() const {
  EBB_CHECK(!is_empty(), "Cannot call ptr() on an empty AnyModule");
  return module_;
}

const std::type_info& AnyModule::type_info() const {
  EBB_CHECK(!is_empty(), "Cannot call type_info() on an empty AnyModule");
  const Module& module = *module_;
  return typeid(module);
}

AnyModule AnyModule::clone(optional<Device> device) const {
  AnyModule copy;
  copy.forward_ = forward_;
  if (module_) copy.module_ = module_->clone(device);
  return copy;
}

AnyValue AnyModule::forward_values(std::vector<AnyValue>& values) {
  EBB_CHECK(!is_empty(), "Cannot call forward() on an empty AnyModule");
  EBB_CHECK(forward_, module_->name(), " has no forward() method that AnyModule can call. ",
            "It must be public. If it is overloaded, one overload must take one tensor.");
  return forward_->forward(*module_, values);
}

SequentialImpl::SequentialImpl() = default;

SequentialImpl::SequentialImpl(OrderedDict<std::string, AnyModule>&& modules) {
  modules_.reserve(modules.size());
  for (auto& item : modules) push_back(item.key(), std::move(item.value()));
}

SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> modules) {
  modules_.reserve(modules.size());
  for (const NamedAnyModule& module : modules) push_back(module.name(), module.module());
}

std::shared_ptr<Module> SequentialImpl::clone(const optional<Device>& device) const {
  const detail::CloneSession session(*this);
  if (std::shared_ptr<Module> known = session.known()) return known;
  auto copy = std::make_shared<SequentialImpl>(*this);
  copy->children_.clear();
  copy->modules_.clear();
  for (std::size_t i = 0; i < modules_.size(); ++i)
    copy->push_back(children_[i].key(), modules_[i].clone(device));
  return session.done(std::move(copy));
}

void SequentialImpl::push_back(std::string name, AnyModule module) {
  register_module(std::move(name), module.ptr());
  modules_.push_back(std::move(module));
}

void SequentialImpl::push_back(NamedAnyModule module) {
  push_back(module.name(), std::move(module.module()));
}

void SequentialImpl::push_back(AnyModule module) {
  push_back(std::to_string(modules_.size()), std::move(module));
}

std::shared_ptr<Module> SequentialImpl::ptr(std::size_t index) const {
  check_index(index);
  return modules_[index].ptr();
}

void SequentialImpl::pretty_print(std::ostream& stream) const {
  stream << named_by_program("ebb::nn::Sequential");
}

void SequentialImpl::check_index(std::size_t index) const {
  EBB_CHECK(index < size(), "Index out of range: Sequential has ", std::uint64_t{size()},
            " modules, got index ", std::uint64_t{index});
}

void SequentialImpl::check_not_empty() const {
  EBB_CHECK(!is_empty(),
            "Cannot call forward() on an empty Sequential: give it modules first, with push_back().");
}

void SequentialImpl::wrong_return_type(const std::type_info& actual, const std::type_info& asked) {
  ebb::detail::fail("The type of the return value is ", detail::type_name(actual),
                    ", but you asked for type ", detail::type_name(asked),
                    ". Write forward<T>() with the type that the last module returns.");
}

Sequential::Sequential(std::initializer_list<NamedAnyModule> modules)
    : ModuleHolder(std::make_shared<SequentialImpl>(modules)) {}

template class Cloneable<SequentialImpl>;

namespace {

Variable copy_of(const Variable& x, const optional<Device>& device) {
  NoGradGuard no_grad;
  const Variable data = x.detach();
  return device && data.device() != *device ? data.to(*device) : data.clone();
}

// A parameter that `from` contains under two names is copied once and registered in `to` under both names.
void copy_parameters(Module& to, const Module::StateDict& from, const optional<Device>& device) {
  std::unordered_map<const VariableImpl*, Variable> copies;
  for (const auto& item : from) {
    Variable& copy = copies[item->impl()];
    if (!copy.defined()) copy = copy_of(*item, device);
    to.register_parameter(item.key(), copy, item->requires_grad());
  }
}

void print_parameters(std::ostream& stream, const char* name, const Module::StateDict& parameters) {
  stream << named_by_program("ebb::nn::") << name << "(\n";
  for (const auto& item : parameters) {
    stream << "(" << item.key() << "): Parameter containing: [" << to_string(item->dtype()) << " of size "
           << item->sizes() << "]\n";
  }
  stream << ")";
}

}  // namespace

ModuleListImpl::ModuleListImpl() = default;

std::shared_ptr<Module> ModuleListImpl::clone(const optional<Device>& device) const {
  const detail::CloneSession session(*this);
  if (std::shared_ptr<Module> known = session.known()) return known;
  auto copy = std::make_shared<ModuleListImpl>(*this);
  copy->children_.clear();
  copy->modules_.clear();
  for (const auto& module : modules_) copy->push_back(module->clone(device));
  return session.done(std::move(copy));
}

void ModuleListImpl::pretty_print(std::ostream& stream) const {
  stream << named_by_program("ebb::nn::ModuleList");
}

void ModuleListImpl::push_back(std::shared_ptr<Module> module) {
  register_module(std::to_string(modules_.size()), module);
  modules_.push_back(std::move(module));
}

void ModuleListImpl::insert(std::size_t index, std::shared_ptr<Module> module) {
  EBB_CHECK(index <= size(), "Index out of range: ModuleList has ", std::uint64_t{size()},
            " modules, got index ", std::uint64_t{index});
  modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(index), std::move(module));
  children_.clear();
  for (std::size_t i = 0; i < modules_.size(); ++i) register_module(std::to_string(i), modules_[i]);
}

std::shared_ptr<Module> ModuleListImpl::ptr(std::size_t index) const {
  EBB_CHECK(index < size(), "Index out of range: ModuleList has ", std::uint64_t{size()},
            " modules, got index ", std::uint64_t{index});
  return modules_[index];
}

ModuleDictImpl::ModuleDictImpl() = default;
ModuleDictImpl::ModuleDictImpl(const Pairs& modules) { update(modules); }
ModuleDictImpl::ModuleDictImpl(const Dict& modules) { update(modules); }

std::shared_ptr<Module> ModuleDictImpl::clone(const optional<Device>& device) const {
  const detail::CloneSession session(*this);
  if (std::shared_ptr<Module> known = session.known()) return known;
  auto copy = std::make_shared<ModuleDictImpl>(*this);
  copy->children_.clear();
  for (const auto& item : children_) copy->insert(item.key(), item.value()->clone(device));
  return session.done(std::move(copy));
}

void ModuleDictImpl::pretty_print(std::ostream& stream) const {
  stream << named_by_program("ebb::nn::ModuleDict");
}

ModuleDictImpl::Pairs ModuleDictImpl::items() const { return children_.pairs(); }
std::vector<std::string> ModuleDictImpl::keys() const { return children_.keys(); }
std::vector<std::shared_ptr<Module>> ModuleDictImpl::values() const { return children_.values(); }

void ModuleDictImpl::clear() {
  while (!children_.is_empty()) unregister_module(children_.back().key());
}

void ModuleDictImpl::insert(const std::string& key, std::shared_ptr<Module> module) {
  if (contains(key))
    replace_module(key, std::move(module));
  else
    register_module(key, std::move(module));
}

std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& key) {
  std::shared_ptr<Module> module = children_[key];
  unregister_module(key);
  return module;
}

void ModuleDictImpl::update(const Pairs& modules) {
  for (const auto& [key, module] : modules) insert(key, module);
}

ParameterListImpl::ParameterListImpl() = default;

std::shared_ptr<Module> ParameterListImpl::clone(const optional<Device>& device) const {
  auto copy = std::make_shared<ParameterListImpl>(*this);
  copy->parameters_.clear();
  copy_parameters(*copy, parameters_, device);
  return copy;
}

void ParameterListImpl::pretty_print(std::ostream& stream) const {
  print_parameters(stream, "ParameterList", parameters_);
}

void ParameterListImpl::append(const Variable& parameter) {
  register_parameter(std::to_string(parameters_.size()), parameter, parameter.requires_grad());
}

void ParameterListImpl::append(const Dict::Item& item) {
  register_parameter(item.key(), item.value(), item.value().requires_grad());
}

void ParameterListImpl::extend(const ParameterListImpl& other) {
  for (const Variable& parameter : other.parameters_.values()) append(parameter);
}

Variable& ParameterListImpl::at(std::size_t index) {
  EBB_CHECK(index < size(), "Index out of range: ParameterList has ", std::uint64_t{size()},
            " parameters, got index ", std::uint64_t{index});
  return parameters_[index].value();
}

ParameterDictImpl::ParameterDictImpl() = default;
ParameterDictImpl::ParameterDictImpl(const Dict& parameters) { parameters_ = parameters; }

std::shared_ptr<Module> ParameterDictImpl::clone(const optional<Device>& device) const {
  auto copy = std::make_shared<ParameterDictImpl>(*this);
  copy->parameters_.clear();
  copy_parameters(*copy, parameters_, device);
  return copy;
}

void ParameterDictImpl::pretty_print(std::ostream& stream) const {
  print_parameters(stream, "ParameterDict", parameters_);
}

std::vector<std::string> ParameterDictImpl::keys() const { return parameters_.keys(); }
std::vector<Variable> ParameterDictImpl::values() const { return parameters_.values(); }

Variable& ParameterDictImpl::insert(const std::string& key, const Variable& parameter) {
  return register_parameter(key, parameter, parameter.requires_grad());
}

Variable ParameterDictImpl::pop(const std::string& key) {
  Variable parameter = parameters_[key];
  parameters_.erase(key);
  return parameter;
}

FunctionalImpl::FunctionalImpl(Function function) : function_(std::move(function)) {}
void FunctionalImpl::reset() {}
void FunctionalImpl::pretty_print(std::ostream& stream) const {
  stream << named_by_program("ebb::nn::Functional()");
}
Variable FunctionalImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return function_(input); });
}

template class Cloneable<ModuleListImpl>;
template class Cloneable<ModuleDictImpl>;
template class Cloneable<ParameterListImpl>;
template class Cloneable<ParameterDictImpl>;
template class Cloneable<FunctionalImpl>;

}  // namespace ebb::nn
