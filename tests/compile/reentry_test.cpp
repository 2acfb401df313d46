// Calls of a compiled function's methods while it runs, limits on the number of kinds, parallel calls, and
// calls that throw.
#include "twins.h"

#include <thread>

using namespace twins;
using support::Contains;

TEST_CASE("report, reset, emit and a nested call work while the function runs") {
  Compiled<std::function<Tensor(const Tensor&)>>* self = nullptr;
  enum { kNothing, kReport, kReset, kEmit, kCall } act = kNothing;
  auto f = compile(std::function<Tensor(const Tensor&)>([&](const Tensor& x) {
    switch (act) {
      case kReport:
        self->report();
        break;
      case kReset:
        self->reset();
        break;
      case kEmit:
        CHECK_THROWS_WITH(self->emit("unused.cpp"), Contains("Compiled::emit"));
        break;
      case kCall:
        act = kNothing;
        (*self)(x);
        break;
      case kNothing:
        break;
    }
    return x + 1;
  }));
  self = &f;
  const Tensor x = ones({2});
  for (const auto each : {kReport, kReset, kEmit, kCall}) {
    f.reset();
    act = each;
    CHECK(same_bits(f(x), x + 1));
    act = kNothing;
    settle(f, x);
  }
}

TEST_CASE("a warning handler may call report and reset of the function that warns") {
  struct Asks : WarningHandler {
    void process(const Warning&) override {
      reason = ask();
      ++calls;
    }
    std::function<std::string()> ask;
    std::string reason;
    int calls = 0;
    WarningHandlerGuard guard{this};
  } asks;
  auto f = compile([](const Tensor& x) { return x.sum().item<float>() > 0 ? x + 1 : x; });
  asks.ask = [&] {
    std::string reason = f.report().reason;
    f.reset();
    return reason;
  };
  for (int i = 0; i < 4; ++i) CHECK(same_bits(f(ones({2})), full({2}, 2.0)));
  CHECK(asks.calls == 1);
  CHECK_THAT(asks.reason, Contains("the host reads"));
}

TEST_CASE("a function that gets a new shape in every call warns once and is no longer recorded") {
  Warnings warnings;
  auto f = compile([](const Tensor& x) { return x + 1; }, CompileOptions{4});
  for (std::int64_t n = 1; n <= 100; ++n) CHECK(same_bits(f(ones({n})), full({n}, 2.0)));
  CHECK(f.report().recordings <= 16);
  REQUIRE(warnings.texts.size() == 1);
  CHECK_THAT(warnings.texts[0], Contains("max_kinds"));
  CHECK_THAT(f.report().reason, Contains("max_kinds"));
  f.reset();
  settle(f, ones({3}));
}

TEST_CASE("shapes that recur within max_kinds are replayed") {
  auto f = compile([](const Tensor& x) { return x + 1; }, CompileOptions{4});
  for (int round = 0; round < 10; ++round)
    for (std::int64_t n = 1; n <= 4; ++n) f(ones({n}));
  CHECK(f.report().replays == 32);
}

TEST_CASE("two threads that call one function in parallel get the results of eager calls") {
  nn::Linear layer(4, 4);
  auto f = compile([&](const Tensor& x) {
    const NoGradGuard no_grad;
    return layer(x).relu() + x;
  });
  const auto expected = [&](const Tensor& x) {
    const NoGradGuard no_grad;
    return layer(x).relu() + x;
  };
  std::atomic<int> wrong{0};
  const auto work = [&] {
    for (int i = 0; i < 300; ++i) {
      const Tensor x = full({2, 4}, i * 0.01);
      wrong += !same_bits(f(x), expected(x));
      if (i % 50 == 0) f.report();
    }
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(wrong == 0);
}

TEST_CASE("a replay that throws has reset the gradients that the function resets before the failing kernel") {
  Tensor w = ones({3}).requires_grad_();
  optim::SGD optimizer({w}, 0.1);
  const Tensor divisor = ones({1}, kInt);
  auto step = compile([&](const Tensor& x) {
    optimizer.zero_grad(/*set_to_none=*/true);
    const Tensor whole = floor_divide(ones({1}, kInt), divisor);
    const Tensor loss = (w * x).sum() * whole.to(kFloat).sum();
    loss.backward();
    return loss;
  });
  const Tensor x = randn({3});
  settle(step, x);
  REQUIRE(w.grad().defined());
  divisor.zero_();
  CHECK_THROWS(step(x));
  CHECK_FALSE(w.grad().defined());
}

namespace {

/// A function of an index, which must be below 4, and the tensors whose state it changes.
struct Throwing {
  std::function<void(const Tensor& index)> body;
  std::vector<Tensor> state;
};

Tensor looked_up(const Tensor& index) { return arange(4, kFloat).index_select(0, index); }

}  // namespace

TEST_CASE("a replay that throws leaves captured tensors and gradients as the eager function leaves them") {
  const std::pair<const char*, Throwing (*)()> makers[] = {
      {"a write to one element after the failing call",
       [] {
         const Tensor count = ones({});
         return Throwing{[=](const Tensor& index) {
                           looked_up(index);
                           count.mul_(-3);
                         },
                         {count}};
       }},
      {"an added product",
       [] {
         const Tensor sum = ones({3, 3}), x = ones({3, 3});
         return Throwing{[=](const Tensor& index) {
                           const Tensor product = x.mm(x);
                           looked_up(index);
                           sum.add_(product);
                         },
                         {sum}};
       }},
      {"an addition to cleared elements",
       [] {
         const Tensor sum = ones({3, 3}), x = ones({3, 3});
         return Throwing{[=](const Tensor& index) {
                           sum.zero_();
                           looked_up(index);
                           sum.add_(x);
                         },
                         {sum}};
       }},
      {"a gradient that is cleared before the failing call and added to after it",
       [] {
         const Tensor w = ones({3, 3}).requires_grad_();
         w.mutable_grad() = ones({3, 3});
         const auto optimizer = std::make_shared<optim::SGD>(std::vector<Tensor>{w}, 0.1);
         return Throwing{[=](const Tensor& index) {
                           optimizer->zero_grad(/*set_to_none=*/false);
                           looked_up(index);
                           (w * 2).sum().backward();
                         },
                         {w}};
       }},
      {"a gradient that is cleared before the failing call and added to by a product",
       [] {
         const Tensor w = ones({3, 3}).requires_grad_(), x = ones({3, 3});
         w.mutable_grad() = ones({3, 3});
         const auto optimizer = std::make_shared<optim::SGD>(std::vector<Tensor>{w}, 0.1);
         return Throwing{[=](const Tensor& index) {
                           optimizer->zero_grad(/*set_to_none=*/false);
                           looked_up(index);
                           x.mm(w).sum().backward();
                         },
                         {w}};
       }},
      {"an integer division",
       [] {
         const Tensor sum = ones({4000}), numbers = arange(4000, kLong), sevens = full({4000}, 7, kLong);
         return Throwing{[=](const Tensor& index) {
                           sum.mul_(3);  // the divisor has a zero only at its end
                           const Tensor divisor = (numbers - 3999).abs() + (5 - index);
                           sum.add_(floor_divide(sevens, divisor));
                         },
                         {sum}};
       }},
      {"a backward pass before the failing call and one after it",
       [] {
         const Tensor w = ones({3}).requires_grad_();
         return Throwing{[=](const Tensor& index) {
                           w.mutable_grad().reset();
                           (w * 2).sum().backward();
                           looked_up(index);
                           w.mutable_grad().reset();
                           (w * 3).sum().backward();
                         },
                         {w}};
       }},
      {"gradients with graphs", [] {
         const Tensor w = ones({3}).requires_grad_();
         return Throwing{[=](const Tensor& index) {
                           w.mutable_grad().reset();
                           (w * 2).sum().backward();
                           looked_up(index);
                           (w * 3).sum().backward({}, true, true);
                         },
                         {w}};
       }}};
  for (const auto& [name, make] : makers) {
    INFO(name);
    const Throwing eager = make(), compiled = make();
    auto f = compile(compiled.body);
    for (int i = 0; i < 5; ++i) {
      const Tensor index = full({1}, i % 4, kLong);
      eager.body(index);
      f(index);
    }
    CHECK(f.report().replays > 0);
    const Tensor wrong = full({1}, 5, kLong);
    CHECK_THROWS_AS(eager.body(wrong), Error);
    CHECK_THROWS_AS(f(wrong), Error);
    for (std::size_t i = 0; i < eager.state.size(); ++i) {
      CHECK(same_bits(compiled.state[i], eager.state[i]));
      CHECK(same_bits(compiled.state[i].grad(), eager.state[i].grad()));
    }
  }
}

TEST_CASE("a function that keeps a handle outside its results and gradients is not replayed") {
  const Tensor w = ones({4}).requires_grad_();
  Tensor kept;
  const std::pair<const char*, std::function<void(const Tensor& x)>> ways[] = {
      {"a constant", [&](const Tensor&) { kept = tensor({1.0, 2.0}); }},
      {"a constant that calls read",
       [&](const Tensor& x) {
         kept = tensor({1.0f, 2.0f, 3.0f, 4.0f});
         x.add_(kept);
       }},
      {"a view of an argument", [&](const Tensor& x) { kept = x.view({2, 2}); }},
      {"a view of a captured tensor", [&](const Tensor&) { kept = w.detach(); }},
      {"memory that nobody writes", [&](const Tensor&) { kept = empty({3}); }},
      {"an argument", [&](const Tensor& x) { kept = x; }},
      {"a new gradient", [&](const Tensor& x) {
         w.mutable_grad().reset();
         (w * x).sum().backward();
         kept = w.grad();
       }}};
  for (const auto& [name, act] : ways) {
    INFO(name);
    auto f = compile([&, &act = act](const Tensor& x) {
      act(x);
      return x * 2;
    });
    for (int i = 0; i < 6; ++i) {
      kept = {};
      f(ones({4}));
      CHECK(kept.defined());
    }
    CHECK(f.report().replays == 0);
    CHECK_THAT(f.report().reason, support::Contains("kept elsewhere"));
  }
  auto f = compile([&](const Tensor& x) { return kept = x * 2; });
  for (int i = 0; i < 6; ++i) CHECK(f(ones({4})).is_same(kept));
  CHECK(f.report().replays == 0);
}

TEST_CASE("a function that returns views of its argument, or keeps nothing but gradients, is replayed") {
  const Tensor w = ones({4}).requires_grad_();
  auto f = compile([&](const Tensor& x) {
    (w * x).sum().backward();
    const Tensor flat = x.view({2, 2});
    return std::vector<Tensor>{flat[0], tensor({1.0}), x, w.detach().narrow(0, 1, 2)};
  });
  settle(f, ones({4}));
}

TEST_CASE(
    "a replay notices that detach_() would throw for the tensor that a captured handle has been given") {
  const Tensor base = ones({4});
  Tensor t = ones({3});
  auto f = compile([&](const Tensor& x) {
    t.detach_();
    return x * 2;
  });
  settle(f, ones({2}));
  t = base.view({2, 2});
  CHECK_THROWS_WITH(f(ones({2})), support::Contains("detach_: cannot detach views in place"));
}
