// The dynamics of CartPole-v1.
#include "common/cartpole.h"

#include <cmath>

namespace example {

namespace {

constexpr double kGravity = 9.8, kCart = 1.0, kPole = 0.1, kTotal = kCart + kPole;
constexpr double kHalfLength = 0.5;  // half the length of the pole
constexpr double kForce = 10, kSeconds = 0.02;
constexpr double kFarthest = 2.4, kSteepest = 12 * 2 * 3.14159265358979323846 / 360;

}  // namespace

CartPole::State CartPole::seen() const {
  return {static_cast<float>(x_), static_cast<float>(speed_), static_cast<float>(angle_),
          static_cast<float>(spin_)};
}

CartPole::State CartPole::reset() {
  std::uniform_real_distribution<double> near_zero(-0.05, 0.05);
  for (double* value : {&x_, &speed_, &angle_, &spin_}) *value = near_zero(random_);
  steps_ = 0;
  return seen();
}

void CartPole::reset(const State& state) {
  x_ = state[0], speed_ = state[1], angle_ = state[2], spin_ = state[3];
  steps_ = 0;
}

CartPole::Outcome CartPole::step(std::int64_t action) {
  const double force = action == 1 ? kForce : -kForce, sine = std::sin(angle_), cosine = std::cos(angle_);
  const double push = (force + kPole * kHalfLength * spin_ * spin_ * sine) / kTotal;
  const double spin_up =
      (kGravity * sine - cosine * push) / (kHalfLength * (4.0 / 3.0 - kPole * cosine * cosine / kTotal));
  const double speed_up = push - kPole * kHalfLength * spin_up * cosine / kTotal;
  // Euler's method, as in Gymnasium: the positions are updated with the speeds before the push.
  x_ += kSeconds * speed_;
  speed_ += kSeconds * speed_up;
  angle_ += kSeconds * spin_;
  spin_ += kSeconds * spin_up;
  const bool fell = std::abs(x_) > kFarthest || std::abs(angle_) > kSteepest;
  return {seen(), fell, !fell && ++steps_ >= kLimit};
}

}  // namespace example
