// The contract between an optimizer and the loop that runs its step (step.h).
#pragma once

#include <ebb/core/visit.h>
#include <ebb/optim/optimizer.h>

#include "kernel/convert.h"
#include "optim/kernels.h"

#include <concepts>
#include <cstring>
#include <type_traits>
#include <utility>

namespace ebb::optim {

/// The rule of the optimizer with these Options. The specialisation in the optimizer's file is an
/// OptimizerRule. L-BFGS has its own step and state, so its specialisation contains only the name and the
/// options.
template <class Options>
struct Kind;

/// Placeholders in the concepts below. TakesField stands for a function of the name and the value of a field,
/// and TakesState for a function of the bit and the array of a state.
struct TakesField {
  template <class Field>
  void operator()(const char* name, Field& field) const;
};
struct TakesState {
  void operator()(unsigned bit, const NdArray& array) const;
};

/// The members that every OptimizerRule has:
///   Options, State   the classes of a group's options and of a parameter's state
///   kName            the optimizer's name in messages
///   check(options)   throws if an option is invalid
///   options(o, f)    calls f(name, field) for every option that a file contains
///   fields(state, f) calls f(name, field) for every field of the state that a file contains
template <class K>
concept DescribedRule = requires(typename K::Options& options, typename K::State& state,
                                 const typename K::Options& fixed, const TakesField& f) {
  { K::kName } -> std::convertible_to<const char*>;
  K::check(fixed);
  K::options(options, f);
  K::options(fixed, f);
  K::fields(state, f);
  K::fields(std::as_const(state), f);
};

/// A rule whose update consists of ops:
///   update(options, parameter, gradient, state)   updates the parameter and the state
template <class K>
concept ComposedRule = DescribedRule<K> && requires(const typename K::Options& options, Variable& parameter,
                                                    const Variable& gradient, typename K::State& state) {
  K::update(options, parameter, gradient, state);
};

/// A rule whose update is one pass of a kernel over many parameters (rules/rule.h):
///   kBumps                  whether the update increments the version counter; false for SGD, as in libtorch
///   remembers(options)      whether the rule has a state
///   number(state)           the number of the parameter's next update, from 1
///   advance(options, state) counts that update
///   collect(options, parameter, state, add)
///                           allocates missing tensors of the state, and calls add(bit, array) for each
///                           tensor in the order of the rule
///   how(options, number, state)
///                           the coefficients of that update, a math::Step
/// A rule whose coefficients depend on more of the state than `number` also has
///   read(state)             everything that they depend on; parameters are updated together only if it is
///                           equal
template <class K>
concept OnePassRule = DescribedRule<K> && requires(const typename K::Options& options,
                                                   const Variable& parameter, typename K::State& state,
                                                   const typename K::State& fixed, const TakesState& add) {
  { K::kBumps } -> std::convertible_to<bool>;
  { K::remembers(options) } -> std::same_as<bool>;
  { K::number(fixed) } -> std::same_as<std::int64_t>;
  K::advance(options, state);
  K::collect(options, parameter, state, add);
  { K::how(options, std::int64_t{}, fixed) } -> std::convertible_to<math::Step>;
};

/// A rule with all members that the step's loop, the files and the comparisons of an optimizer use.
template <class K>
concept OptimizerRule = ComposedRule<K> || OnePassRule<K>;

/// Base of a Kind whose state counts its updates in step().
template <class S>
struct Counted {
  using State = S;
  static constexpr bool kBumps = true;
  template <class Options>
  static bool remembers(const Options&) {
    return true;
  }
  static std::int64_t number(const State& state) { return state.step() + 1; }
  template <class Options>
  static void advance(const Options&, State& state) {
    ++state.step();
  }
};

/// Returns whether the rule updates an f32 master copy of the 16-bit parameter, with f32 states.
template <class Options>
bool has_master(const Options& options, const Variable& parameter) {
  if constexpr (requires { options.master_weights(); })
    return options.master_weights() && (parameter.dtype() == kHalf || parameter.dtype() == kBFloat16);
  return false;
}

/// Returns whether the step uses the negated gradient.
template <class Options>
bool maximizes(const Options& options) {
  if constexpr (requires { options.maximize(); }) return options.maximize();
  return false;
}
template <class Options>
Variable ascended(const Options& options, const Variable& gradient) {
  return maximizes(options) ? gradient.neg() : gradient;
}

/// Returns the part of the state on which the coefficients of an update depend, in addition to the options.
template <class Kind>
auto read_of(const typename Kind::State& state) {
  if constexpr (requires { Kind::read(state); })
    return Kind::read(state);
  else
    return Kind::number(state);
}

/// The type of the coefficients of an update with this rule.
template <class Kind>
using How =
    decltype(Kind::how(std::declval<typename Kind::Options>(), 0, std::declval<typename Kind::State>()));

/// Returns the rule with these coefficients as the bytes that the kernel of the dtype reads from memory.
template <class How>
kernels::RuleBytes rule_bytes(DType dtype, const How& how) {
  kernels::RuleBytes bytes{};
  visit_floating(dtype, "optimizer step", [&]<class T> {
    const typename How::template Rule<Compute<T>> rule(how);
    static_assert(sizeof(rule) <= sizeof(bytes.at));
    std::memcpy(bytes.at, &rule, sizeof(rule));
  });
  return bytes;
}

}  // namespace ebb::optim
