// Arguments of compiled functions that are leaves, or share memory with each other or with captured tensors.
#include "twins.h"

using support::Contains;
using namespace twins;

TEST_CASE("arguments that share memory get another tape than arguments with separate memory") {
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
    const std::int64_t from = i;  // the offset differs in each call
    CHECK(equal(f(whole.narrow(0, from, 2), whole.narrow(0, from + 1, 2)),
                tensor({from * 2.F + (from + 1) * 2.F, (from + 1) * 2.F + from + 2.F})));
  }
}

TEST_CASE("calls with two slices of one tensor get one tape for each distance between the slices") {
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

TEST_CASE("a replay that returns an argument returns the same memory at the argument's offset") {
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

TEST_CASE("a function that got the same tensor in every call accepts another tensor later") {
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

TEST_CASE("a later call whose argument is a captured tensor gives the results of an eager call") {
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

TEST_CASE("backward in a replay gives each leaf argument its own gradient") {
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

TEST_CASE("a call whose argument overlaps a captured tensor gives the results of an eager call") {
  for (const std::int64_t n : {40, 20000}) {
    const Tensor all = randn({3 * n}), twin = all.clone();
    const Tensor captured = all.narrow(0, 0, n), captured_twin = twin.narrow(0, 0, n);
    const auto step = [](Tensor w, const Tensor& x) {
      w.mul_(-2);
      return x + 1;
    };
    auto f = compile([&](const Tensor& x) { return step(captured, x); });
    std::vector<Tensor> apart;  // these tensors stay alive, so each call has new memory
    for (int i = 0; i < 5; ++i) {
      apart.push_back(randn({n}));
      REQUIRE(same_bits(f(apart.back()), step(captured_twin, apart.back())));
    }
    require_replays(f, 2);
    for (const std::int64_t offset : {n / 4, std::int64_t{0}, n - 1, n, n / 4, std::int64_t{1}}) {
      INFO(n << " elements, at " << offset);
      REQUIRE(same_bits(f(all.narrow(0, offset, n)), step(captured_twin, twin.narrow(0, offset, n))));
      REQUIRE(same_bits(all, twin));
    }
    REQUIRE(same_bits(f(apart[0]), step(captured_twin, apart[0])));
  }
}

TEST_CASE("a function that reads a different part of a captured tensor in each call gives eager results") {
  const Tensor table = randn({24, 3});
  const std::function<Tensor(int)> parts[] = {
      [&](int i) { return table.select(0, i); }, [&](int i) { return table.narrow(0, i, 2).sum(0); },
      [&](int i) { return table.slice(0, i, i + 9, 3).t().sum(1); }, [&](int i) { return table[i % 2 + 3]; }};
  for (const auto& part : parts) {
    INFO("part " << &part - parts);
    int call = 0;
    auto f = compile([&](const Tensor& x) { return x * part(call) + 1; });
    for (; call < 12; ++call) {
      const Tensor x = randn({3});
      REQUIRE(same_bits(f(x), x * part(call) + 1));
    }
  }
}

TEST_CASE(
    "as_strided of an argument checks bounds in each call, and an explicit offset is relative to the "
    "storage") {
  const Tensor all = randn({12});
  const auto wide = [](const Tensor& x) { return x.as_strided({2, 2}, {2, 1}) + 1; };
  auto relative = compile(wide);
  for (const int at : {0, 3, 6, 8})
    REQUIRE(same_bits(relative(all.narrow(0, at, 2)), wide(all.narrow(0, at, 2))));
  require_replays(relative, 2);
  CHECK_THROWS_WITH(relative(all.narrow(0, 10, 2)), support::Contains("out of bounds"));
  REQUIRE(same_bits(relative(all.narrow(0, 1, 2)), wide(all.narrow(0, 1, 2))));

  const auto named = [](const Tensor& x) { return x.as_strided({2, 2}, {2, 1}, 4) + 1; };
  auto absolute = compile(named);
  for (const int at : {5, 5, 5, 0, 0, 0, 10, 3})
    REQUIRE(same_bits(absolute(all.narrow(0, at, 2)), named(all.narrow(0, at, 2))));
  CHECK(absolute.report().replays > 0);
  CHECK_THROWS_WITH(absolute(randn({2})), support::Contains("out of bounds"));
}

TEST_CASE("a leaf argument gets its gradient from a chain of matmuls whose additions are fused") {
  const Tensor w = randn({4, 3}).requires_grad_(), v = randn({3, 5}).requires_grad_();
  const auto loss = [&](const Tensor& x) { return x.matmul(w).relu().matmul(v).sum(); };
  auto f = compile([&](const Tensor& x) { loss(x).backward(); });
  for (int i = 0; i < 6; ++i) {
    const Tensor x = randn({4}).requires_grad_();
    f(x);
    REQUIRE(x.grad().defined());
    CHECK(same_bits(x.grad(), autograd::grad({loss(x)}, {x})[0]));
  }
  require_replays(f, 1);
}

TEST_CASE("a captured leaf gets a gradient in a later call that also takes it as an argument") {
  const Tensor w = tensor({1.0, 2.0}).requires_grad_();
  auto f = compile([&](const Tensor& x) {
    w.square().sum().backward({}, false, false, {{x}});
    return x.detach() + 1;
  });
  for (int i = 0; i < 4; ++i) f(randn({2}, kDouble).requires_grad_());
  require_replays(f, 1);
  CHECK_FALSE(w.grad().defined());
  f(w);
  REQUIRE(w.grad().defined());
  CHECK(equal(w.grad(), 2 * w));
}

TEST_CASE("backward reaches the graph of a captured tensor that gets a history between calls") {
  for (const bool through_view : {false, true}) {
    const Tensor w = tensor({1.0, 2.0}).requires_grad_();
    Tensor captured = tensor({3.0, 4.0});
    auto f = compile([&](const Tensor& x) {
      (captured * x).sum().backward();
      return x.detach() + 1;
    });
    const auto fresh = [] { return tensor({5.0, 6.0}).requires_grad_(); };
    for (int i = 0; i < 4; ++i) f(fresh());
    require_replays(f, 1);
    (through_view ? captured.view({2}) : captured).mul_(w);
    f(fresh());
    REQUIRE(w.grad().defined());
    CHECK(equal(w.grad(), tensor({15.0, 24.0})));
  }
}

TEST_CASE("copy_ throws in a compiled call whose argument overlaps a captured tensor") {
  const Warnings warnings;
  const Tensor kept = arange(8, kFloat), seen = kept.narrow(0, 2, 4);
  auto from_kept = compile([&](Tensor x) { x.copy_(seen); });
  auto into_kept = compile([&](const Tensor& x) { seen.copy_(x); });
  for (int call = 0; call < 4; ++call) {
    Tensor x = zeros({4});
    from_kept(x);
    CHECK(equal(x, seen));
    into_kept(x + 1);
    CHECK(equal(seen, x + 1));
  }
  require_replays(from_kept, 2);
  require_replays(into_kept, 2);
  CHECK_THROWS_WITH(from_kept(kept.narrow(0, 1, 4)), Contains("overlap"));
  CHECK_THROWS_WITH(into_kept(kept.narrow(0, 1, 4)), Contains("overlap"));
}

TEST_CASE("a function that writes to memory which two captured tensors share stays eager and reports why") {
  const Warnings warnings;
  const Tensor x = arange(4, kFloat), same = x.data(), before = x.clone();
  auto f = compile([&](const Tensor& y) {
    x.add_(y);
    return same * 2;
  });
  for (int call = 1; call < 6; ++call) CHECK(equal(f(ones({4})), (before + call) * 2));
  CHECK_FALSE(f.report().replayed);
  CHECK_THAT(f.report().reason, Contains("shares its memory with another tensor"));
}

TEST_CASE("a function that returns a different view of its argument in each call stays eager") {
  const Warnings warnings;
  std::int64_t calls = 0;
  auto part = compile([&](const Tensor& x) { return x.narrow(0, calls, 2); });
  auto turned = compile([&](const Tensor& x) { return calls % 2 ? x.view({3, 4}).t() : x.view({4, 3}); });
  for (; calls < 9; ++calls) {
    const Tensor x = randn({12});
    CHECK(same_bits(part(x), x.narrow(0, calls, 2)));
    CHECK(same_bits(turned(x), calls % 2 ? x.view({3, 4}).t() : x.view({4, 3})));
  }
  CHECK_FALSE(part.report().replayed);
  CHECK_THAT(part.report().reason, Contains("left different results"));
}

TEST_CASE("an argument in the memory of a captured tensor may have another offset in each call") {
  const Tensor kept = arange(12, kFloat), seen = kept.narrow(0, 3, 4);
  auto f = compile([&](const Tensor& x) { return x + seen * 2; });
  for (const std::int64_t offset : {0, 0, 0, 4, 4, 4, 5, 0})
    CHECK(equal(f(kept.narrow(0, offset, 4)), kept.narrow(0, offset, 4) + seen * 2));
  CHECK(f.report().replays == 2);
}

TEST_CASE("a call is right after a captured tensor that shares the argument's memory gets a history") {
  const Warnings warnings;
  Tensor kept = zeros({3});
  auto f = compile([&](const Tensor& x) { return std::tuple(x * 2, kept * 3); });
  Tensor in_kept = kept.detach();
  for (int call = 0; call < 4; ++call) CHECK_FALSE(std::get<1>(f(in_kept)).requires_grad());
  CHECK(f.report().replays == 2);
  const Tensor weight = ones({3}).set_requires_grad(true);
  kept.add_(weight);
  const auto [of_argument, of_kept] = f(in_kept);
  CHECK_FALSE(of_argument.requires_grad());
  of_kept.sum().backward();
  CHECK(equal(weight.grad(), full({3}, 3.)));
}

TEST_CASE(
    "a call whose argument is part of a graph is eager and reports why, and the next call is replayed") {
  Warnings warnings;
  auto f = compile([](const Tensor& x) { return (x * 2).detach(); });
  const Tensor x = randn({2});
  settle(f, x);
  const Tensor computed = ones({2}).requires_grad_() * x;
  CHECK(same_bits(f(computed), computed * 2));
  CHECK_FALSE(f.report().replayed);
  CHECK_THAT(f.report().reason, Contains("an argument is part of a graph"));
  replay(f, x);
  CHECK(f.report().reason.empty());
  CHECK(warnings.texts.empty());
  const autograd::DetectAnomalyGuard guard;
  f(x);
  CHECK_THAT(f.report().reason, Contains("anomaly"));
  for (const std::string& text : warnings.texts)
    CHECK_THAT(text, Contains("Anomaly Detection has been enabled"));
}

TEST_CASE("an argument with a hook gets another tape than an argument without one") {
  auto f = compile([](const Tensor& x) {
    const Tensor loss = x.sum();
    loss.backward();
    return loss;
  });
  for (int i = 0; i < 4; ++i) {
    Tensor plain = ones({2}).requires_grad_(), doubled = ones({2}).requires_grad_();
    doubled.register_hook([](const Tensor& grad) { return grad * 2; });
    f(plain);
    f(doubled);
    CHECK(same_bits(plain.grad(), ones({2})));
    CHECK(same_bits(doubled.grad(), full({2}, 2.0)));
  }
}

TEST_CASE("a tape stays valid when other tensors on the memory of a queried tensor are destroyed") {
  const Tensor data = randn({8, 2}), weight = randn({2}).requires_grad_();
  auto f = compile([&](const Tensor& x) { return x.detach() * data.size(0) * weight.numel(); });
  for (int i = 0; i < 8; ++i) {
    const Tensor rows = data.narrow(0, i, 1), handle = weight.detach();
    const Tensor x = i % 2 == 0 ? rows : weight;
    CHECK(same_bits(f(x), x.detach() * 16));
  }
  CHECK(f.report().replays > 0);
}

TEST_CASE("a call detects a new captured tensor in whose memory an argument of the recording was") {
  Tensor data = randn({8, 2});
  const Tensor more = randn({8, 2}), other = more.narrow(0, 1, 1);
  auto f = compile([&](const Tensor& x) { return x * data.size(0); });
  f(other);
  f(data.narrow(0, 1, 1));
  for (int i = 0; i < 3; ++i) CHECK(same_bits(f(other), other * 8));
  CHECK(f.report().replays == 3);
  data = randn({5, 2});
  CHECK(same_bits(f(other), other * 5));
}

TEST_CASE("a function that compares an argument with a captured tensor, or reads its storage, stays eager") {
  const Tensor w = randn({3});
  const std::pair<const char*, std::function<double(const Tensor&)>> functions[] = {
      {"is_same", [&](const Tensor& x) -> double { return x.is_same(w); }},
      {"is_alias_of", [&](const Tensor& x) -> double { return w.is_alias_of(x); }},
      {"is_set_to", [&](const Tensor& x) -> double { return x.is_set_to(w); }},
      {"storage", [](const Tensor& x) { return static_cast<double>(x.storage().nbytes()); }},
      {"_base", [](const Tensor& x) { return static_cast<double>(x[0]._base().size(0)); }}};
  for (const auto& [name, function] : functions) {
    INFO(name);
    const Warnings warnings;
    auto f = compile([&, read = function](const Tensor& x) { return full({}, read(x)); });
    std::vector<Tensor> kept;
    for (int i = 0; i < 4; ++i) f(kept.emplace_back(randn({6, 3}))[i]);
    CHECK(f.report().replays == 0);
    CHECK(f(w).item<double>() == function(w));
  }
}

TEST_CASE("a tape replays only arguments that begin where the function read that they begin") {
  auto f = compile([](const Tensor& x) { return x * static_cast<double>(x.storage_offset()); });
  const Tensor data = ones({8, 3});
  for (int i = 0; i < 4; ++i) f(data[2]);
  CHECK(f.report().replays > 0);
  for (int i = 0; i < 8; ++i) CHECK(same_bits(f(data[i]), full({3}, 3.0 * i)));
}

TEST_CASE("a tape stays valid after arguments that shared the memory of later arguments are destroyed") {
  const Tensor data = randn({40, 3});
  const Tensor w = randn({3});
  auto f = compile([&](const Tensor& x) { return (x * w).sum(); });
  Tensor previous, x;
  for (int i = 0; i < 40; ++i) {
    previous = x;
    x = data[i];
    CHECK(same_bits(f(x), (data[i] * w).sum()));
  }
  CHECK(f.report().recordings <= 4);
  // These tensors are older than any recording of g.
  std::vector<Tensor> rows;
  for (int i = 0; i < 40; ++i) rows.push_back(data[i].detach().requires_grad_());
  auto g = compile([&](const Tensor& a) {
    const Tensor loss = (a * w).sum();
    loss.backward();
    return loss;
  });
  while (!rows.empty()) {
    g(rows.back());
    CHECK(same_bits(rows.back().grad(), w));
    rows.pop_back();
  }
  CHECK(g.report().recordings <= 4);
}

TEST_CASE("a function whose arguments are unsqueezed and set to require grad before each call is replayed") {
  const Tensor w = randn({3});
  std::vector<Tensor> batches;
  for (int i = 0; i < 40; ++i) batches.push_back(randn({3}));
  auto f = compile([&](const Tensor& x) {
    const Tensor loss = (x * w).sum();
    loss.backward();
    return loss;
  });
  for (Tensor& x : batches) {
    x.unsqueeze_(0).requires_grad_();
    f(x);
    CHECK(same_bits(x.grad(), w.unsqueeze(0)));
  }
  CHECK(f.report().replays >= 36);
}

TEST_CASE("a tensor that is passed twice gets another tape than two leaves that share memory") {
  auto f = compile([](const Tensor& a, const Tensor& b) {
    const Tensor loss = (a * 2 + b * 3).sum();
    loss.backward();
    return loss;
  });
  const auto leaf = [](const Tensor& memory) { return memory.detach().requires_grad_(); };
  for (int i = 0; i < 5; ++i) {
    const Tensor memory = randn({3});
    const Tensor x = leaf(memory);
    f(x, x);
    CHECK(same_bits(x.grad(), full({3}, 5.0)));
    const Tensor a = leaf(memory), b = leaf(memory);
    f(a, b);
    CHECK(same_bits(a.grad(), full({3}, 2.0)));
    CHECK(same_bits(b.grad(), full({3}, 3.0)));
  }
  CHECK(f.report().kinds == 2);
  CHECK(f.report().replays >= 4);
}
