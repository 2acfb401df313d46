// isin: numbers of other dtypes, NaN, nothing.
#include "check.h"

using namespace op_tests;
using namespace ebb;

TEST_CASE("isin finds numbers of other dtypes and never a NaN") {
  const Variable x = tensor({1.0, std::nan(""), 2.5, -1.0}, kDouble);
  const auto is = [](std::vector<bool> v) {
    Variable t = zeros({static_cast<std::int64_t>(v.size())}, kBool);
    for (std::size_t i = 0; i < v.size(); ++i) t[static_cast<std::int64_t>(i)].fill_(Scalar(bool(v[i])));
    return t;
  };
  CHECK(isin(x, tensor({std::nan(""), 2.5, 1.0}, kDouble)).equal(is({true, false, true, false})));
  CHECK(isin(x, longs({1, 2})).equal(is({true, false, false, false})));
  CHECK(isin(x, longs({1, 2}), false, true).equal(is({false, true, true, true})));
  CHECK(isin(x, zeros({0})).equal(is({false, false, false, false})));
  CHECK(isin(x, 2.5).equal(is({false, false, true, false})));
  CHECK(isin(1, longs({3, 1})).item<bool>());
  CHECK(isin(zeros({0, 2}), longs({1})).sizes() == IntArrayRef({0, 2}));
}
