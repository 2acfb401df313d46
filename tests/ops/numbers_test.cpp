// Numbers: integers that wrap or do not fit, divisors, numbers as dimensions, tensors of one element.
#include "check.h"

#include <limits>

using namespace op_tests;
using namespace ebb;

TEST_CASE("gcd and lcm take every sign and the lowest number") {
  const Variable a = longs({12, -18, 0, 0, 7, std::numeric_limits<std::int64_t>::min()}),
                 b = longs({8, 27, 5, 0, -7, -1});
  CHECK(gcd(a, b).equal(longs({4, 9, 5, 0, 7, 1})));
  CHECK(lcm(a.slice(0, 0, 5), b.slice(0, 0, 5)).equal(longs({24, 54, 0, 0, 7})));
  CHECK(gcd(a.slice(0, 0, 1).to(kInt), longs({8, 9})).equal(longs({4, 3})));
  CHECK_THROWS_WITH(gcd(ones({2}, kBool), ones({2}, kBool)),
                    support::Contains("gcd: dtype Bool is not supported; expected an integer"));
  CHECK_THROWS_WITH(lcm(ones({2}), ones({2})),
                    support::Contains("lcm: dtype Float is not supported; expected an integer"));
}

TEST_CASE("a number given to var and std is a dimension") {
  const Variable x = ramp({3, 4});
  CHECK(x.var(1).equal(x.var(IntArrayRef{1})));
  CHECK(var(x, 0).sizes() == IntArrayRef{4});
  CHECK(x.std(1).sizes() == IntArrayRef{3});
  CHECK(std::get<1>(var_mean(x, 0)).equal(x.mean(0)));
  CHECK(x.var(false).dim() == 0);
}

TEST_CASE("a number that an integer cannot hold is refused") {
  CHECK_THROWS_WITH(tensor(1e300, kDouble).item<int>(),
                    support::Contains("value 1e+300 cannot be converted to Int without overflow"));
  CHECK_THROWS_WITH(tensor(NAN).item<std::int64_t>(),
                    support::Contains("value nan cannot be converted to Long without overflow"));
  CHECK_THROWS_WITH(Scalar(9223372036854775808.0).to_long(),
                    support::Contains("value 9223372036854775808 cannot be converted to Long"));
  CHECK_THROWS_WITH(Scalar(std::int64_t{1} << 40).toInt(),
                    support::Contains("value 1099511627776 cannot be converted to Int without"));
  CHECK_THROWS_WITH(Scalar(300).to<std::int8_t>(),
                    support::Contains("value 300 cannot be converted to Char without overflow"));
  CHECK(Scalar(-9223372036854775808.0).to_long() == std::numeric_limits<std::int64_t>::min());
  CHECK(Scalar(2.75).toInt() == 2);
  CHECK(Scalar(-1).to<std::uint8_t>() == 255);
  CHECK(Scalar(1e300).to<bool>());
}

TEST_CASE("a tensor of one element has a truth value, an undefined one no elements") {
  CHECK(tensor(3).is_nonzero());
  CHECK_FALSE(is_nonzero(zeros({1, 1})));
  CHECK_THROWS_WITH(ones({2}).is_nonzero(),
                    support::Contains("Boolean value of a Tensor with 2 values is ambiguous; use"));
  CHECK_THROWS_WITH(zeros({0}).is_nonzero(),
                    support::Contains("Boolean value of a Tensor with 0 values is ambiguous; use"));
  CHECK(Variable().numel() == 0);
  CHECK(ebb::size(ones({2, 3}), -1) == 3);
}

TEST_CASE("small integers wrap, booleans add as or") {
  CHECK(values(ebb::full({1}, 200, ebb::kByte) + ebb::full({1}, 100, ebb::kByte)) == Values{44});
  CHECK(values(ebb::full({1}, 100, ebb::kChar) * 2) == Values{-56});
  CHECK(values(ebb::tensor({true, false}) + ebb::tensor({true, true})) == Values{1, 1});
}
