// Cloneable: deep copies of modules.
#pragma once

#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/module.h>

namespace ebb::nn {

/// Gives Derived a clone(). Derived creates all its parameters, buffers and submodules in reset(), which its
/// constructor calls; clone() copies Derived, resets the copy, and then copies every tensor's data
/// (torch::nn::Cloneable).
template <class Derived>
class Cloneable : public Module {
 public:
  using Module::Module;

  /// Creates (again) everything the module owns.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const optional<Device>& device = nullopt) const override {
    NoGradGuard no_grad;
    auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    copy->parameters_.clear();
    copy->buffers_.clear();
    copy->children_.clear();
    copy->reset();
    this->clone_state(*copy, device);
    return copy;
  }

 private:
  void clone_(Module& other, const optional<Device>& device) final {
    const auto clone = std::dynamic_pointer_cast<Derived>(other.clone(device));
    EBB_CHECK(clone != nullptr, "clone: the submodule to copy into has another type than ", this->name(),
              ".");
    static_cast<Derived&>(*this) = *clone;
    this->adopt_children();
  }
};

}  // namespace ebb::nn
