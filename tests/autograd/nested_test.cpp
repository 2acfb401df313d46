// Nested backward calls: they see all thread-local state, on whichever stack they run.
#include <ebb/autograd/saved_variable.h>

#include "autograd/semantics.h"
#include "support/scopes.h"

#include <functional>

using namespace semantics;
using ebb::autograd::AnomalyMode;

namespace {

std::vector<Variable>* levels = nullptr;

// The backward of level k runs backward of level k - 1.
struct Descend : Function<Descend> {
  static Variable forward(AutogradContext* ctx, Variable x, std::int64_t level) {
    ctx->saved_data["level"] = level;
    return x * 1;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    const std::int64_t level = ctx->saved_data["level"].toInt();
    if (level > 0) (*levels)[static_cast<std::size_t>(level - 1)].backward();
    return {g[0], Variable()};
  }
};

// A graph whose backward calls `inside` at a nesting of `depth` backward calls.
class Well {
 public:
  template <class F>
  Well(std::int64_t depth, F inside) {
    for (std::int64_t level = 0; level <= depth; ++level) levels_.push_back(Descend::apply(leaf({1}), level));
    levels_[0].register_hook([inside](const Variable&) { inside(); });
  }
  void descend() {
    levels = &levels_;
    levels_.back().backward();
  }

 private:
  std::vector<Variable> levels_;
};

constexpr std::int64_t kDepths[] = {0, 1, 22, 23, 24, 46, 47, 48, 100};

}  // namespace

TEST_CASE("saved-tensor hooks of the caller apply in nested backward calls of any depth") {
  for (const std::int64_t depth : kDepths) {
    INFO("depth " << depth);
    int outer = 0, inner = 0;
    const auto counting = [](int& count) {
      return ebb::autograd::SavedTensorHooks(
          [&count](const Variable& x) {
            ++count;
            return std::make_shared<Variable>(x.detach());
          },
          [](const std::shared_ptr<void>& kept) { return *static_cast<Variable*>(kept.get()); });
    };
    Well well(depth, [&] {
      const Variable x = leaf({3});
      ebb::EnableGradGuard record;
      (void)x.exp();
      REQUIRE(outer == 1);
      {
        auto hooks = counting(inner);
        (x * x).backward();
        require_values(x.grad(), {6});
      }
      (void)x.exp();
    });
    auto hooks = counting(outer);
    well.descend();
    REQUIRE(outer == 2);
    REQUIRE(inner == 2);
    (void)leaf({1}).exp();
    REQUIRE(outer == 3);
  }
}

TEST_CASE("modes of the caller apply in nested backward calls of any depth") {
  for (const std::int64_t depth : kDepths) {
    INFO("depth " << depth);
    for (const bool inference : {false, true}) {
      bool seen = !inference, anomaly = false, grad = true;
      Well well(depth, [&] {
        seen = ebb::InferenceMode::is_enabled();
        anomaly = AnomalyMode::is_enabled() && !AnomalyMode::should_check_nan();
        grad = ebb::GradMode::is_enabled();
        REQUIRE((leaf({1}).detach() * 2).is_inference() == inference);
      });
      const ebb::autograd::DetectAnomalyGuard detect(false);
      const ebb::InferenceMode mode(inference);
      well.descend();
      REQUIRE(seen == inference);
      REQUIRE(anomaly);
      REQUIRE_FALSE(grad);
      REQUIRE(ebb::InferenceMode::is_enabled() == inference);
      REQUIRE(ebb::GradMode::is_enabled() == !inference);
    }
  }
}

TEST_CASE("modes set inside nested backward calls of any depth stay set after the calls") {
  for (const std::int64_t depth : kDepths) {
    INFO("depth " << depth);
    std::uint64_t inside = 0;
    Well well(depth, [&] {
      AnomalyMode::set_enabled(true, false);
      ebb::EnableGradGuard record;
      for (int i = 0; i < 5; ++i) inside = (leaf({1}) * 2).grad_fn()->sequence_nr();
    });
    well.descend();
    const bool anomaly = AnomalyMode::is_enabled(), check_nan = AnomalyMode::should_check_nan();
    AnomalyMode::set_enabled(false);
    REQUIRE(anomaly);
    REQUIRE_FALSE(check_nan);
    // sequence numbers are in the order of recording
    REQUIRE((leaf({1}) * 2).grad_fn()->sequence_nr() > inside);
  }
}

TEST_CASE("an exception passes through nested backward calls of any depth and restores the thread state") {
  for (const std::int64_t depth : kDepths) {
    INFO("depth " << depth);
    Well well(depth, [] {
      ebb::EnableGradGuard record;
      throw std::runtime_error("from below");
    });
    const ebb::NoGradGuard no_grad;
    REQUIRE_THROWS_WITH(well.descend(), "from below");
    REQUIRE_FALSE(ebb::GradMode::is_enabled());
  }
  Variable x = leaf({1});
  (x * 2).backward();
  require_values(x.grad(), {2});
}

TEST_CASE("nested backward calls throw if the system cannot create a thread, and work again later") {
  int reached = 0;
  for (const std::int64_t depth : {22, 23, 22, 100}) {
    Well well(depth, [&] { ++reached; });
    const support::NoThreads refused;
    if (depth == 22)
      well.descend();
    else
      REQUIRE_THROWS_WITH(well.descend(),
                          support::Contains("backward, within many walks: the system refuses a thread"));
  }
  REQUIRE(reached == 2);
}

TEST_CASE("anomaly mode names the backward that recorded a node at any depth") {
  const ebb::autograd::DetectAnomalyGuard detect;
  for (const std::int64_t depth : kDepths) {
    INFO("depth " << depth);
    // The hook runs before the backward of its own level, so the level above records these nodes.
    std::string message;
    Well well(depth, [&] {
      ebb::EnableGradGuard record;
      const Variable y = (leaf({0}) * 0).sqrt() * 0;
      message = message_of([&] { y.backward(); });
    });
    well.descend();
    REQUIRE_THAT(message, support::Contains("'SqrtBackward0' returned nan values"));
    if (depth > 0)
      REQUIRE_THAT(message, support::Contains("Recorded in the backward of DescendBackward"));
    else
      REQUIRE_THAT(message, !support::Contains("Recorded in"));
  }
}

TEST_CASE("anomaly mode names the backward that recorded a failing second derivative") {
  const ebb::autograd::DetectAnomalyGuard detect;
  Variable x = leaf({0});
  // The derivative of x^1.5 is 0 at 0, and its own derivative is infinite; times 0 it is NaN.
  Variable first = ebb::autograd::grad({x.pow(1.5)}, {x}, {}, true, true)[0];
  const std::string message = message_of([&] { (first * 0).backward(); });
  REQUIRE_THAT(message, support::Contains("'PowBackward0' returned nan values"));
  REQUIRE_THAT(message, support::Contains("Recorded in the backward of PowBackward0"));
  // After backward, no node is being evaluated.
  const std::string plain = message_of([&] { ((leaf({0}) * 0).sqrt() * 0).backward(); });
  REQUIRE_THAT(plain, !support::Contains("Recorded in"));
}

TEST_CASE("anomaly mode names every backward that led to an error in a higher derivative") {
  struct Third : Function<Third> {
    static Variable forward(AutogradContext*, Variable x) { return x * 1; }
    static variable_list backward(AutogradContext*, variable_list) { throw ebb::Error("mine."); }
  };
  struct Second : Function<Second> {
    static Variable forward(AutogradContext*, Variable x) { return x * 1; }
    static variable_list backward(AutogradContext*, variable_list g) { return {Third::apply(g[0])}; }
  };
  struct First : Function<First> {
    static Variable forward(AutogradContext*, Variable x) { return x * 1; }
    static variable_list backward(AutogradContext*, variable_list g) { return {Second::apply(g[0])}; }
  };
  const auto third = [] {
    Variable x = leaf({1}), v = leaf({1}), w = leaf({1});
    const Variable g = ebb::autograd::grad({First::apply(x)}, {x}, {v}, true, true)[0];
    ebb::autograd::grad({g}, {v}, {w}, true, true)[0].backward();
  };
  const std::string called =
      "\n  in backward() called at tests/autograd/nested_test.cpp:" + std::to_string(__LINE__ - 3);
  REQUIRE(message_of(third) == "mine." + called);
  const ebb::autograd::DetectAnomalyGuard detect;
  REQUIRE(message_of(third) ==
          "mine. Recorded in the backward of SecondBackward Recorded in the backward of FirstBackward" +
              called);
}

TEST_CASE("anomaly mode names the recording node also after a nested backward call") {
  static std::string message;
  struct Recording : Function<Recording> {
    static Variable forward(AutogradContext*, Variable x) { return x * 1; }
    static variable_list backward(AutogradContext*, variable_list g) {
      ebb::EnableGradGuard record;
      (leaf({1}) * 2).backward();
      const Variable y = (leaf({0}) * 0).sqrt() * 0;
      message = message_of([&] { y.backward(); });
      return {g[0]};
    }
  };
  const ebb::autograd::DetectAnomalyGuard detect;
  Recording::apply(leaf({1})).backward();
  REQUIRE_THAT(message, support::Contains("Recorded in the backward of RecordingBackward"));
}

TEST_CASE("a saved-tensor hook may set other hooks") {
  int packed = 0;
  const auto keep = [](const Variable& x) { return std::make_shared<Variable>(x.detach()); };
  const auto give = [](const std::shared_ptr<void>& kept) { return *static_cast<Variable*>(kept.get()); };
  const ebb::autograd::SavedTensorHooks hooks(
      [&](const Variable& x) {
        ++packed;
        REQUIRE_FALSE(ebb::GradMode::is_enabled());
        {
          const ebb::autograd::SavedTensorHooks own(keep, give);
        }
        ebb::EnableGradGuard record;
        (void)leaf({2}).exp();  // not packed
        return keep(x);
      },
      give);
  Variable x = leaf({3});
  (x * x).backward();
  REQUIRE(packed == 2);
  require_values(x.grad(), {6});
}
