// The dtype that two operands make together, and those their gradients come back in.
#include "check.h"

using namespace op_tests;
using namespace ebb;

TEST_CASE("dtypes promote by torch's table") {
  const auto vec = [](DType d) { return ones({2}, d); };
  const auto zero = [](DType d) { return ones({}, d); };
  struct Row {
    DType a, b, both, a_zero_dim, b_zero_dim;  // two vectors; then a or b being 0-d
  };
  for (const Row& r :
       {Row{kFloat, kDouble, kDouble, kDouble, kFloat}, Row{kInt, kLong, kLong, kLong, kInt},
        Row{kInt, kFloat, kFloat, kFloat, kFloat}, Row{kByte, kChar, kShort, kChar, kByte},
        Row{kBool, kLong, kLong, kLong, kLong}, Row{kHalf, kBFloat16, kFloat, kBFloat16, kHalf},
        Row{kBool, kBool, kBool, kBool, kBool}, Row{kLong, kHalf, kHalf, kHalf, kHalf}}) {
    INFO(to_string(r.a) << " and " << to_string(r.b));
    CHECK(result_type(vec(r.a), vec(r.b)) == r.both);
    CHECK((vec(r.a) * vec(r.b)).dtype() == r.both);
    CHECK((zero(r.a) * vec(r.b)).dtype() == r.a_zero_dim);
    CHECK((vec(r.a) * zero(r.b)).dtype() == r.b_zero_dim);
    CHECK((zero(r.a) * zero(r.b)).dtype() == r.both);
  }
  CHECK((vec(kInt) + 1).dtype() == kInt);
  CHECK((vec(kInt) + 1.5).dtype() == kFloat);
  CHECK((vec(kBool) + 1).dtype() == kLong);
  CHECK((vec(kHalf) * 2.5).dtype() == kHalf);
  CHECK((vec(kInt) / 2).dtype() == kFloat);
  CHECK((vec(kInt) / vec(kInt)).dtype() == kFloat);
  CHECK((2.5 * zero(kLong)).dtype() == kFloat);
  CHECK(where(vec(kBool), vec(kInt), 2.5).dtype() == kFloat);
  CHECK(result_type(vec(kInt), 2.5) == kFloat);
  CHECK(can_cast(kInt, kFloat));
  CHECK_FALSE(can_cast(kFloat, kInt));
  CHECK_FALSE(can_cast(kInt, kBool));
  // Gradients come back in each operand's own dtype.
  const Variable f = ones({2}, kFloat).requires_grad_(), d = ones({2}, kDouble).requires_grad_();
  (f * d).sum().backward();
  CHECK(f.grad().dtype() == kFloat);
  CHECK(d.grad().dtype() == kDouble);
}

TEST_CASE("float_power computes in double") {
  CHECK(float_power(longs({2, 3}), -1).equal(tensor({0.5, 1.0 / 3}, kDouble)));
  CHECK(float_power(2, tensor({0.5}, kFloat)).dtype() == kDouble);
  CHECK(longs({2}).float_power(longs({3})).equal(tensor({8.0}, kDouble)));
  CHECK_THROWS_WITH(ones({2}).float_power_(2),
                    support::Contains("float_power_: the result is Double and cannot be stored"));
}

TEST_CASE("outer takes two dtypes") {
  const Variable x = longs({1, 2}), y = tensor({0.5, 1.5}, kDouble).requires_grad_();
  const Variable z = outer(x, y);
  CHECK(z.equal(tensor({{0.5, 1.5}, {1.0, 3.0}}, kDouble)));
  z.sum().backward();
  CHECK(y.grad().equal(tensor({3.0, 3.0}, kDouble)));
}
