// What a custom function keeps beside its tensors: every kind of value comes back, and only as what it is.
#include <ebb/autograd/function.h>

#include "support/catch.h"

using ebb::Scalar;
using ebb::autograd::SavedValue;

TEST_CASE("a saved value comes back as what was stored") {
  CHECK(SavedValue(3).toInt() == 3);
  CHECK(SavedValue(2.5f).toDouble() == 2.5);
  CHECK(SavedValue(true).toBool());
  CHECK(SavedValue("mean").toStringRef() == "mean");
  CHECK(SavedValue(std::vector<std::int64_t>{1, 2}).toIntVector() == std::vector<std::int64_t>{1, 2});
  CHECK(SavedValue(std::vector<double>{0.5}).toDoubleVector() == std::vector<double>{0.5});
  CHECK_FALSE(SavedValue(ebb::Variable()).toTensor().defined());
  CHECK(SavedValue(Scalar(7)).toScalar().to_long() == 7);
  CHECK(SavedValue(false).toScalar().is_boolean());
  CHECK(SavedValue().isNone());
  CHECK_FALSE(SavedValue(0).isNone());
}

TEST_CASE("a saved value is nothing else than what was stored") {
  const std::string message = "was called on a value of another type, or one never stored";
  using support::Contains;
  CHECK_THROWS_WITH(SavedValue(2.5).toInt(), Contains("toInt() " + message));
  CHECK_THROWS_WITH(SavedValue(true).toInt(), Contains(message));
  CHECK_THROWS_WITH(SavedValue(2).toDouble(), Contains(message));
  CHECK_THROWS_WITH(SavedValue(1).toBool(), Contains(message));
  CHECK_THROWS_WITH(SavedValue("1").toScalar(), Contains(message));
  CHECK_THROWS_WITH(SavedValue(1).toStringRef(), Contains(message));
  CHECK_THROWS_WITH(SavedValue(1).toTensor(), Contains(message));
  CHECK_THROWS_WITH(SavedValue(std::vector<double>{1}).toIntVector(), Contains(message));
  CHECK_THROWS_WITH(SavedValue(std::vector<std::int64_t>{1}).toDoubleVector(), Contains(message));
  CHECK_THROWS_WITH(SavedValue().toInt(), Contains(message));
}
