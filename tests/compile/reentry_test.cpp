// Calls of a compiled function's methods while it runs, limits on the number of kinds, and parallel calls.
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
