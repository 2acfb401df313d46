// Arguments that share memory, with each other or with captured tensors, and arguments that are leaves.
#include "twins.h"

using namespace twins;

TEST_CASE("arguments that share memory, and slices of one, are told apart") {
  auto f = compile([](Tensor a, const Tensor& b) {
    a.mul_(2);
    return a + b;
  });
  const Tensor base = arange(12, kFloat);
  for (int i = 0; i < 4; ++i) {
    Tensor both = base.clone();
    CHECK(equal(f(both, both), base * 4));
    Tensor left = base.clone();
    CHECK(equal(f(left, base), base * 3));
    CHECK(equal(left, base * 2));
    Tensor whole = base.clone();
    const std::int64_t from = i;  // another offset in every call
    CHECK(equal(f(whole.narrow(0, from, 2), whole.narrow(0, from + 1, 2)),
                tensor({from * 2.F + (from + 1) * 2.F, (from + 1) * 2.F + from + 2.F})));
  }
}

TEST_CASE("slices of one tensor that lie apart by other distances have tapes of their own") {
  auto f = compile([](Tensor a, const Tensor& b) {
    a.mul_(2);
    return a + b;
  });
  for (int round = 0; round < 4; ++round)
    for (const std::int64_t distance : {1, -1, 2, 0, -3}) {
      INFO("distance " << distance << ", round " << round);
      const Tensor base = arange(12, kFloat) + round, whole = base.clone(), expected = base.clone();
      expected.narrow(0, 4, 4).mul_(2);
      CHECK(equal(f(whole.narrow(0, 4, 4), whole.narrow(0, 4 + distance, 4)),
                  expected.narrow(0, 4, 4) + expected.narrow(0, 4 + distance, 4)));
      CHECK(equal(whole, expected));
    }
  CHECK(f.report().kinds == 5);
  require_replays(f, 5);
}

TEST_CASE("an argument that is given back lies where it lay, wherever in its memory that is") {
  auto f = compile([](const Tensor& x, Tensor y) {
    y.add_(x);
    return std::tuple(y, y.narrow(0, 1, 2), x.narrow(0, 2, 1));
  });
  for (int call = 0; call < 8; ++call) {
    INFO("call " << call);
    const Tensor left = randn({40}), right = randn({40}), before = right.clone();
    const std::int64_t at = 3 * call % 7, where = 5 * call % 11;
    const Tensor x = left.narrow(0, at, 4), y = right.narrow(0, where, 4);
    const auto [whole, part, of_x] = f(x, y);
    REQUIRE(same_bits(y, before.narrow(0, where, 4) + x));
    for (const auto& [result, of, offset] :
         {std::tuple(whole, right, where), std::tuple(part, right, where + 1),
          std::tuple(of_x, left, at + 2)}) {
      CHECK(result.is_alias_of(of));
      CHECK(result.storage_offset() == offset);
    }
    CHECK(same_bits(whole, y));
    CHECK(same_bits(part, y.narrow(0, 1, 2)));
    CHECK(same_bits(of_x, x.narrow(0, 2, 1)));
  }
  require_replays(f, 4);
}

TEST_CASE("an argument that was the same tensor in each call may be another one") {
  auto f = compile([](const Tensor& x, const Tensor& y) { return (x * 2 + y).relu() - x; });
  const Tensor same = randn({5}), other = randn({5});
  const auto check = [&](const Tensor& x) {
    const Tensor y = randn({5});
    REQUIRE(same_bits(f(x, y), (x * 2 + y).relu() - x));
  };
  for (int i = 0; i < 5; ++i) check(same);
  require_replays(f, 2);
  for (int i = 0; i < 5; ++i) check(i % 2 ? same : other);
  for (int i = 0; i < 5; ++i) check(other);
}

TEST_CASE("an argument that is a captured tensor only in a later call has the results of an eager call") {
  const std::int64_t n = 32;
  struct State {
    Tensor kept, other;
  };
  const auto state = [&] {
    manual_seed(9);
    return State{randn({n, n}), randn({n, n})};
  };
  using Body = std::function<Tensor(const State&, const Tensor&)>;
  const Body bodies[] = {[](const State& s, const Tensor& x) {
                           s.kept.add_(mm(x, s.other));
                           return s.kept + x;
                         },
                         [](const State& s, const Tensor& x) {
                           s.kept.add_(mm(s.other, x).relu());
                           return s.kept * x;
                         },
                         [](const State& s, const Tensor& x) {
                           s.kept.mul_(0.5).add_(1);
                           return x * 2 + s.kept;
                         },
                         [](const State& s, const Tensor& x) {
                           const Tensor before = x * 3;
                           s.kept.copy_(x * 2);
                           return before + s.kept + x;
                         }};
  for (const Body& body : bodies) {
    INFO("body " << &body - bodies);
    State eager = state(), compiled = state();
    auto f = compile([&](const Tensor& x) { return body(compiled, x); });
    for (int i = 0; i < 5; ++i) {
      const Tensor x = randn({n, n});
      require_same({f(x), compiled.kept}, {body(eager, x), eager.kept});
    }
    require_replays(f, 2);
    for (int i = 0; i < 2; ++i)
      require_same({f(compiled.kept), compiled.kept}, {body(eager, eager.kept), eager.kept});
  }
}

TEST_CASE("leaves among the arguments get gradients of their own") {
  auto f = compile([](const Tensor& x) {
    const Tensor loss = x.square().sum();
    loss.backward();
    return loss;
  });
  std::vector<Tensor> leaves;
  for (int i = 0; i < 6; ++i) {
    leaves.push_back(randn({3}).requires_grad_());
    f(leaves.back());
  }
  require_replays(f, 2);
  for (const Tensor& x : leaves) CHECK(same_bits(x.grad(), x.detach() * 2));
}
