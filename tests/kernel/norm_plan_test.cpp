// How the work of normalisations is distributed over a device: each element once, vectors if rows consist of
// whole vectors, and no idle threads without need.
#include "ops/norm/norm_plan.h"

#include "support/catch.h"

#include <cstdint>

using namespace ebb;

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

TEST_CASE("channel sums use vectors along planes or tiles of whole channels") {
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

TEST_CASE("channel sums have enough blocks and pieces worth a second pass") {
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

TEST_CASE("elementwise kernels with channel parameters use columns") {
  const ChannelPlan plan = plan_channel_columns(1 << 20, 320, 8, 4, kMultiprocessors);
  CHECK(plan.across == 20);  // 40 vectors in two equal tiles
  CHECK(plan.jobs == 2);
  CHECK(plan.down == 12);
  CHECK(plan.pieces * plan.piece >= 1 << 20);
}

TEST_CASE("layer_norm backward uses as many blocks as run concurrently") {
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
