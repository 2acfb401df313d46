// Helpers for tests that run a function twice, eager and compiled.
#pragma once

#include <ebb/ebb.h>

#include "support/catch.h"

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace twins {

using namespace ebb;

inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return a.sizes() == b.sizes() && a.dtype() == b.dtype() && equal(a.isnan(), b.isnan()) &&
         equal(a.nan_to_num(), b.nan_to_num()) && equal(a.signbit(), b.signbit());
}

/// Stores the texts of warnings, and does not print them.
struct Warnings : WarningHandler {
  void process(const Warning& warning) override { texts.push_back(warning.msg()); }
  std::vector<std::string> texts;
  WarningHandlerGuard guard{this};
};

/// A perceptron with two hidden layers.
inline nn::Sequential perceptron(double dropout = 0) {
  return nn::Sequential(nn::Linear(6, 16), nn::Tanh(), nn::Dropout(dropout), nn::Linear(16, 16), nn::ReLU(),
                        nn::Linear(16, 3));
}

using Optimizer = std::unique_ptr<optim::Optimizer>;
using MakeOptimizer = std::function<Optimizer(const std::vector<Tensor>&)>;

/// A network, its optimizer and a step.
struct Training {
  nn::Sequential net;
  Optimizer optimizer;

  Training(nn::Sequential made, const MakeOptimizer& make)
      : net(std::move(made)), optimizer(make(net->parameters())) {}

  Tensor step(const Tensor& x, const Tensor& y) {
    optimizer->zero_grad();
    const Tensor loss = nn::functional::cross_entropy(net(x), y);
    loss.backward();
    optimizer->step();
    return loss;
  }
  std::vector<Tensor> state() const {
    std::vector<Tensor> all;
    for (const Tensor& p : net->parameters()) {
      all.push_back(p.detach());
      all.push_back(p.grad());
    }
    for (const Tensor& b : net->buffers()) all.push_back(b);
    return all;
  }
};

/// Requires that at least `least` calls were replayed. report().replayed alone tells only that the last kind
/// has a tape.
template <class C>
void require_replays(const C& compiled, std::int64_t least) {
  INFO(compiled.report().reason);
  REQUIRE(compiled.report().replayed);
  REQUIRE(compiled.report().replays >= least);
}

/// Returns the result of a call that must be a replay.
template <class C, class... Args>
auto replay(C& compiled, const Args&... args) {
  struct Check {
    const C& compiled;
    std::int64_t before = compiled.report().replays;
    ~Check() {
      INFO(compiled.report().reason);
      CHECK(compiled.report().replays == before + 1);
    }
  } check{compiled};
  return compiled(args...);
}

inline Tensor elsewhere(const Tensor& x) { return x.detach().clone().set_requires_grad(x.requires_grad()); }
template <class T>
T elsewhere(const T& x) {
  return x;
}

/// Calls the function, each time with arguments in new memory, until a call is replayed.
template <class C, class... Args>
void settle(C& compiled, const Args&... args) {
  std::vector<std::tuple<Args...>> kept;  // keeps the arguments alive, so that their memory is not reused
  for (int i = 0; i < 6; ++i) {
    const std::int64_t before = compiled.report().replays;
    kept.emplace_back(elsewhere(args)...);
    std::apply(compiled, kept.back());
    if (compiled.report().replays > before) return;
  }
  FAIL("no call was replayed: " << compiled.report().reason);
}

inline void require_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO("tensor " << i);
    REQUIRE(same_bits(a[i], b[i]));
  }
}

}  // namespace twins
