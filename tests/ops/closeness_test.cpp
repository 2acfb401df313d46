// equal, isclose and allclose: NaN, shapes, and the dtype in which they measure.
#include "check.h"

using namespace op_tests;

TEST_CASE("nothing equals NaN unless it is told to, nor a tensor of another shape") {
  const Variable a = ebb::tensor({1.0, 2.0, 3.0, double{NAN}}, ebb::kDouble);
  CHECK_FALSE(ebb::equal(a, a));
  CHECK(ebb::allclose(a, a, 1e-5, 1e-8, true));
  CHECK_FALSE(ebb::allclose(a, a));
  CHECK(ebb::equal(ebb::tensor({1, 2}), ebb::tensor({1, 2})));
  CHECK_FALSE(ebb::equal(ebb::ones({2}), ebb::ones({2, 1})));
  CHECK(ebb::allclose(ebb::ones({2}), ebb::ones({2}) + 1e-6));
  CHECK_FALSE(ebb::allclose(ebb::ones({2}), ebb::ones({2}) + 1e-3));
}

TEST_CASE("closeness is measured in the tensors' own dtype") {
  for (const ebb::DType dtype : {ebb::kDouble, ebb::kFloat, ebb::kHalf, ebb::kBFloat16})
    for (const double tolerance : {0.1, 0.3, 1.7, 1e-3}) {
      INFO(ebb::to_string(dtype) << " " << tolerance);
      const Variable x = ebb::full({1}, tolerance, dtype), zero = ebb::zeros({1}, dtype);
      CHECK(ebb::allclose(x, zero, 0, tolerance));
      CHECK_FALSE(ebb::allclose(x, zero, 0, tolerance * 0.98));
      CHECK(ebb::allclose(x + 1, ebb::ones({1}, dtype), 0, (x + 1 - 1).item<double>()));
      CHECK(ebb::allclose(zero, x, 1, 0));
      CHECK(ebb::allclose(zero, x * 4, 0.5, (x * 2).item<double>()));
    }
  // Steps of the sum round too: of eight bits, 256 + 1.5 is 258 and 256 + 0.75 is 256.
  const Variable big = ebb::full({1}, 256, ebb::kBFloat16), below = ebb::full({1}, -2, ebb::kBFloat16);
  CHECK(ebb::allclose(below, big, 1, 1.5));
  CHECK_FALSE(ebb::allclose(below, big, 1, 0.75));
  CHECK(ebb::allclose(ebb::tensor({7, 8}), ebb::tensor({7, 9}), 0, 1));
  CHECK_FALSE(ebb::allclose(ebb::tensor({1000000001}), ebb::tensor({1000000000}), 0, 0.5));
}
