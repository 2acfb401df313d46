// AT_DISPATCH_...: from a dtype to a C++ type.
#include <ATen/ATen.h>

#include "support/catch.h"

namespace {

int64_t bytes_of_floating(const at::Tensor& x) {
  return AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "bytes_of_floating",
                                    [&] { return static_cast<int64_t>(sizeof(scalar_t)); });
}

double first(const at::Tensor& x) {
  return AT_DISPATCH_ALL_TYPES_AND3(
      at::kHalf, at::kBFloat16, at::kBool, x.scalar_type(), "first",
      [&]() -> double { return static_cast<double>(x.data_ptr<scalar_t>()[0]); });
}

}  // namespace

TEST_CASE("a dispatch runs its lambda with the tensor's type") {
  CHECK(bytes_of_floating(at::ones(1, at::kFloat)) == 4);
  CHECK(bytes_of_floating(at::ones(1, at::kDouble)) == 8);
  for (const at::ScalarType type : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf,
                                    at::kFloat, at::kDouble, at::kBool, at::kBFloat16})
    CHECK(first(at::ones(2, type)) == 1);
}

TEST_CASE("a dispatch over other types says which op has none") {
  try {
    bytes_of_floating(at::ones(1, at::kLong));
    FAIL("a Long is no floating type");
  } catch (const c10::Error& error) {
    CHECK(std::string(error.what()) == "\"bytes_of_floating\" not implemented for 'Long'");
  }
}

TEST_CASE("every set has the types of its name") {
  const auto count = [](auto&& dispatch) {
    int types = 0;
    for (const at::ScalarType type : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf,
                                      at::kFloat, at::kDouble, at::kBool, at::kBFloat16}) {
      try {
        dispatch(type);
        ++types;
      } catch (const c10::Error&) {
      }
    }
    return types;
  };
  const auto nothing = [] {};
  CHECK(count([&](auto t) { AT_DISPATCH_FLOATING_TYPES(t, "t", nothing); }) == 2);
  CHECK(count([&](auto t) { AT_DISPATCH_FLOATING_TYPES_AND_HALF(t, "t", nothing); }) == 3);
  CHECK(count([&](auto t) { AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, t, "t", nothing); }) == 3);
  CHECK(count([&](auto t) { AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, t, "t", nothing); }) ==
        4);
  CHECK(count([&](auto t) { AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(t, "t", nothing); }) == 2);
  CHECK(count([&](auto t) { AT_DISPATCH_INTEGRAL_TYPES(t, "t", nothing); }) == 5);
  CHECK(count([&](auto t) { AT_DISPATCH_INTEGRAL_TYPES_AND(at::kBool, t, "t", nothing); }) == 6);
  CHECK(count([&](auto t) { AT_DISPATCH_INDEX_TYPES(t, "t", [] { static_cast<void>(index_t{}); }); }) == 2);
  CHECK(count([&](auto t) { AT_DISPATCH_ALL_TYPES(t, "t", nothing); }) == 7);
  CHECK(count([&](auto t) { AT_DISPATCH_ALL_TYPES_AND(at::kBool, t, "t", nothing); }) == 8);
  CHECK(count([&](auto t) { AT_DISPATCH_ALL_TYPES_AND2(at::kBool, at::kHalf, t, "t", nothing); }) == 9);
  CHECK(count([&](auto t) { AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(at::kHalf, t, "t", nothing); }) == 8);
  CHECK(count([&](auto t) {
          AT_DISPATCH_SWITCH(t, "t",
                             AT_DISPATCH_CASE(at::kByte, nothing) AT_DISPATCH_CASE(at::kLong, nothing));
        }) == 2);
}

TEST_CASE("types that sums and ops are computed in") {
  static_assert(std::is_same_v<at::acc_type<float, false>, double>);
  static_assert(std::is_same_v<at::acc_type<float, true>, float>);
  static_assert(std::is_same_v<at::acc_type<at::Half, true>, float>);
  static_assert(std::is_same_v<at::acc_type<int8_t, true>, int64_t>);
  static_assert(std::is_same_v<at::opmath_type<at::BFloat16>, float>);
  static_assert(std::is_same_v<at::opmath_type<double>, double>);
  static_assert(c10::CppTypeToScalarType<int64_t>::value == at::kLong);
  static_assert(std::is_same_v<c10::impl::ScalarTypeToCPPTypeT<at::kShort>, int16_t>);
  SUCCEED();
}
