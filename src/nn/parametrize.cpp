// register_parametrization: the list of a parameter's parametrizations, and its registration in the module.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/modules/container.h>
#include <ebb/nn/parametrize.h>
#include <ebb/ops/creation.h>

#include "nn/hooks.h"

namespace ebb::nn::utils::parametrize {
namespace {

constexpr char kChild[] = "parametrizations";

Variable copied(const Variable& x, const optional<Device>& device) {
  const Variable data = x.detach();
  return device && data.device() != *device ? data.to(*device) : data.clone();
}

/// The parametrization of a plain function.
class Function final : public Parametrization {
 public:
  explicit Function(Map map) : map_(std::move(map)) {
    EBB_CHECK(map_, "register_parametrization: the function is empty.");
  }
  Variable forward(const variable_list& originals) override { return map_(originals[0]); }
  std::shared_ptr<Module> clone(const optional<Device>&) const override {
    return std::make_shared<Function>(*this);
  }

 private:
  Map map_;
};

/// The parametrizations of one tensor, named "0", "1", ..., and the original parameters.
class ParametrizationList final : public Module {
 public:
  Variable forward() {
    Variable x = part(0).forward(named_parameters(false).values());
    for (std::size_t i = 1; i < children_.size(); ++i) x = part(i).forward({x});
    return x;
  }

  void append(std::shared_ptr<Parametrization> parametrization) {
    register_module(std::to_string(children_.size()), std::move(parametrization));
  }

  /// Assigns a value: computes the original parameters from the value.
  void assign(const Variable& value) {
    NoGradGuard no_grad;
    variable_list originals{value};
    for (std::size_t i = children_.size(); i-- > 0;) {
      originals = part(i).right_inverse(originals[0]);
      EBB_CHECK(!originals.empty() && (i == 0 || originals.size() == 1),
                "parametrize: only the first parametrization may have several originals; right_inverse() of "
                "parametrization ",
                std::uint64_t{i}, " returned ", std::uint64_t{originals.size()}, " tensors.");
    }
    const bool first = parameters_.is_empty();
    for (std::size_t i = 0; i < originals.size(); ++i) {
      const std::string name = originals.size() == 1 ? "original" : "original" + std::to_string(i);
      const Variable data = originals[i].detach().clone();
      if (first)
        register_parameter(name, data, data.is_floating_point());
      else
        parameters_[name].set_data(data);
    }
  }

  void require_grad(bool on) {
    for (auto& original : parameters_) original->set_requires_grad(on);
  }

  std::shared_ptr<Module> clone(const optional<Device>& device) const override {
    NoGradGuard no_grad;
    auto copy = std::make_shared<ParametrizationList>(*this);
    copy->parameters_.clear();
    copy->children_.clear();
    for (const auto& item : parameters_)
      copy->register_parameter(item.key(), copied(*item, device), item->requires_grad());
    for (const auto& item : children_) copy->register_module(item.key(), item.value()->clone(device));
    return copy;
  }

 private:
  Parametrization& part(std::size_t i) { return static_cast<Parametrization&>(*children_[i].value()); }
};

ModuleDictImpl* lists_of(const Module& module) {
  auto& children = detail::ModuleAccess::children(const_cast<Module&>(module));
  const std::shared_ptr<Module>* const found = children.find(kChild);
  return found ? (*found)->as<ModuleDictImpl>() : nullptr;
}

ParametrizationList* list_of(const Module& module, const std::string& name) {
  ModuleDictImpl* const lists = lists_of(module);
  return lists && lists->contains(name) ? dynamic_cast<ParametrizationList*>((*lists)[name].get()) : nullptr;
}

ParametrizationList& checked_list(const Module& module, const std::string& name) {
  ParametrizationList* const list = list_of(module, name);
  EBB_CHECK(list, module.name(), " has no parametrization on '", name, "'.");
  return *list;
}

// Returns the derived tensor of a module, or of the fresh copy of a module.
detail::DerivedTensor derived_of(Module& module, const std::string& name) {
  return {name, detail::take_parameter(module, name),
          [name](Module& m) { return checked_list(m, name).forward(); },
          [name](Module& copy) {
            if (!lists_of(copy)) copy.register_module(kChild, ModuleDict());
            detail::derive(copy, derived_of(copy, name));
          }};
}

}  // namespace

variable_list Parametrization::right_inverse(const Variable& value) { return {value}; }

void register_parametrization(Module& module, const std::string& name,
                              std::shared_ptr<Parametrization> parametrization, bool unsafe) {
  EBB_CHECK(parametrization, "register_parametrization: the parametrization of '", name, "' is null.");
  if (ParametrizationList* const list = list_of(module, name)) {
    const Variable value = [&] {
      NoGradGuard no_grad;
      return list->forward();
    }();
    list->append(std::move(parametrization));
    list->assign(value);
  } else {
    const Variable* const found = detail::ModuleAccess::parameters(module).find(name);
    EBB_CHECK(found && found->defined(), "register_parametrization: ", module.name(), " has no parameter '",
              name, "'.");
    const auto fresh = std::make_shared<ParametrizationList>();
    fresh->append(std::move(parametrization));
    fresh->assign(found->detach());
    fresh->require_grad(found->requires_grad());
    fresh->train(module.is_training());
    if (!unsafe) {
      NoGradGuard no_grad;
      const Variable image = fresh->forward();
      EBB_CHECK(image.sizes() == found->sizes() && image.dtype() == found->dtype(),
                "register_parametrization: the parametrization of '", name, "' of ", module.name(), " gives ",
                image.dtype(), image.sizes(), " in place of ", found->dtype(), found->sizes(),
                ". Pass unsafe=true if this is intended.");
    }
    if (!lists_of(module)) module.register_module(kChild, ModuleDict());
    lists_of(module)->insert(name, fresh);
    detail::derive(module, derived_of(module, name));
  }
  detail::recompute(module);
}

void register_parametrization(Module& module, const std::string& name, Map map, bool unsafe) {
  register_parametrization(module, name, std::make_shared<Function>(std::move(map)), unsafe);
}

bool is_parametrized(const Module& module, const std::string& name) {
  return name.empty() ? lists_of(module) != nullptr : list_of(module, name) != nullptr;
}

void remove_parametrizations(Module& module, const std::string& name, bool leave_parametrized) {
  NoGradGuard no_grad;
  ParametrizationList& list = checked_list(module, name);
  const variable_list originals = list.parameters(false);
  EBB_CHECK(leave_parametrized || originals.size() == 1, "remove_parametrizations: '", name, "' of ",
            module.name(), " has ", std::uint64_t{originals.size()},
            " originals, and none of them can replace it. Pass leave_parametrized=true.");
  const Variable value = leave_parametrized ? list.forward() : originals[0].detach();
  const bool requires_grad = originals[0].requires_grad();
  const Variable target = detail::no_longer_derived(module, name, requires_grad, value);
  lists_of(module)->pop(name);
  if (lists_of(module)->empty()) module.unregister_module(kChild);
  module.register_parameter(name, target, requires_grad);
}

void assign(Module& module, const std::string& name, const Variable& value) {
  checked_list(module, name).assign(value);
  detail::recompute(module);
}

void refresh(Module& module) {
  const Module::ModuleApplyFunction compute = [](Module& m) {
    if (m.has_hooks()) detail::recompute(m);
  };
  module.apply(compute);
}

}  // namespace ebb::nn::utils::parametrize
