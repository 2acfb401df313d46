// Modules: construction, names, registration, moves and conversions.
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/warning.h>
#include <ebb/ops/creation.h>

#include "autograd/tensor_state.h"
#include "nn/hooks.h"
#include "nn/module_tools.h"
#include "nn/walk.h"

#include <new>
#include <ostream>
#include <typeinfo>

namespace ebb {

template class OrderedDict<std::string, Variable>;
template class OrderedDict<std::string, std::shared_ptr<nn::Module>>;

namespace nn {

namespace {

void check_name(const std::string& name, const char* what) {
  EBB_CHECK(!name.empty(), what,
            " name must not be empty. Use the name of the member: register_module(\"fc\", fc).");
  EBB_CHECK(name.find('.') == std::string::npos, what, " name must not contain a dot (got '", name,
            "'): dots separate the modules of a path. Use an underscore.");
}

// Modules that the outermost destructor of this thread still has to release.
constinit thread_local std::vector<std::shared_ptr<Module>>* pending_destruction = nullptr;

}  // namespace

Module::Module() = default;
Module::Module(const Module&) = default;
Module& Module::operator=(const Module& other) {
  if (this == &other) return *this;
  hand_children_to(nullptr);
  parameters_ = other.parameters_;
  buffers_ = other.buffers_;
  children_ = other.children_;
  name_ = other.name_;
  hooks_ = other.hooks_;
  is_training_ = other.is_training_;
  return *this;
}
Module::Module(Module&& other) noexcept { *this = std::move(other); }
Module& Module::operator=(Module&& other) noexcept {
  if (this == &other) return *this;
  hand_children_to(nullptr);
  other.hand_children_to(this);
  parameters_ = std::move(other.parameters_);
  buffers_ = std::move(other.buffers_);
  children_ = std::move(other.children_);
  name_ = std::move(other.name_);
  hooks_ = std::move(other.hooks_);
  is_training_ = other.is_training_;
  return *this;
}
Module::Module(std::string name) : name_(std::move(name)) {}

// A destructor passes its children to the outermost destructor, which releases them one by one. The stack
// thus does not overflow in deep trees. If there is no memory for the list, the child is released
// immediately.
Module::~Module() {
  if (children_.is_empty()) return;
  std::vector<std::shared_ptr<Module>> own;
  const bool outermost = pending_destruction == nullptr;
  if (outermost) pending_destruction = &own;
  for (std::size_t i = children_.size(); i-- > 0;) {
    std::shared_ptr<Module>& child = children_[i].value();
    if (!child) continue;
    if (child->parent_.module == this) child->parent_.module = nullptr;
    try {
      pending_destruction->push_back(child);
    } catch (const std::bad_alloc&) {
    }
    child.reset();
  }
  if (!outermost) return;
  while (!own.empty()) {
    const std::shared_ptr<Module> next = std::move(own.back());
    own.pop_back();
  }
  pending_destruction = nullptr;
}

// Makes `parent` the parent of all children whose parent is this module.
void Module::hand_children_to(const Module* parent) noexcept {
  for (auto& child : children_)
    if (child.value() && child.value()->parent_.module == this) child.value()->parent_.module = parent;
}

const std::string& Module::name() const noexcept {
  static const std::string without_memory = "Module";
  try {
    if (!name_) name_ = class_name(typeid(*this));
  } catch (const std::bad_alloc&) {
    return without_memory;
  }
  return *name_;
}

std::string Module::path() const {
  std::vector<const std::string*> names;
  for (const Module* module = this; const Module* parent = module->parent_.module; module = parent)
    for (const auto& child : parent->children_)
      if (child.value().get() == module) {
        names.push_back(&child.key());
        break;
      }
  std::string path;
  for (std::size_t i = names.size(); i-- > 0;) path += *names[i] + (i > 0 ? "." : "");
  return path;
}

std::shared_ptr<Module> Module::clone(const optional<Device>&) const {
  ebb::detail::fail("clone() has not been implemented for ", name(), ". Subclass ",
                    named_by_program("ebb::nn::Cloneable<"), name(), "> instead of ",
                    named_by_program("ebb::nn::Module"), " to inherit the ability to clone.");
}

void Module::clone_(Module&, const optional<Device>&) {}

void Module::clone_state(Module& copy, const optional<Device>& device) const {
  if (hooks_) {
    copy.hooks_.get_or_create()->derived.clear();
    for (const detail::DerivedTensor& each : hooks_->derived) each.repeat(copy);
  }
  const auto check = [&](bool same, const char* what, const char* register_function) {
    EBB_CHECK(same, "The cloned module does not have the same number of ", what,
              " as the original module after calling reset(). Are you sure you called ", register_function,
              "() inside reset() and not the constructor?");
  };
  check(copy.parameters_.size() == parameters_.size(), "parameters", "register_parameter");
  check(copy.buffers_.size() == buffers_.size(), "buffers", "register_buffer");
  check(copy.children_.size() == children_.size(), "child modules", "register_module");
  const auto duplicate = [&](const Variable& tensor) {
    return device && tensor.device() != *device ? tensor.to(*device) : tensor.detach().clone();
  };
  for (const auto& parameter : parameters_) {
    if (!parameter->defined()) continue;
    Variable& own = copy.parameters_[parameter.key()];
    own.set_data(duplicate(*parameter));
    own.set_requires_grad(parameter->requires_grad());
  }
  for (const auto& buffer : buffers_)
    if (buffer->defined()) copy.buffers_[buffer.key()].set_data(duplicate(*buffer));
  for (const auto& child : children_) copy.children_[child.key()]->clone_(*child.value(), device);
  if (hooks_) detail::recompute_evaluated(copy);
}

void Module::adopt_children() {
  for (auto& child : children_) child.value()->parent_.module = this;
}

void Module::train(bool on) {
  pass_down(Call::train, on);
  is_training_ = on;
}

void Module::eval() { train(false); }

bool Module::is_training() const noexcept { return is_training_; }

template <class Function>
void Module::for_each_tensor(Function&& function) {
  const auto visit = [&](Module& module) {
    for (auto& parameter : module.parameters_) function(*parameter);
    for (auto& buffer : module.buffers_) function(*buffer);
  };
  visit(*this);
  walk({}, [&](const std::string&, const std::shared_ptr<Module>& m) { visit(*m); });
}

void Module::to(Device device, DType dtype, bool non_blocking) {
  for_each_tensor([&](Variable& x) {
    if (x.defined()) x.set_data(x.data().to(device, dtype, non_blocking));
  });
}

void Module::to(DType dtype, bool non_blocking) {
  for_each_tensor([&](Variable& x) {
    if (x.defined()) x.set_data(x.data().to(dtype, non_blocking));
  });
}

void Module::to(Device device, bool non_blocking) {
  for_each_tensor([&](Variable& x) {
    if (x.defined()) x.set_data(x.data().to(device, x.dtype(), non_blocking));
  });
}

void Module::to(MemoryFormat format) {
  EBB_CHECK(format != MemoryFormat::Preserve,
            "Module::to: MemoryFormat::Preserve names no order. Use Contiguous, ChannelsLast or "
            "ChannelsLast3d.");
  const std::int64_t dims = format == MemoryFormat::ChannelsLast ? 4 : 5;
  for_each_tensor([&](Variable& x) {
    if (x.defined() && (format == MemoryFormat::Contiguous || x.dim() == dims))
      x.set_data(x.data().contiguous(format));
  });
}

void Module::zero_grad(bool set_to_none) {
  pass_down(Call::zero_grad, set_to_none);
  for (auto& parameter : parameters_) {
    if (!parameter->defined()) continue;
    if (set_to_none) {
      autograd::drop_gradient(*parameter);
    } else if (parameter->grad().defined()) {
      Variable& grad = parameter->mutable_grad();
      grad = grad.detach();
      grad.zero_();
    }
  }
}

Variable& Module::register_parameter(std::string name, Variable tensor, bool requires_grad) {
  check_name(name, "Parameter");
  if (tensor.defined()) tensor.set_requires_grad(requires_grad);
  if (!tensor.defined() && requires_grad)
    warn("register_parameter: the tensor of '", name,
         "' is undefined and cannot require grad. Ignoring the `requires_grad=true` function parameter.");
  return parameters_.insert(std::move(name), std::move(tensor));
}

Variable& Module::register_buffer(std::string name, Variable tensor) {
  check_name(name, "Buffer");
  return buffers_.insert(std::move(name), std::move(tensor));
}

void Module::add_child(std::string name, std::shared_ptr<Module> module) {
  check_name(name, "Submodule");
  EBB_CHECK(module != nullptr, "register_module: submodule '", name, "' of ", this->name(), " is null.");
  Module& child = *children_.insert(std::move(name), std::move(module));
  child.parent_.module = this;
}

void Module::replace_child(const std::string& name, std::shared_ptr<Module> module) {
  EBB_CHECK(module != nullptr, "replace_module: the new submodule '", name, "' of ", this->name(),
            " is null.");
  std::shared_ptr<Module>& slot = children_[name];
  if (slot->parent_.module == this) slot->parent_.module = nullptr;
  slot = std::move(module);
  slot->parent_.module = this;
}

void Module::unregister_module(const std::string& name) {
  EBB_CHECK(children_.contains(name), "No Module with name `", name, "` is registered in ", this->name(),
            ".");
  if (children_[name]->parent_.module == this) children_[name]->parent_.module = nullptr;
  children_.erase(name);
}

Variable& Module::replace_parameter(const std::string& name, Variable tensor) {
  Variable& slot = parameters_[name];
  EBB_CHECK(tensor.defined(), "replace_parameter: the new '", name, "' of ", this->name(), " is undefined.");
  EBB_CHECK(!slot.defined() || slot.sizes() == tensor.sizes(), "replace_parameter: '", name, "' of ",
            this->name(), " has the shape ", slot.sizes(), ", but the new tensor has ", tensor.sizes(), ".");
  return slot = std::move(tensor);
}

void Module::tie_weights() {}

void Module::pretty_print(std::ostream& stream) const { stream << name(); }

std::ostream& operator<<(std::ostream& stream, const Module& module) {
  ebb::detail::not_replayed("it prints a module");
  struct Level {
    const Module* module;
    std::size_t next;
  };
  std::vector<Level> levels;
  std::string indentation;
  const auto open = [&](const Module& m) {
    m.pretty_print(stream);
    if (m.children_.is_empty()) return;
    stream << "(\n";
    levels.push_back({&m, 0});
    indentation += "  ";
  };
  open(module);
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.next > 0) stream << '\n';
    if (level.next < level.module->children_.size()) {
      const auto& child = level.module->children_[level.next++];
      stream << indentation << '(' << child.key() << "): ";
      open(*child.value());
    } else {
      levels.pop_back();
      indentation.resize(indentation.size() - 2);
      stream << indentation << ')';
    }
  }
  return stream;
}

}  // namespace nn
}  // namespace ebb
