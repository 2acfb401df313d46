// EBB_STATELESS and EBB_STATELESS_AS define a module without tensors. The .cpp of its family contains
//     EBB_STATELESS_AS(F::elu, ELUImpl, ELUOptions, Variable);   // forward returns F::elu(x, options)
// or
//     static Variable call(const TanhImpl&, const Variable& x) { return ebb::tanh(x); }
//     EBB_STATELESS(TanhImpl, detail::NoOptions, Variable);
// and, before these lines, functions that print and check the options, if there are any:
//     static void print(Fields& out, const ELUOptions& o) { out("alpha", o.alpha()); }
//     static void check(const ELUOptions& o) { EBB_CHECK(o.alpha() > 0, ...); }
#pragma once

#include <ebb/nn/stateless.h>

#include "nn/fields.h"
#include "nn/module_tools.h"

namespace ebb::nn {

/// The default: prints nothing, for options without their own print().
template <class Options>
void print(Fields&, const Options&) {}
/// The default: accepts all values, for options without their own check().
template <class Options>
void check(const Options&) {}

namespace detail {

template <class Derived, class Options, class... Inputs>
Stateless<Derived, Options, Inputs...>::Stateless(Options options_) : options(std::move(options_)) {
  Stateless::reset();
}
template <class Derived, class Options, class... Inputs>
void Stateless<Derived, Options, Inputs...>::reset() {
  check(options);
}
template <class Derived, class Options, class... Inputs>
void Stateless<Derived, Options, Inputs...>::pretty_print(std::ostream& stream) const {
  Fields out(stream, typeid(Derived));
  print(out, options);
}
template <class Derived, class Options, class... Inputs>
Variable Stateless<Derived, Options, Inputs...>::forward(const Inputs&... inputs) {
  return at_path(*this, [&] { return call(static_cast<const Derived&>(*this), inputs...); });
}

}  // namespace detail
}  // namespace ebb::nn

/// Instantiates the members of a module. The arguments are the module's class, its options, and one Variable
/// for each input tensor.
#define EBB_STATELESS(Impl, ...)                       \
  template class detail::Stateless<Impl, __VA_ARGS__>; \
  template class Cloneable<Impl>

/// Instantiates a module whose forward returns function(inputs..., options).
#define EBB_STATELESS_AS(function, Impl, ...)                                                 \
  static Variable call(const Impl& m, const auto&... x) { return function(x..., m.options); } \
  EBB_STATELESS(Impl, __VA_ARGS__)
