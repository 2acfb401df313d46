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

TEST_CASE("checkpoint: an input that is written to before backward is refused where its numbers are needed") {
  const auto cube = [](const Variable& t) { return t * t * t; };
  const auto twice = [](const Variable& t) { return t * 2; };
  for (const bool within : {false, true}) {
    INFO("written " << (within ? "by the function" : "behind it"));
    Variable x = leaf({2, 3}), y = x * 1;
    const Variable z = checkpoint(
        [&](const Variable& t) {
          const Variable out = cube(t);
          if (within) t.detach().mul_(2);
          return out;
        },
        y);
    if (!within) y.mul_(2);
    EBB_REQUIRE_ERROR(z.sum().backward(),
                      "modified by an inplace operation: it is at version 1; expected version 0");
    REQUIRE_FALSE(x.grad().defined());
  }
  Variable x = leaf({2, 3}), y = x * 1;
  const Variable z = checkpoint(twice, y);
  y.mul_(5);
  z.sum().backward();
  require_values(x.grad(), {2, 2});
}

TEST_CASE("checkpoint: inputs of inference mode have no versions and are taken as they are") {
  Variable constant;
  {
    const ebb::InferenceMode inference;
    constant = ebb::tensor({2.0, 5.0}, ebb::kDouble);
    require_values(checkpoint([](const Variable& t) { return t * t; }, constant), {4, 25});
  }
  const Variable x = leaf({3, 4});
  const auto product = [](const ebb::variable_list& t) {
    return ebb::variable_list{t[0] * t[0] * t[1].clone()};
  };
  checkpoint(product, {x, constant})[0].sum().backward();
  require_values(x.grad(), {12, 40});
}

TEST_CASE("checkpoint: an input that is written to between two backwards is refused in the second") {
  Variable x = leaf({2, 3}), y = x * 1;
  const Variable z = checkpoint([](const Variable& t) { return t * t; }, y).sum();
  z.backward({}, true);
  y.mul_(5);
  EBB_REQUIRE_ERROR(z.backward(), "modified by an inplace operation: it is at version 1; expected version 0");
  require_values(x.grad(), {4, 6});
}
