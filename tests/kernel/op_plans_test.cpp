// Plans of ops on a device: selection (topk, kthvalue), normalisation and pooling.
#include "ops/index/select_plan.h"
#include "ops/norm/norm_plan.h"
#include "ops/pool/cuda_positions.h"
#include "support/catch.h"

#include <cmath>
#include <cstdint>
#include <initializer_list>

using namespace ebb;
using namespace ebb::sort_keys;
using cuda::Place;
using cuda::Planes;
using cuda::Pooling;

// Plans of topk, kthvalue and similar ops on a device, and the radix digits of elements.

TEST_CASE(
    "plan_selection compares all pairs in short lines, sorts for large k and otherwise selects by radix "
    "digits") {
  CHECK(plan_selection(1000, 128, 128, 132).way == SelectMethod::compare);
  CHECK(plan_selection(1000, 129, 1, 132).way == SelectMethod::line);
  CHECK(plan_selection(1000, 1000, 250, 132).way == SelectMethod::line);
  CHECK(plan_selection(1000, 1000, 251, 132).way == SelectMethod::sort);
  CHECK(plan_selection(1, 8191, 1, 132).way == SelectMethod::line);
}

TEST_CASE("plan_selection splits few long lines into pieces that cover them") {
  for (const std::int64_t lines : {1, 3, 200, 5000})
    for (const std::int64_t n :
         {std::int64_t{8192}, std::int64_t{100001}, std::int64_t{1} << 24, (std::int64_t{1} << 33) + 5}) {
      const SelectPlan plan = plan_selection(lines, n, 1, 132);
      INFO(lines << " lines of " << n);
      CHECK((plan.pieces - 1) * plan.piece < n);
      CHECK(plan.pieces * plan.piece >= n);
      CHECK(plan.piece <= std::int64_t{1} << 30);
      CHECK((plan.way == SelectMethod::pieces) == (plan.pieces > 1));
      if (lines == 1) CHECK(plan.way == SelectMethod::pieces);
      if (lines == 5000 && n < std::int64_t{1} << 30) CHECK(plan.way == SelectMethod::line);
    }
}

namespace {

// Checks that elements with equal digits have equal keys, in both directions.
template <class T>
void check_digits(std::initializer_list<T> values) {
  constexpr int last = digit_shift<T>(digit_count<T>() - 1);
  for (const bool descending : {false, true}) {
    const Key<T> turn = key_flip<T>(descending);
    for (const T a : values)
      for (const T b : values) {
        const Key<T> x = key_of(a) ^ turn, y = key_of(b) ^ turn;
        CHECK((x >> last == y >> last) == (key_of(a) == key_of(b)));
        CHECK((x < y) == (descending ? key_of(b) < key_of(a) : key_of(a) < key_of(b)));
        // There are no bits above the first digit.
        CHECK(std::uint64_t{x} >> last >> (kDigitBits * digit_count<T>() - 1) >> 1 == 0);
      }
  }
}

}  // namespace

TEST_CASE("radix digits distinguish all different elements") {
  check_digits<float>({0.0F, -0.0F, 1.0F, 1.0000001F, -1e-45F, INFINITY, -INFINITY, NAN});
  check_digits<double>({0.0, 1.0, 1.0000000000000002, -5e-324, INFINITY, NAN});
  check_digits<Half>({Half(0.0F), Half(1.0F), Half(1.001F), Half(-6e-8F), Half(6e-8F), Half(NAN)});
  check_digits<BFloat16>(
      {BFloat16(0.0F), BFloat16(1.0F), BFloat16(1.008F), BFloat16(-1e-40F), BFloat16(NAN)});
  check_digits<std::uint8_t>({0, 1, 127, 128, 255});
  check_digits<std::int32_t>({0, -1, 1, INT32_MAX, INT32_MIN});
  check_digits<std::int64_t>({0, -1, 1, INT64_MAX, INT64_MIN});
  CHECK(digit_count<BFloat16>() == 2);
  CHECK(digit_count<Half>() == 3);
  CHECK(digit_count<std::uint8_t>() == 1);
}

// How the work of normalisations is distributed over a device: each element once, vectors if rows consist of
// whole vectors, and no idle threads without need.

namespace {

constexpr int kMultiprocessors = 132;

ChannelPlan sums(std::int64_t batch, std::int64_t channels, std::int64_t places, int vector = 8,
                 bool aligned = true) {
  const ChannelPlan plan = plan_channel_sums(batch, channels, places, vector, aligned, 4, kMultiprocessors);
  CHECK((plan.pieces == 1 || (plan.pieces - 1) * plan.piece < plan.count));  // none is empty
  CHECK(plan.pieces * plan.piece >= plan.count);
  CHECK(plan.jobs * plan.pieces <= INT32_MAX);
  if (plan.width > 1) CHECK((aligned && channels * places % plan.width == 0));
  if (plan.tiles) {
    const std::int64_t columns = std::int64_t{plan.across} * plan.width;
    CHECK(columns % places == 0);  // whole channels
    CHECK(plan.across * plan.down <= kChannelThreads);
    CHECK(plan.jobs * columns >= channels * places);
    CHECK((plan.jobs - 1) * columns < channels * places);
    CHECK(plan.count == batch);
  } else {
    CHECK(plan.jobs == channels);
    CHECK(plan.count * plan.width == batch * places);
  }
  return plan;
}

}  // namespace

TEST_CASE("channel sums use vectors along planes, or tiles of columns if the planes are small") {
  for (const std::int64_t side : {112, 56, 28, 16}) {
    const ChannelPlan plan = sums(64, 64, side * side);
    CHECK(!plan.tiles);
    CHECK(plan.width == 8);
  }
  for (const std::int64_t side : {14, 7, 5, 2, 1})  // a vector can span several planes
    for (const std::int64_t channels : {8, 64, 512, 2048}) {
      const ChannelPlan plan = sums(256, channels, side * side);
      CHECK(plan.tiles);
      CHECK(plan.width == 8);
      CHECK(plan.across * plan.down > kChannelThreads * 3 / 4);
    }
  CHECK(!sums(64, 64, 14 * 14, 4, false).tiles);  // not aligned: by element
  CHECK(sums(64, 64, 14 * 14, 4, false).width == 1);
  CHECK(sums(64, 3, 49).width == 1);  // three planes of 49 are not whole vectors
  CHECK(sums(64, 3, 27 * 27).width == 1);
  CHECK(sums(70000, 3, 1).across == 3);
  CHECK(sums(70000, 3, 1).down == 85);
}

TEST_CASE("channel sums are split into pieces only if there are many elements") {
  CHECK(sums(1, 64, 1 << 20).pieces > 8);  // a single sample is also split
  CHECK(sums(1 << 20, 64, 1).pieces > 500);
  CHECK(sums(4, 64, 49).pieces == 1);
  CHECK(sums(0, 64, 49).pieces == 1);
  CHECK(sums(std::int64_t{1} << 33, 64, 49).pieces > 100);  // more than 2^31 elements
  CHECK(sums(2, 2, std::int64_t{1} << 34).pieces > 400);
  for (const std::int64_t channels : {1, 2, 8, 9, 32, 255, 256}) {
    const int team = tile_team(channels);
    CHECK((team >= 1 && team <= 32));
    CHECK((team == 1 || channels * team <= kChannelThreads));
  }
}

TEST_CASE("plan_channel_columns covers all rows and splits columns into equal tiles") {
  const ChannelPlan plan = plan_channel_columns(1 << 20, 320, 8, 4, kMultiprocessors);
  CHECK(plan.across == 20);  // 40 vectors in two equal tiles
  CHECK(plan.jobs == 2);
  CHECK(plan.down == 12);
  CHECK(plan.pieces * plan.piece >= 1 << 20);
}

TEST_CASE("layer_norm backward uses at most as many blocks as run concurrently") {
  for (const std::int64_t n : {1, 7, 64, 256, 257, 768, 1600, 4096, 5000, 8192})
    for (const std::int64_t rows : {1, 7, 70000}) {
      const LayerPlan plan = plan_layer_backward(rows, n, 8, 1024, kMultiprocessors);
      INFO(rows << " rows of " << n);
      CHECK(plan.team * 8 >= n);
      CHECK(plan.team <= kTeamThreads);
      CHECK((plan.team <= 32 ? (plan.team & (plan.team - 1)) == 0 : plan.team % 32 == 0));
      CHECK((plan.teams == 1 || plan.team <= 32));
      CHECK(plan.blocks >= 1);
      CHECK(plan.blocks * plan.team * plan.teams <= std::int64_t{kTeamThreads} * kMultiprocessors);
      CHECK(plan.blocks <= rows);
    }
  CHECK(plan_layer_backward(16384, 768, 8, 1024, kMultiprocessors).team == 96);
  CHECK(plan_layer_backward(16384, 4096, 8, 1024, kMultiprocessors).blocks == 2 * kMultiprocessors);
}

// Index arithmetic of poolings: 32 and 64 bits agree, and which poolings may use 32 bits.

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

TEST_CASE("indices and windows of a pooling are equal whether computed in 32 or in 64 bits") {
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
