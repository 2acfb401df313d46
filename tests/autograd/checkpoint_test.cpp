// What a checkpointed function may count on, and what it must keep to.
#include "autograd/semantics.h"

using namespace semantics;
using ebb::autograd::checkpoint;

TEST_CASE("checkpoint: the function runs twice, however many tensors backward asks for") {
  int runs = 0;
  const std::function<Variable(const Variable&)> fn = [&](const Variable& t) {
    ++runs;
    return (t.exp() * t.sin()).tanh() * t;
  };
  Variable x = leaf({0.5, 1});
  const Variable y = checkpoint(fn, x).sum();
  REQUIRE(runs == 1);
  y.backward({}, true);
  REQUIRE(runs == 2);
  y.backward();
  REQUIRE(runs == 2);
}

TEST_CASE("checkpoint: a hook set by the function runs once for each gradient") {
  int calls = 0;
  const std::function<Variable(const Variable&)> fn = [&](const Variable& t) {
    t.register_hook([&](const Variable&) { ++calls; });
    return t * t;
  };
  Variable x = leaf({3});
  checkpoint(fn, x).backward();
  REQUIRE(calls == 1);
  require_values(x.grad(), {6});
}

TEST_CASE("checkpoint: a function that keeps more or fewer tensors the second time is refused") {
  for (const int change : {1, -1}) {
    INFO("change " << change);
    int factors = 2;
    const std::function<Variable(const Variable&)> fn = [&](const Variable& t) {
      Variable y = t;
      for (int i = 0; i < factors; ++i) y = y * t;
      factors += change;
      return y;
    };
    Variable x = leaf({2});
    Variable y = checkpoint(fn, x);
    EBB_REQUIRE_ERROR(y.backward(), "It must be deterministic");
    REQUIRE_FALSE(x.grad().defined());
  }
}
