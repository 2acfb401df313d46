// Stateless: the base of modules that own no tensors.
#pragma once

#include <ebb/nn/cloneable.h>

namespace ebb::nn::detail {

/// The options of a module that has none.
struct EBB_API NoOptions{};

/// A module that is a function of tensors, as many as there are Inputs, and of options. What it computes and
/// how it prints stands in src/nn, a line each (src/nn/stateless.h); its class has nothing to add.
template <class Derived, class Options, class... Inputs>
class EBB_API Stateless : public Cloneable<Derived> {
 public:
  // A template, because clang 14 instantiates a constrained member with its class.
  template <class Default = Options>
    requires std::is_default_constructible_v<Default>
  Stateless() : Stateless(Default()) {}
  explicit Stateless(Options options_);
  /// Throws if the options make no sense.
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Inputs&... inputs);

  Options options;
};

}  // namespace ebb::nn::detail
