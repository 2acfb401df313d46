// Sequential and AnyModule.
#include <ebb/nn/modules/sequential.h>

#include "nn/module_tools.h"

#include <ostream>

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
  EBB_CHECK(forward_, module_->name(), " has no forward() method.");
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

}  // namespace ebb::nn
