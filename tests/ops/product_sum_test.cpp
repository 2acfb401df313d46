// What compiled functions rely on in matrix products: sums in one rounding, rows by themselves, no -0.
#include <ebb/ebb.h>

#include "support/catch.h"

using namespace ebb;

namespace {

struct Shape {
  std::int64_t m, k, n;
};

// Every path of the kernel: loops, vectors, few columns, one part of the sum and several, and whole panels
// and not.
Shape any_shape() {
  return GENERATE(values<Shape>({{3, 4, 5},
                                 {1, 300, 70},
                                 {70, 300, 1},
                                 {100, 40, 5},
                                 {5, 40, 100},
                                 {17, 1, 33},
                                 {300, 1, 200},
                                 {40, 100, 64},
                                 {33, 700, 65},
                                 {600, 129, 130}}));
}

Tensor matrix(std::int64_t rows, std::int64_t columns, DType dtype, bool transposed) {
  return transposed ? randn({columns, rows}, dtype).t() : randn({rows, columns}, dtype);
}

}  // namespace

TEST_CASE("what is added to a product is added to the whole of it in one rounding") {
  const auto [m, k, n] = any_shape();
  const DType dtype = GENERATE(kFloat, kDouble);
  const bool left = GENERATE(false, true), right = GENERATE(false, true);
  INFO(m << " x " << k << " x " << n << (left ? ", left transposed" : "")
         << (right ? ", right transposed" : ""));
  const Tensor a = matrix(m, k, dtype, left), b = matrix(k, n, dtype, right), c = randn({m, n}, dtype);
  REQUIRE(equal(addmm(c, a, b), c + mm(a, b)));
  REQUIRE(equal(addmm(c, a, b, 1, 0.3), c + addmm(c, a, b, 0, 0.3)));
  REQUIRE(equal(addmm(c, a, b, 0.5), 0.5 * c + mm(a, b)));
  REQUIRE(equal(c.clone().addmm_(a, b), c + mm(a, b)));
}

TEST_CASE("a row of a product does not depend on how many others there are") {
  const DType dtype = GENERATE(kFloat, kDouble);
  const bool left = GENERATE(false, true);
  const std::int64_t k = GENERATE(1, 40, 300), n = GENERATE(8, 33, 200);
  const Tensor a = matrix(301, k, dtype, left), b = randn({k, n}, dtype), whole = mm(a, b);
  const auto rows = GENERATE(as<std::int64_t>{}, 64, 128, 149);
  for (std::int64_t first = 0; first + rows <= 301; first += rows)
    REQUIRE(equal(mm(a.narrow(0, first, rows), b), whole.narrow(0, first, rows)));
}

TEST_CASE("a product that is too small to be told from zero is zero without a sign") {
  const auto [m, k, n] = any_shape();
  const Tensor a = full({m, k}, -1e-30, kFloat), b = full({k, n}, 1e-30, kFloat);
  const Tensor product = mm(a, b);
  REQUIRE(equal(product, zeros({m, n})));
  REQUIRE_FALSE(product.signbit().any().item<bool>());
}
