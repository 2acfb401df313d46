// The check rejects wrong distributions that are close to right ones, and accepts right ones.
#include "random_distributions/law.h"

using namespace distributions;

TEST_CASE("the distribution check rejects planted errors") {
  manual_seed(3);
  const Tensor u = rand({kDraws}, kDouble), z = randn({4 * kDraws}, kDouble);
  const auto rejected = [](const char* why, const Tensor& draws, const Law& law) {
    INFO(why);
    CHECK_FALSE(complaint_about(draws, law).empty());
  };
  CHECK(complaint_about(u, uniform(0, 1)) == "");
  CHECK(complaint_about(z, normal(0, 1)) == "");
  rejected("shifted by a hundredth", u * 0.99 + 0.01, uniform(0, 1));
  rejected("the end comes once", cat({u, ones({1}, kDouble)}), uniform(0, 1));
  rejected("a number beyond the end", cat({u, full({1}, 1.5, kDouble)}), uniform(0, 1));
  rejected("what is not a number", cat({u, full({1}, NAN, kDouble)}), uniform(0, 1));
  rejected("cut at 3.9 deviations", z.masked_select(z.abs() < 3.9), normal(0, 1));
  rejected("a heavier tail", z.where(z.abs() < 3, z * 1.25), normal(0, 1));
  rejected("a deviation of 1.02", z * 1.02, normal(0, 1));
  rejected("one atom in 256", cat({z, full({kDraws / 64}, -2, kDouble)}), normal(0, 1));
  rejected("biased modulo", randint(1 << 20, {kDraws}).remainder(3 << 18), integers(0, 3 << 18));
  rejected("last bits that are even", randint(128, {kDraws}) * 2, integers(0, 256));
  rejected("one of 100 never", randint(99, {kDraws}), integers(0, 100));
  rejected("a category of weight 0", cat({zeros({kDraws}, kLong), ones({1}, kLong)}),
           categories({1, 0, 1e-9}));
  rejected("16 bits rounded down", (u * 256).floor().div(256).to(kBFloat16), uniform(0, 1));
  rejected("each number twice", u.repeat_interleave(2), uniform(0, 1));
  rejected("each alike the eighth after it", cat({u.view({-1, 8}), u.view({-1, 8})}, 1).flatten(),
           uniform(0, 1));
}
