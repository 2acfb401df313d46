// Index arithmetic of poolings: 32 and 64 bits agree, and which poolings may use 32 bits.
#include "ops/pool/cuda_positions.h"
#include "support/catch.h"

#include <cstdint>

using namespace ebb;
using cuda::Place;
using cuda::Planes;
using cuda::Pooling;

namespace {

PoolGeometry geometry(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                      std::int64_t padding, std::int64_t dilation) {
  PoolGeometry g;
  g.planes = 6;
  g.interleaved = 3;
  g.axis[1] = {in + 1, out, kernel, stride, padding, dilation, false};
  g.axis[2] = {in, out, kernel, stride, padding, dilation, false};
  return g;
}

void check_same(const PoolGeometry& g) {
  REQUIRE(fits_32_bits(g));
  const Pooling<std::int32_t> narrow(g);
  const Pooling<std::int64_t> wide(g);
  for (std::int32_t i = 0; i < g.planes * g.in_plane(); ++i) {
    const Place<std::int32_t> a(i, narrow.in);
    const Place<std::int64_t> b(i, wide.in);
    REQUIRE((a.group == b.group && a.lane == b.lane && a.z == b.z && a.y == b.y && a.x == b.x));
    REQUIRE(((a.group * g.axis[1].in + a.y) * g.axis[2].in + a.x) * g.interleaved + a.lane == i);
    for (int d = 1; d < 3; ++d) {
      const std::int32_t at = d == 1 ? a.y : a.x;
      const auto few = narrow.windows(d, at);
      const auto many = wide.windows(d, at);
      REQUIRE((few.first == many.first && few.last == many.last));
      // The range contains every window with the element.
      for (std::int64_t o = 0; o < g.axis[d].out; ++o)
        if (g.axis[d].first(o) <= at && at < g.axis[d].last(o) && (o < many.first || o >= many.last))
          REQUIRE((at - g.axis[d].first(o)) % g.axis[d].dilation != 0);
    }
  }
  for (std::int32_t o = 0; o < g.axis[2].out; ++o) {
    REQUIRE(narrow.axis[2].first(o) == wide.axis[2].first(o));
    REQUIRE(narrow.axis[2].last(o) == wide.axis[2].last(o));
    REQUIRE(narrow.weight(0, o, o) == g.weight(0, o, o));
  }
}

}  // namespace

TEST_CASE("indices and windows of a pooling are equal in 32 and 64 bits") {
  check_same(geometry(13, 6, 3, 2, 1, 1));
  check_same(geometry(12, 12, 3, 1, 1, 1));
  check_same(geometry(14, 4, 3, 3, 1, 2));
  check_same(geometry(9, 2, 2, 5, 0, 3));
  PoolGeometry adaptive = geometry(13, 5, 1, 1, 0, 1);
  adaptive.axis[1].adaptive = adaptive.axis[2].adaptive = true;
  check_same(adaptive);
}

TEST_CASE("poolings with indices beyond 31 bits use 64-bit indices") {
  PoolGeometry g = geometry(40000, 20000, 2, 2, 0, 1);
  g.planes = 1;
  CHECK(fits_32_bits(g));
  g.planes = 2;
  CHECK_FALSE(fits_32_bits(g));
  CHECK_FALSE(fits_32_bits(geometry(13, 1, 3, INT64_C(1) << 31, 1, 1)));
  CHECK_FALSE(fits_32_bits(geometry(13, 1, 3, INT64_MAX, 1, 1)));
  CHECK_FALSE(fits_32_bits(geometry(13, 1, 3, 1, 1, INT64_C(1) << 30)));
  PoolGeometry adaptive = geometry(100000, 1, 1, 1, 0, 1);
  adaptive.planes = 1;
  adaptive.axis[1] = PoolAxis();
  adaptive.axis[2].adaptive = true;
  CHECK(fits_32_bits(adaptive));
  adaptive.axis[2].out = 30000;
  CHECK_FALSE(fits_32_bits(adaptive));
  PoolGeometry divided = geometry(13, 6, 3, 2, 1, 1);
  divided.divisor = INT64_C(1) << 40;
  CHECK_FALSE(fits_32_bits(divided));
  divided.planes = 0;
  divided.divisor = 3;
  CHECK(fits_32_bits(divided));
}
