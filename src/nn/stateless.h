// What a module without tensors is made of, in its family's .cpp:
//     EBB_STATELESS_AS(F::elu, ELUImpl, ELUOptions, Variable);   what F::elu(x, options) gives, or
//     static Variable call(const TanhImpl&, const Variable& x) { return ebb::tanh(x); }
//     EBB_STATELESS(TanhImpl, detail::NoOptions, Variable);
// and before that, where options are printed or can be wrong,
//     static void print(Fields& out, const ELUOptions& o) { out("alpha", o.alpha()); }
//     static void check(const ELUOptions& o) { EBB_CHECK(o.alpha() > 0, ...); }
#pragma once

#include <ebb/nn/stateless.h>

#include "nn/fields.h"
#include "nn/module_tools.h"

namespace ebb::nn {

/// What is printed of options that have no print() of their own: nothing.
template <class Options>
void print(Fields&, const Options&) {}
/// Options without a check() are all right whatever they are.
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

/// Compiles a module's members: its class, its options, and a Variable for each tensor it takes.
#define EBB_STATELESS(Impl, ...)                       \
  template class detail::Stateless<Impl, __VA_ARGS__>; \
  template class Cloneable<Impl>

/// The same for a module that is a function of tensors and its options.
#define EBB_STATELESS_AS(function, Impl, ...)                                                 \
  static Variable call(const Impl& m, const auto&... x) { return function(x..., m.options); } \
  EBB_STATELESS(Impl, __VA_ARGS__)
