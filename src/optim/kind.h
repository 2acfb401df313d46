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

/// The optimizer with these Options. Its specialisation, in the optimizer's file, is an OptimizerRule; that
/// of L-BFGS, which has a step and a state of its own, only names and lists its options.
template <class Options>
struct Kind;

/// Stand in the concepts below for any function that takes the name and the value of a field, or the bit and
/// the array of a state.
struct TakesField {
  template <class Field>
  void operator()(const char* name, Field& field) const;
};
struct TakesState {
  void operator()(unsigned bit, const NdArray& array) const;
};

/// The members that every Kind has:
///   Options, State   the classes of a group's options and of a parameter's state
///   kName            the optimizer's name in messages
///   check(options)   throws where the options make no sense
///   options(o, f)    calls f(name, field) for every option that a file keeps
///   fields(state, f) calls f(name, field) for every number and tensor of the state that a file keeps
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

/// A rule whose update is made of ops:
///   update(options, parameter, gradient, state)   changes the parameter and the state
template <class K>
concept ComposedRule = DescribedRule<K> && requires(const typename K::Options& options, Variable& parameter,
                                                    const Variable& gradient, typename K::State& state) {
  K::update(options, parameter, gradient, state);
};

/// A rule whose update is one pass of a kernel over many parameters (rules/rule.h):
///   kBumps                  whether the update counts as a write that backward notices; not so for SGD, as
///   in
///                           libtorch
///   remembers(options)      whether the rule has a state
///   number(state)           the number of the parameter's next update, from 1
///   advance(options, state) counts that update
///   collect(options, parameter, state, add)
///                           calls add(bit, array) for the tensors of the state, in the order of the rule,
///                           after making those that are missing
///   how(options, number, state)
///                           the numbers of that update, a math::Step
/// A rule whose numbers depend on more of the state than `number` also has
///   read(state)             all that they depend on; only parameters for which it is equal are updated
///                           together
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

/// All that the loop, files and comparisons need of an optimizer.
template <class K>
concept OptimizerRule = ComposedRule<K> || OnePassRule<K>;

/// The base of a Kind whose state counts its updates in step().
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

/// Whether the rule works on a master copy of the parameter, which is of 16 bits, and its states are f32.
template <class Options>
bool has_master(const Options& options, const Variable& parameter) {
  if constexpr (requires { options.master_weights(); })
    return options.master_weights() && (parameter.dtype() == kHalf || parameter.dtype() == kBFloat16);
  return false;
}

/// Whether the step follows the negative of the gradient.
template <class Options>
bool maximizes(const Options& options) {
  if constexpr (requires { options.maximize(); }) return options.maximize();
  return false;
}
template <class Options>
Variable ascended(const Options& options, const Variable& gradient) {
  return maximizes(options) ? gradient.neg() : gradient;
}

/// Everything that the numbers of an update depend on beside the options.
template <class Kind>
auto read_of(const typename Kind::State& state) {
  if constexpr (requires { Kind::read(state); })
    return Kind::read(state);
  else
    return Kind::number(state);
}

/// The numbers of an update by this rule.
template <class Kind>
using How =
    decltype(Kind::how(std::declval<typename Kind::Options>(), 0, std::declval<typename Kind::State>()));

/// The rule with these numbers, as the kernel of the dtype reads it from memory.
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
