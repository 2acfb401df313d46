// Running moments, which devices merge: the variance must not depend on how elements are distributed.
#include "kernel/reducers.h"
#include "support/catch.h"

#include <cmath>
#include <vector>

using Moments = ebb::reducing::Moments<double>;

namespace {

Moments taken(const std::vector<double>& x, std::size_t first, std::size_t last) {
  Moments m = Moments::none();
  for (std::size_t i = first; i < last; ++i) m.take(x[i]);
  return m;
}

}  // namespace

TEST_CASE("merged moments equal those of all elements for every split and offset") {
  for (const double offset : {0.0, 1e6, -1e8}) {
    std::vector<double> x;
    for (int i = 0; i < 40; ++i) x.push_back(offset + std::sin(1.7 * i) + 0.1 * i);
    double mean = 0, squares = 0;
    for (const double v : x) mean += (v - offset) / 40;
    for (const double v : x) squares += (v - offset - mean) * (v - offset - mean);
    for (std::size_t a = 0; a <= x.size(); a += 5)
      for (std::size_t b = a; b <= x.size(); b += 5) {
        INFO("cut at " << a << " and " << b << ", offset " << offset);
        const Moments left = taken(x, 0, a), middle = taken(x, a, b), right = taken(x, b, x.size());
        for (const Moments& m : {Moments::merge(Moments::merge(left, middle), right),
                                 Moments::merge(left, Moments::merge(middle, right))}) {
          CHECK(m.count == 40);
          CHECK(m.mean() - offset == Approx(mean).margin(1e-7));
          CHECK(m.deviations() == Approx(squares).epsilon(1e-6));
        }
      }
  }
}
