// CartPole moves like CartPole-v1 of Gymnasium 1.4, which computed the expected values.
#include "common/cartpole.h"

#include "support/catch.h"

#include <cmath>

using example::CartPole;

namespace {

constexpr CartPole::State kStart = {0.01f, -0.02f, 0.03f, 0.04f};

void check_close(const CartPole::State& state, const CartPole::State& expected) {
  for (std::size_t i = 0; i < state.size(); ++i) CHECK(state[i] == Approx(expected[i]).epsilon(1e-6));
}

}  // namespace

TEST_CASE("CartPole moves cart and pole as the original environment does") {
  CartPole cart(1);
  cart.reset(kStart);
  CartPole::Outcome outcome = {};
  for (int i = 0; !outcome.done(); ++i) {
    outcome = cart.step(i % 3 == 0);
    if (i == 0) check_close(outcome.state, {0.0096f, 0.174679196f, 0.0308f, -0.243068718f});
    if (i == 1) check_close(outcome.state, {0.0130935839f, -0.0208688489f, 0.0259386256f, 0.0591679999f});
    CHECK(outcome.fell == (i == 14));
  }
  check_close(outcome.state, {-0.0948638374f, -1.00949046f, 0.218303263f, 1.846706f});
}

TEST_CASE("a CartPole episode ends if the pole leans too far or the cart leaves the track") {
  CartPole cart(1);
  cart.reset(kStart);
  CartPole::Outcome outcome = {};
  for (int i = 0; i < 10; ++i) {
    CHECK_FALSE(outcome.done());
    outcome = cart.step(1);
  }
  CHECK(outcome.fell);
  check_close(outcome.state, {0.181484125f, 1.93306439f, -0.223569181f, -2.98408275f});

  cart.reset({2.3f, 1, 0, 0});
  outcome = {{2.3f, 1, 0, 0}, false, false};
  for (int i = 0; i < 6; ++i) {
    CHECK_FALSE(outcome.done());
    outcome = cart.step(outcome.state[2] + outcome.state[3] > 0);
  }
  CHECK(outcome.fell);
  CHECK(outcome.state[0] == Approx(2.42389404));
}

TEST_CASE("a CartPole episode with a balanced pole ends after 500 steps") {
  CartPole cart(7);
  for (int episode = 0; episode < 2; ++episode) {
    CartPole::State s = cart.reset();
    for (const float value : s) CHECK(std::abs(value) <= 0.05f);
    for (int i = 1; i <= CartPole::kLimit; ++i) {
      const auto outcome = cart.step(0.1f * s[0] + 0.3f * s[1] + 2 * s[2] + s[3] > 0);
      s = outcome.state;
      CHECK_FALSE(outcome.fell);
      CHECK(outcome.truncated == (i == CartPole::kLimit));
    }
  }
}

TEST_CASE("CartPole environments with the same seed start in the same state") {
  CartPole a(3), b(3), c(4);
  const CartPole::State first = a.reset();
  CHECK(first == b.reset());
  CHECK(first != c.reset());
  CHECK(first != a.reset());
}
