// Cloneable: deep copies of modules.
#pragma once

#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/module.h>

namespace ebb::nn {

namespace detail {

/// Exists while a module is cloned. The sessions of its submodules are nested in it. A module that occurs
/// several times in the tree is cloned once. Throws if the nesting is so deep that the stack could overflow.
class EBB_API CloneSession {
 public:
  explicit CloneSession(const Module& module);
  ~CloneSession();
  CloneSession(const CloneSession&) = delete;
  CloneSession& operator=(const CloneSession&) = delete;
  /// Returns the clone of the module if this session has already created it, and otherwise null.
  std::shared_ptr<Module> known() const;
  /// Ends the cloning: stores the copy and calls its tie_weights(). In the outermost session, throws if the
  /// copy shares fewer parameters than the original.
  std::shared_ptr<Module> done(std::shared_ptr<Module> copy) const;

 private:
  const Module& module_;
};

}  // namespace detail

/// Provides clone() for Derived. Derived creates all its parameters, buffers and submodules in reset(), which
/// its constructor calls. clone() copies Derived, calls reset() on the copy, and then copies the data of each
/// tensor (torch::nn::Cloneable).
template <class Derived>
class EBB_API Cloneable : public Module {
 public:
  using Module::Module;

  /// Creates all parameters, buffers and submodules. clone() calls it again on the copy.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const optional<Device>& device = nullopt) const override;

 private:
  void clone_(Module& other, const optional<Device>& device) final;
};

// clone() is not inline, so that the library compiles it once for its own modules.

template <class Derived>
std::shared_ptr<Module> Cloneable<Derived>::clone(const optional<Device>& device) const {
  const detail::CloneSession session(*this);
  if (std::shared_ptr<Module> known = session.known()) return known;
  NoGradGuard no_grad;
  auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
  copy->parameters_.clear();
  copy->buffers_.clear();
  copy->children_.clear();
  copy->reset();
  this->clone_state(*copy, device);
  return session.done(std::move(copy));
}

template <class Derived>
void Cloneable<Derived>::clone_(Module& other, const optional<Device>& device) {
  const auto clone = std::dynamic_pointer_cast<Derived>(other.clone(device));
  EBB_CHECK(clone != nullptr, "clone: the submodule to copy into must be of type ", this->name(),
            ", but is of another type.");
  static_cast<Derived&>(*this) = *clone;
  this->adopt_children();
}

}  // namespace ebb::nn

/// EBB_MODULE for a module of the library, whose clone() the library compiles.
#define EBB_LIBRARY_MODULE(Name)               \
  extern template class Cloneable<Name##Impl>; \
  EBB_MODULE(Name)
