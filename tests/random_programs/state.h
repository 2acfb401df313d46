// The slots of a running program.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/nn/any_module.h>
#include <ebb/optim/optimizer.h>

#include <functional>
#include <memory>
#include <vector>

namespace programs {

using ebb::Variable;
using Sizes = std::vector<std::int64_t>;

/// A tensor, a module or an optimizer.
struct Slot {
  Variable tensor{};
  std::shared_ptr<ebb::nn::Module> module{};
  std::shared_ptr<ebb::optim::Optimizer> optimizer{};
  /// Which of the models of kinds_modules.cpp the module is.
  std::int64_t model = 0;
  /// Calls the module.
  std::function<Variable(const Variable&)> forward{};

  bool is_tensor() const { return tensor.defined(); }
};

struct State {
  std::vector<Slot> slots;

  explicit State(int count = 0) : slots(static_cast<std::size_t>(count)) {}
  Slot& operator[](int i) { return slots[static_cast<std::size_t>(i)]; }
  const Slot& operator[](int i) const { return slots[static_cast<std::size_t>(i)]; }
  const Variable& tensor(int i) const { return (*this)[i].tensor; }
  /// Throw ebb::Error where the slot has none, which happens in programs that are made smaller.
  ebb::nn::Module& module(int i) const;
  ebb::optim::Optimizer& optimizer(int i) const;
};

/// How the elements of a made tensor lie in memory.
enum Layout : std::int64_t { kWhole, kTransposed, kStepped, kOffset, kExpanded, kLayouts };

/// Numbers of few bits that depend on nothing but the arguments, exact in every floating dtype and the same
/// in other frameworks: element i is ((37 i + 11 seed) mod 101 - 50) / 32, or for integers mod 5.
Variable make(const Sizes& sizes, ebb::DType dtype, std::int64_t seed, Layout layout = kWhole);

/// Elements of x, repeated or left out, in that shape and mapped into [low, high] by a sine; differentiable.
Variable fit(const Variable& x, const Sizes& sizes, double low, double high, ebb::DType dtype);

}  // namespace programs
