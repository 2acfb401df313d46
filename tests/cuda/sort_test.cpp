// Sorting on a device compares only the bits of a key that tell elements apart: the order must be the CPU's.
#include <ebb/ebb.h>

#include <catch2/catch.hpp>

#include <limits>

using namespace ebb;

TEST_CASE("every dtype is sorted as on the CPU, equal elements in their order") {
  manual_seed(21);
  const Tensor numbers = randn({3, 4000}, kDouble) * (randn({3, 4000}, kDouble) * 4).exp();
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor special = tensor({0.0F, -0.0F, inf, -inf, NAN, 6e-8F, -6e-8F, NAN, 1.0F}).to(kDouble);
  numbers.slice(1, 17, 26).copy_(special.expand({3, 9}));
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kByte, kBool, kInt, kLong}) {
    const Tensor x = is_floating(dtype) ? numbers.to(dtype)
                     : dtype == kBool   ? numbers > 0
                     : dtype == kByte   ? randint(256, {3, 4000}, dtype)
                                        : randint(-100000, 100000, {3, 4000}, dtype);
    for (const std::int64_t n : {1, 33, 400, 2000, 4000})
      for (const bool descending : {false, true}) {
        INFO(dtype << ", " << n << (descending ? ", descending" : ""));
        const Tensor line = x.slice(1, 0, n);
        const auto [values, places] = line.sort(/*stable=*/true, -1, descending);
        const auto [got, got_places] = line.to(Device::CUDA).sort(/*stable=*/true, -1, descending);
        CHECK(equal(got_places.cpu(), places));
        CHECK(allclose(got.cpu().to(kDouble), values.to(kDouble), 0, 0, /*equal_nan=*/true));
      }
    CHECK(equal(
        std::get<0>(unique_dim(x.slice(1, 100, 4000).contiguous().view({-1, 1}).to(Device::CUDA), 0)).cpu(),
        std::get<0>(unique_dim(x.slice(1, 100, 4000).contiguous().view({-1, 1}), 0))));
  }
}
