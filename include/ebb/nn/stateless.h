// Stateless: the base of modules without tensors.
#pragma once

#include <ebb/nn/cloneable.h>

namespace ebb::nn::detail {

/// The options of a module that has none.
struct EBB_API NoOptions{};

/// A module that is a function of tensors (one for each of Inputs) and of options. src/nn defines how each
/// derived class computes and prints, in one line per class (src/nn/stateless.h). Derived adds no members.
template <class Derived, class Options, class... Inputs>
class EBB_API Stateless : public Cloneable<Derived> {
 public:
  // This constructor is a template, because clang 14 instantiates a constrained member that is no template
  // together with its class.
  template <class Default = Options>
    requires std::is_default_constructible_v<Default>
  Stateless() : Stateless(Default()) {}
  explicit Stateless(Options options_);
  /// Throws if the options are invalid.
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Inputs&... inputs);

  Options options;
};

}  // namespace ebb::nn::detail
