// Changes that a replay follows, changes that cause a new recording, and functions that stay eager.
#include "twins.h"

#include <deque>
#include <thread>

using namespace twins;
using support::Contains;

TEST_CASE("each shape, dtype, layout, number, string and grad mode gets its own tape") {
  auto f = compile([](const Tensor& x, double by, const std::string& how) {
    return how == "sum" ? (x * by).sum() : (x * by).mean();
  });
  for (int round = 0; round < 4; ++round)
    for (const std::int64_t n : {2, 3}) {
      const Tensor x = randn({n, 2}), wide = randn({n, 2}, kDouble);
      CHECK(same_bits(f(x, 2.0, std::string("sum")), (x * 2.0).sum()));
      CHECK(same_bits(f(x, 3.0, std::string("sum")), (x * 3.0).sum()));
      CHECK(same_bits(f(x, 3.0, std::string("mean")), (x * 3.0).mean()));
      CHECK(same_bits(f(wide, 3.0, std::string("mean")), (wide * 3.0).mean()));
      const Tensor columns = x.t().contiguous().t();
      CHECK(same_bits(f(columns, 3.0, std::string("mean")), (columns * 3.0).mean()));
      const NoGradGuard no_grad;
      CHECK(same_bits(f(x, 2.0, std::string("sum")), (x * 2.0).sum()));
    }
  CHECK(f.report().kinds == 12);
  CHECK(f.report().replays >= 12);
  f.reset();
  CHECK(f.report().calls == 0);
}

TEST_CASE("each thread mode that affects ops gets its own tape") {
  auto f = compile([](const Tensor& x) {
    const Tensor one = ones({2, 2});
    return std::tuple(x.matmul(x) + one, one);
  });
  const std::pair<const char*, std::function<std::shared_ptr<void>()>> states[] = {
      {"none", [] { return std::shared_ptr<void>(); }},
      {"default dtype",
       [] {
         set_default_dtype(kDouble);
         return std::shared_ptr<void>(nullptr, [](void*) { set_default_dtype(kFloat); });
       }},
      {"no_grad", [] { return std::make_shared<NoGradGuard>(); }},
      {"inference", [] { return std::make_shared<InferenceMode>(); }},
      {"autocast", [] { return std::make_shared<amp::autocast>(kCPU, kBFloat16); }},
      {"autocast to f16", [] { return std::make_shared<amp::autocast>(kCPU, kHalf); }},
      {"deterministic", [] {
         use_deterministic_algorithms(true);
         return std::shared_ptr<void>(nullptr, [](void*) { use_deterministic_algorithms(false); });
       }}};
  for (int round = 0; round < 4; ++round)
    for (const auto& [name, enter] : states) {
      INFO(name << ", round " << round);
      const auto state = enter();
      const Tensor x = randn({2, 2}, kFloat);
      const auto [sum, one] = f(x);
      REQUIRE(same_bits(sum, x.matmul(x) + ones({2, 2})));
      REQUIRE(one.dtype() == get_default_dtype());
    }
  CHECK(f.report().kinds == static_cast<std::int64_t>(std::size(states)));
  require_replays(f, static_cast<std::int64_t>(std::size(states)));
}

TEST_CASE("max_kinds limits the number of tapes to the most recently used kinds of calls") {
  auto f = compile([](const Tensor& x) { return x + 1; }, CompileOptions{2});
  for (int n = 1; n < 6; ++n)
    for (int i = 0; i < 3; ++i) CHECK(equal(f(ones({n})), full({n}, 2.0)));
  CHECK(f.report().kinds == 2);
}

TEST_CASE("a replay reads in-place writes to a captured tensor and detects its replacement") {
  Tensor weight = randn({3});
  auto f = compile([&](const Tensor& x) { return x * weight; });
  const Tensor x = randn({3});
  settle(f, x);
  weight.add_(1);
  CHECK(same_bits(replay(f, x), x * weight));
  weight = randn({3});
  CHECK(same_bits(f(x), x * weight));
  settle(f, x);
  Tensor alias = weight;
  weight.set_data(randn({3}));
  CHECK(same_bits(f(x), x * weight));
  settle(f, x);
  const Tensor held = weight.detach();
  weight.set_data(randn({3}));  // `held` keeps the old memory alive
  CHECK(same_bits(f(x), x * weight));
}

TEST_CASE("a call detects that frozen parameters are unfrozen") {
  nn::Linear frozen(2, 2), free(2, 1);
  for (const Tensor& p : frozen->parameters()) p.set_requires_grad(false);
  auto step = compile([&](const Tensor& x) {
    frozen->zero_grad();
    free->zero_grad();
    const Tensor loss = free(frozen(x)).sum();
    loss.backward();
    return loss;
  });
  const Tensor x = randn({3, 2});
  settle(step, x);
  CHECK_FALSE(frozen->weight.grad().defined());
  for (const Tensor& p : frozen->parameters()) p.set_requires_grad(true);
  step(x);
  REQUIRE(frozen->weight.grad().defined());
  settle(step, x);
  step(x);
  CHECK(frozen->weight.grad().defined());
}

TEST_CASE("a function is recorded again after its module is converted to another dtype") {
  nn::Linear layer(3, 2);
  auto f = compile([&](const Tensor& x) {
    const NoGradGuard no_grad;
    return layer(x.to(layer->weight.dtype()));
  });
  const Tensor x = randn({4, 3});
  settle(f, x);
  layer->to(kDouble);
  const NoGradGuard no_grad;
  CHECK(same_bits(f(x), layer(x.to(kDouble))));
}

TEST_CASE("replays accumulate gradients or create new ones as eager calls do") {
  Tensor w = randn({4}).requires_grad_(), eager = w.detach().clone().requires_grad_();
  auto backward = compile([&](const Tensor& x) { (w * x).square().sum().backward(); });
  const auto expect = [&](const Tensor& x) {
    (eager * x).square().sum().backward();
    backward(x);
    REQUIRE(same_bits(w.grad(), eager.grad()));
  };
  for (int i = 0; i < 8; ++i) expect(randn({4}));
  require_replays(backward, 4);
  const std::int64_t before = backward.report().replays;
  for (int i = 0; i < 8; ++i) {  // the caller drops the gradients
    w.mutable_grad().reset();
    eager.mutable_grad().reset();
    expect(randn({4}));
  }
  require_replays(backward, before + 4);
  for (int i = 0; i < 6; ++i) expect(randn({4}));
  w.mutable_grad() = ones({4});
  eager.mutable_grad() = ones({4});
  expect(randn({4}));
}

TEST_CASE("a replay does not overwrite results and gradients that the caller still holds") {
  Tensor w = randn({4}).requires_grad_();
  auto step = compile([&](const Tensor& x) {
    w.mutable_grad().reset();
    const Tensor y = w * x;
    y.sum().backward();
    return std::vector<Tensor>{y.detach(), y.detach().narrow(0, 1, 2), x};
  });
  settle(step, ones({4}));
  const Tensor one = full({4}, 1.0), two = full({4}, 2.0);
  const std::vector<Tensor> first = replay(step, one);
  const Tensor grad = w.grad(), kept = grad.clone(), copy = first[0].clone();
  const std::vector<Tensor> second = replay(step, two);
  CHECK(same_bits(first[0], copy));
  CHECK(same_bits(grad, kept));
  CHECK(same_bits(w.grad(), two));
  CHECK(same_bits(second[1], second[0].narrow(0, 1, 2)));
  CHECK(second[2].is_alias_of(two));
  CHECK_FALSE(second[0].is_alias_of(first[0]));
  replay(step, two);
  CHECK(second[1].is_alias_of(second[0]));
}

TEST_CASE("a returned constant is a new copy in every call") {
  auto f = compile([](const Tensor& x) { return std::vector<Tensor>{tensor({1.F, 2.F}), x + 1}; });
  settle(f, ones({2}));
  for (int i = 0; i < 3; ++i) {
    const std::vector<Tensor> got = replay(f, ones({2}));
    CHECK(equal(got[0], tensor({1.F, 2.F})));
    got[0].add_(5);
    got[1].add_(5);
  }
}

TEST_CASE("backward through an earlier graph detects the in-place writes of a replay") {
  Tensor w = ones({2}).requires_grad_();
  auto shift = compile([&](const Tensor& x) {
    const NoGradGuard no_grad;
    w.add_(x);
  });
  settle(shift, ones({2}));
  const Tensor y = w * w;
  shift(ones({2}));
  CHECK_THROWS_WITH(y.sum().backward(), Contains("modified by an inplace operation"));
}

TEST_CASE("a function that reads values on the host stays eager with one warning") {
  Warnings warnings;
  auto f = compile([](const Tensor& x) { return x.sum().item<float>() > 0 ? x * 2 : x * 3; });
  for (int i = 0; i < 6; ++i) {
    const Tensor x = full({2}, i % 2 ? 1.0 : -1.0);
    CHECK(same_bits(f(x), i % 2 ? x * 2 : x * 3));
  }
  CHECK_FALSE(f.report().replayed);
  CHECK_THAT(f.report().reason, Contains("the host reads"));
  REQUIRE(warnings.texts.size() == 1);
  CHECK_THAT(warnings.texts[0], Contains("stays eager"));
  auto printed = compile([](const Tensor& x) { return to_string(x) == "tensor([1., 1.])" ? x * 2 : x * 3; });
  for (int i = 0; i < 6; ++i) printed(ones({2}));
  CHECK_FALSE(printed.report().replayed);
}

TEST_CASE("a function that computes on raw data pointers stays eager") {
  const Warnings warnings;
  auto f = compile([](const Tensor& x) {
    Tensor y = empty_like(x);
    for (std::int64_t i = 0; i < x.numel(); ++i) y.data_ptr<float>()[i] = x.data_ptr<float>()[i] + 1;
    return y * 2;
  });
  for (int i = 0; i < 6; ++i) {
    const Tensor x = randn({3});
    CHECK(same_bits(f(x), (x + 1) * 2));
  }
  CHECK_FALSE(f.report().replayed);
  auto g = compile([](const Tensor& x) {
    NdArray y = NdArray::empty(x.sizes(), kFloat);
    for (std::int64_t i = 0; i < x.numel(); ++i) y.data_as<float>()[i] = x.array().data_as<float>()[i] + 1;
    return Tensor(y);
  });
  for (int i = 0; i < 6; ++i) {
    const Tensor x = randn({3});
    CHECK(same_bits(g(x), x + 1));
  }
  CHECK_FALSE(g.report().replayed);
}

TEST_CASE("a function is replayed if its constants are equal in every call, and otherwise stays eager") {
  const Warnings warnings;
  auto constant = compile([](const Tensor& x) { return x * tensor({1.F, 2.F}) + 3; });
  const Tensor x = randn({2});
  settle(constant, x);
  CHECK(same_bits(replay(constant, x), x * tensor({1.F, 2.F}) + 3));
  auto written = compile([](const Tensor& y) { return tensor({1.F, 2.F}).add_(y); });
  settle(written, x);
  for (int i = 0; i < 3; ++i) CHECK(same_bits(replay(written, x), tensor({1.F, 2.F}) + x));
  float count = 0;
  auto counting = compile([&](const Tensor& y) { return y + tensor({count, count++}); });
  for (int i = 0; i < 9; ++i) {
    const float at = count;
    CHECK(same_bits(counting(x), x + tensor({at, at})));
  }
  CHECK_FALSE(counting.report().replayed);
  CHECK_THAT(counting.report().reason, Contains("different"));
}

TEST_CASE("a function that stores a computed tensor outside of its results stays eager") {
  const Warnings warnings;
  Tensor state = zeros({2});
  auto carry = compile([&](const Tensor& x) {
    state = state * 0.5 + x;
    return state;
  });
  Tensor expected = zeros({2});
  for (int i = 0; i < 9; ++i) {
    const Tensor x = randn({2});
    expected = expected * 0.5 + x;
    CHECK(same_bits(carry(x), expected));
  }
  CHECK_FALSE(carry.report().replayed);
  std::vector<Tensor> log;
  auto keeps = compile([&](const Tensor& x) {
    const Tensor y = x * 2;
    log.push_back(y);
    return y + 1;
  });
  for (int i = 0; i < 6; ++i) keeps(ones({2}));
  CHECK(log.size() == 6);
  CHECK_THAT(keeps.report().reason, Contains("kept elsewhere"));
}

TEST_CASE("a function that returns a graph, steps a schedule or seeds a generator stays eager") {
  const Warnings warnings;
  Tensor w = randn({2}).requires_grad_();
  auto forward = compile([&](const Tensor& x) { return w * x; });
  for (int i = 0; i < 6; ++i) {
    const Tensor x = randn({2});
    w.mutable_grad().reset();
    forward(x).sum().backward();
    CHECK(same_bits(w.grad(), x));
  }
  CHECK_THAT(forward.report().reason, Contains("graph"));
  optim::SGD sgd({w}, 0.1);
  optim::StepLR schedule(sgd, 1, 0.5);
  auto scheduled = compile([&](const Tensor& x) {
    sgd.zero_grad();
    (w * x).sum().backward();
    sgd.step();
    schedule.step();
  });
  for (int i = 0; i < 6; ++i) scheduled(ones({2}));
  optim::SGD other({w}, 0.1);
  optim::StepLR expected(other, 1, 0.5);
  for (int i = 0; i < 6; ++i) expected.step();
  CHECK(sgd.param_groups()[0].options().get_lr() == other.param_groups()[0].options().get_lr());
  CHECK_THAT(scheduled.report().reason, Contains("schedule"));
  auto reseeded = compile([&](const Tensor& x) {
    manual_seed(1);
    return randn({2}) + x;
  });
  for (int i = 0; i < 6; ++i) reseeded(ones({2}));
  CHECK_THAT(reseeded.report().reason, Contains("random"));
}

TEST_CASE("a step is recorded again after its optimizer is loaded or replaced") {
  nn::Linear layer(2, 1);
  auto adam = std::make_unique<optim::Adam>(layer->parameters(), optim::AdamOptions(0.1));
  auto step = compile([&](const Tensor& x) {
    adam->zero_grad();
    layer(x).sum().backward();
    adam->step();
  });
  const Tensor x = randn({3, 2});
  settle(step, x);
  std::stringstream file;
  save(*adam, file);
  load(*adam, file);
  settle(step, x);
  adam = std::make_unique<optim::Adam>(layer->parameters(), optim::AdamOptions(0.5));
  const Tensor before = layer->weight.detach().clone();
  step(x);
  CHECK((layer->weight.detach() - before).abs().max().item<float>() == Approx(0.5).epsilon(1e-3));
}

TEST_CASE("a step is recorded again after changed options, a late first gradient and added parameters") {
  const auto build = [] {
    manual_seed(2);
    return nn::Linear(2, 1);
  };
  nn::Linear layers[2] = {build(), build()};
  Tensor late[2] = {ones({2}).requires_grad_(), ones({2}).requires_grad_()};
  Tensor joins[2] = {ones({2}).requires_grad_(), ones({2}).requires_grad_()};
  std::deque<optim::SGD> optimizers;
  for (int i = 0; i < 2; ++i)
    optimizers.emplace_back(std::vector<Tensor>{layers[i]->weight, layers[i]->bias, late[i]},
                            optim::SGDOptions(0.1));
  const auto train = [&](int i, const Tensor& x) {
    layers[i]->zero_grad();
    layers[i](x).square().sum().backward();
    optimizers[static_cast<std::size_t>(i)].step();
  };
  auto step = compile([&](const Tensor& x) { train(1, x); });
  const auto run = [&] {
    for (int t = 0; t < 6; ++t) {
      const Tensor x = randn({3, 2});
      train(0, x);
      step(x);
      REQUIRE(same_bits(layers[1]->weight, layers[0]->weight));
      REQUIRE(same_bits(late[1], late[0]));
      REQUIRE(same_bits(joins[1], joins[0]));
    }
    require_replays(step, 2);
  };
  run();
  for (optim::SGD& each : optimizers)
    static_cast<optim::SGDOptions&>(each.param_groups()[0].options()).momentum(0.9);
  run();
  for (optim::SGD& each : optimizers)
    static_cast<optim::SGDOptions&>(each.param_groups()[0].options()).maximize(true);
  run();
  for (const Tensor& each : late) each.mutable_grad() = ones({2});
  run();
  for (int i = 0; i < 2; ++i) {
    joins[i].mutable_grad() = full({2}, 0.5);
    optimizers[static_cast<std::size_t>(i)].add_param_group(optim::OptimizerParamGroup({joins[i]}));
  }
  run();
}

TEST_CASE("a replay that throws still increments the version of each tensor that it wrote") {
  const Tensor kept = ones({3}), weight = ones({3}).requires_grad_();
  auto f = compile([&](const Tensor& p) {
    kept.mul_(2);
    return bernoulli(p);
  });
  for (int i = 0; i < 4; ++i) f(full({3}, 0.5));
  require_replays(f, 1);
  const Tensor y = (weight * kept).sum();
  const std::int64_t recordings = f.report().recordings;
  const auto version = kept._version();
  CHECK_THROWS_WITH(f(full({3}, 2.0)), support::Contains("p"));
  REQUIRE(f.report().recordings == recordings);
  CHECK(equal(kept, full({3}, 32.0F)));
  CHECK(kept._version() == version + 1);
  CHECK_THROWS_WITH(y.backward(), support::Contains("modified by an inplace operation"));
}

TEST_CASE("a replay that throws keeps the gradients of the completed backward passes") {
  for (const bool twice : {false, true}) {
    const auto function = [&](const Tensor& x, const Tensor& at) {
      x.square().sum().backward();
      if (twice) (x * 3).sum().backward();
      const Tensor picked = x.detach().index_select(0, at);
      (x * 5).sum().backward();
      return picked;
    };
    auto f = compile(function);
    const auto fresh = [] { return tensor({1.0, 2.0}).requires_grad_(); };
    for (int i = 0; i < 4; ++i) f(fresh(), tensor({1}));
    require_replays(f, 1);
    const Tensor x = fresh();
    CHECK_THROWS_WITH(f(x, tensor({9})), Contains("index_select"));
    REQUIRE(x.grad().defined());
    CHECK(equal(x.grad(), twice ? tensor({5.0, 7.0}) : tensor({2.0, 4.0})));
  }
}

TEST_CASE("exceptions of the function or of a kernel propagate, and the next call is recorded again") {
  bool fails = true;
  auto f = compile([&](const Tensor& x) {
    if (fails) throw std::runtime_error("not yet");
    return x.index_select(0, (x * 0).to(kLong)) + x;
  });
  CHECK_THROWS_WITH(f(ones({2})), "not yet");
  fails = false;
  settle(f, ones({2}));
  const auto pick = [](const Tensor& from, const Tensor& at) { return from.index_select(0, at) * 2; };
  auto g = compile(pick);
  const Tensor from = randn({4});
  settle(g, from, tensor({1, 2}));
  CHECK_THROWS_WITH(g(from, tensor({1, 9})), Contains("index_select") && Contains("9"));
  CHECK(same_bits(g(from, tensor({3, 0})), pick(from, tensor({3, 0}))));
  settle(g, from, tensor({1, 2}));
}

TEST_CASE("a compiled function that is called inside another one is recorded as part of the outer function") {
  auto inner = compile([](const Tensor& x) { return x * 2; });
  auto outer = compile([&](const Tensor& x) { return inner(x) + 1; });
  settle(outer, ones({2}));
  CHECK(inner.report().calls == 0);
  CHECK(equal(replay(outer, full({2}, 3.0)), full({2}, 7.0)));
  settle(inner, ones({2}));
  outer.reset();
  settle(outer, ones({2}));
  CHECK(equal(replay(outer, full({2}, 3.0)), full({2}, 7.0)));
}

TEST_CASE("threads may call one compiled function and record others in parallel") {
  auto shared = compile([](const Tensor& x) { return (x * 2).relu() + 1; });
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto own = compile([&](const Tensor& x) { return (x + t).square().sum(); });
      for (int i = 0; i < 200; ++i) {
        const Tensor x = full({5}, t + i * 0.5);
        if (!equal(shared(x), (x * 2).relu() + 1)) ++wrong;
        if (!equal(own(x), (x + t).square().sum())) ++wrong;
      }
      if (own.report().replays < 100) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("temporaries with disjoint live ranges share the memory of the arena") {
  auto chain = compile([](Tensor x) {
    for (int i = 0; i < 50; ++i) x = (x * 1.01).tanh();
    return x;
  });
  settle(chain, randn({1000}));
  CHECK(chain.report().operations == 100);
  CHECK(chain.report().arena_bytes <= 2 * 4096);
  CHECK(chain.report().result_bytes >= 4000);
}

TEST_CASE("a replayed training step calls saved-tensor hooks that are set after the recording") {
  const Tensor w = randn({3}).requires_grad_();
  auto f = compile([&](const Tensor& x) {
    w.mutable_grad() = {};
    (w * x).exp().sum().backward();
    return w.grad() * 1;
  });
  settle(f, randn({3}));
  int packed = 0, unpacked = 0;
  const Tensor x = randn({3}), expected = (x * (w * x).exp()).detach();
  {
    const autograd::SavedTensorHooks hooks(
        [&](const Tensor& t) {
          ++packed;
          return std::make_shared<Tensor>(t);
        },
        [&](const std::shared_ptr<void>& t) {
          ++unpacked;
          return *static_cast<const Tensor*>(t.get());
        });
    CHECK(allclose(f(x), expected));
  }
  CHECK(packed > 0);
  CHECK(unpacked == packed);
  CHECK(allclose(replay(f, x), expected));
}
