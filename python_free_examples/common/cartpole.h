// CartPole-v1: a pole on a cart must be balanced by pushes of the cart to the left or right.
#pragma once

#include <array>
#include <cstdint>
#include <random>

namespace example {

/// The task of Barto, Sutton and Anderson (1983, "Neuronlike adaptive elements that can solve difficult
/// learning control problems"), with the constants of Gymnasium's CartPole-v1. Every step has the reward 1.
/// An episode ends if the pole leans by more than 12 degrees, if the cart is more than 2.4 units from the
/// middle, or after 500 steps.
class CartPole {
 public:
  /// The position and speed of the cart, and the angle (in radians; 0 is upright) and angular speed of the
  /// pole.
  using State = std::array<float, 4>;
  static constexpr int kActions = 2;  ///< 0 pushes to the left, 1 to the right
  static constexpr int kLimit = 500;

  struct Outcome {
    State state;
    bool fell;       ///< the episode ended because the pole or the cart left its bounds
    bool truncated;  ///< the episode ended after kLimit steps and could have continued
    bool done() const { return fell || truncated; }
  };

  explicit CartPole(std::uint64_t seed) : random_(seed) {}
  /// Starts an episode near the upright position.
  State reset();
  /// Starts an episode in the given state.
  void reset(const State& state);
  /// Pushes the cart for a fiftieth of a second.
  Outcome step(std::int64_t action);

 private:
  State seen() const;

  std::mt19937_64 random_;
  double x_ = 0, speed_ = 0, angle_ = 0, spin_ = 0;
  int steps_ = 0;
};

}  // namespace example
