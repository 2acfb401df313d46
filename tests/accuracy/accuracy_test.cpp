// Accuracy of the pointwise rows of the op table against exact functions, over the whole range of every
// dtype. Compiled twice, for the CPU and for a device.
#include "accuracy/exceptions.h"
#include "accuracy/functions.h"
#include "accuracy/measure.h"
#include "amp/device.h"
#include "cuda/unit/against_cpu.h"
#include "support/catch.h"

#include <sstream>

namespace {

using namespace accuracy;

// The f32 and f64 functions of CUDA have errors of up to 6 ulp themselves (tests/cuda/unit/libm_test.cpp).
double slack(ebb::DType dtype) {
  const bool wide = dtype == ebb::kF64 || dtype == ebb::kF32;
  return kHere == ebb::kCUDA && wide && is_real_device() ? 6 : 0;
}

void check(ebb::DType dtype) {
  std::int64_t measured = 0;
  for (const optable::Row* row : optable::rows()) {
    const auto exact = functions().find(row->name);
    if (!is_measured(*row) || !is_measured(*row, dtype) || exact == functions().end()) continue;
    const Errors errors = measure(*row, exact->second, dtype, points_of(*row, dtype, Extent::reduced), kHere);
    for (int i = 0; i < kParts; ++i) {
      const auto part = static_cast<Part>(i);
      const Worst& worst = errors[static_cast<std::size_t>(i)];
      measured += worst.points;
      if (!exception_of(row->name, part, dtype).empty()) continue;
      INFO(name_of(part) << " of " << row->name << " in " << ebb::to_string(dtype) << " at " << worst.a
                         << ", " << worst.b << " is " << worst.got << " and should be " << worst.expected
                         << ", off by " << worst.ulps << " units in the last place");
      CHECK(holds(worst, dtype, slack(dtype)));
    }
  }
  CHECK(measured > 10000);
}

}  // namespace

TEST_CASE("every floating pointwise row has an exact function or is exact by definition") {
  for (const optable::Row* row : optable::rows()) {
    if (!is_measured(*row)) continue;
    INFO(row->name << " needs a formula in tests/accuracy/functions.cpp");
    CHECK(functions().contains(row->name) != unrounded().contains(row->name));
  }
}

TEST_CASE("f64 functions and their derivatives are accurate to 4 ulp over the whole range") {
  check(ebb::kF64);
}
TEST_CASE("f32 functions and their derivatives are accurate to 4 ulp over the whole range") {
  check(ebb::kF32);
}
TEST_CASE("f16 functions and their derivatives are accurate to 1 ulp over the whole range") {
  check(ebb::kHalf);
}
TEST_CASE("bf16 functions and their derivatives are accurate to 1 ulp over the whole range") {
  check(ebb::kBFloat16);
}
