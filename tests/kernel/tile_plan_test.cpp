// Tiles of elementwise kernels with a transposed input: each element once, and no unnecessary memory access.
#include "kernel/map_plan.h"
#include "kernel/strided_dims.h"
#include "support/catch.h"

#include <cstdint>
#include <set>
#include <vector>

using namespace ebb;

namespace {

constexpr std::uintptr_t kBase = 4096;

struct Operand {
  std::vector<std::int64_t> strides;  // bytes, innermost first; empty for a scalar
  int size = 4;
};

template <int N>
struct Walk {
  ElementwisePlan<N> plan;
  std::uintptr_t addresses[N];
  int sizes[N], width;
  CrossTile tile;

  Walk(std::vector<std::int64_t> shape, const std::vector<Operand>& operands, int width) : width(width) {
    plan.dims = static_cast<int>(shape.size());
    for (int d = 0; d < plan.dims; ++d) plan.numel *= plan.sizes[d] = shape[static_cast<std::size_t>(d)];
    for (int i = 0; i < N; ++i) {
      const Operand& x = operands[static_cast<std::size_t>(i)];
      addresses[i] = x.strides.empty() ? 0 : kBase;
      sizes[i] = x.size;
      for (int d = 0; d < plan.dims; ++d)
        plan.strides[i][d] = x.strides.empty() ? 0 : x.strides[static_cast<std::size_t>(d)];
    }
    tile = cross_tile(plan, addresses, sizes, width);
  }

  // Runs all parts, each by its own plan: the offsets of the operands must belong to one element, and each
  // element must occur once. Returns the number of elements in tiles.
  std::int64_t check() {
    std::set<std::int64_t> seen;
    std::int64_t by_tiles = 0;
    for_each_tiled_part(
        plan, tile, [&](const ElementwisePlan<N>& part, const std::int64_t(&from)[N], const CrossTile& own) {
          std::uintptr_t at[N];
          for (int i = 0; i < N; ++i)
            at[i] = addresses[i] == 0 ? 0 : addresses[i] + static_cast<std::uintptr_t>(from[i]);
          if (own.along == 0) {
            for (std::int64_t e = 0; e < part.numel; ++e) {
              const StridedPosition<N, PlanOperands<N>> position({part}, e);
              std::int64_t offsets[N];
              for (int i = 0; i < N; ++i) offsets[i] = from[i] + position.offsets()[i];
              meet(offsets, seen);
            }
            return;
          }
          by_tiles += part.numel;
          MapPlan<N> map;
          const bool vectors = plan_tiles(map, part, own, at, sizes, width);
          const int each = vectors ? width : 1;
          REQUIRE(std::int64_t{map.plan.units} * each == part.numel);
          for (std::uint32_t unit = 0; unit < map.plan.units; ++unit) {
            std::int32_t start[N];
            map.plan.offsets(unit, start);
            for (int j = 0; j < each; ++j) {
              std::int64_t offsets[N];
              for (int i = 0; i < N; ++i) {
                offsets[i] = from[i] + start[i];
                if (addresses[i] == 0 || !vectors) continue;
                if (map.access[i] == Access::vector) {
                  REQUIRE((addresses[i] + static_cast<std::uintptr_t>(from[i] + start[i])) %
                              static_cast<unsigned>(width * sizes[i]) ==
                          0);
                  offsets[i] += j * sizes[i];
                } else if (map.access[i] == Access::indexed) {
                  offsets[i] +=
                      map.element[i].offset(map.head + unit * map.spacing + static_cast<std::uint32_t>(j));
                }
              }
              meet(offsets, seen);
            }
          }
          check_sectors(map.plan, from, vectors ? width : 1, map, vectors);
        });
    CHECK(static_cast<std::int64_t>(seen.size()) == plan.numel);
    return by_tiles;
  }

  void meet(const std::int64_t (&offsets)[N], std::set<std::int64_t>& seen) const {
    // In these cases, the output has no gaps below the stride of a dimension, so its offset identifies the
    // element.
    std::int64_t rest = offsets[0], expected[N] = {};
    for (int d = plan.dims; d-- > 0;) {
      const std::int64_t place = rest / plan.strides[0][d];
      rest -= place * plan.strides[0][d];
      REQUIRE(place < plan.sizes[d]);
      for (int i = 0; i < N; ++i) expected[i] += place * plan.strides[i][d];
    }
    for (int i = 0; i < N; ++i)
      if (addresses[i] != 0) REQUIRE(offsets[i] == expected[i]);
    REQUIRE(seen.insert(offsets[0]).second);
  }

  // Checks that adjacent threads, 256 units, access only the memory sectors that their elements fill, or one
  // more per row if rows do not start at a sector.
  void check_sectors(const IndexPlan<N>& units, const std::int64_t (&from)[N], int each,
                     const MapPlan<N>& map, bool vectors) const {
    for (int i = 0; i < N; ++i) {
      if (addresses[i] == 0 || plan.strides[i][0] == 0) continue;
      std::set<std::int64_t> sectors;
      for (std::uint32_t unit = 0; unit < 256; ++unit) {
        std::int32_t start[N];
        units.offsets(unit, start);
        for (int j = 0; j < each; ++j) {
          const std::int64_t step = !vectors ? 0
                                    : map.access[i] == Access::vector
                                        ? j * sizes[i]
                                        : map.element[i].offset(static_cast<std::uint32_t>(j));
          sectors.insert((static_cast<std::int64_t>(addresses[i]) + from[i] + start[i] + step) /
                         kSectorBytes);
        }
      }
      bool aligned = true;
      for (int d = 0; d < plan.dims; ++d)
        aligned = aligned && (plan.strides[i][d] == sizes[i] || plan.strides[i][d] % kSectorBytes == 0);
      const std::int64_t filled = 256 * each * sizes[i] / kSectorBytes;
      CHECK(static_cast<std::int64_t>(sectors.size()) <= (aligned ? filled : 2 * filled));
    }
  }
};

}  // namespace

TEST_CASE("tile plan: a transposed operand uses tiles of vectors") {
  // [128, 160] + [160, 128].t()
  Walk<3> w({160, 128}, {{{4, 640}}, {{4, 640}}, {{512, 4}}}, 4);
  CHECK(w.tile.along == 1);
  CHECK(w.tile.rows == 8);
  CHECK(w.tile.columns == 0);
  CHECK(w.check() == w.plan.numel);
  Walk<3> half({160, 128}, {{{2, 320}, 2}, {{2, 320}, 2}, {{256, 2}, 2}}, 8);
  CHECK(half.tile.rows == 16);
  CHECK(half.check() == half.plan.numel);
  Walk<2> wide({96, 64}, {{{8, 768}, 8}, {{512, 8}, 8}}, 2);
  CHECK(wide.tile.rows == 4);
  CHECK(wide.check() == wide.plan.numel);
}

TEST_CASE("tile plan: a transposed operand may be combined with scalars, biases and masks") {
  Walk<4> w({128, 96}, {{{4, 512}}, {{384, 4}}, {{}}, {{0, 4}}}, 4);
  CHECK(w.tile.along == 1);
  CHECK(w.check() == w.plan.numel);
  // A mask and numbers that are both transposed relative to the output.
  Walk<3> mask({256, 192}, {{{4, 1024}}, {{192, 1}, 1}, {{768, 4}}}, 4);
  CHECK(mask.tile.along == 1);
}

TEST_CASE("tile plan: elements outside of whole tiles are computed by the plain kernel") {
  Walk<3> w({160, 125}, {{{4, 640}}, {{4, 640}}, {{500, 4}}}, 4);
  CHECK(w.check() == 160 * 120);
}

TEST_CASE("tile plan: output rows that do not consist of whole vectors use tiles of elements") {
  // A channels-last operand and contiguous images of 49 pixels.
  Walk<3> w({49, 64, 10}, {{{4, 196, 12544}}, {{4, 196, 12544}}, {{256, 4, 12544}}}, 4);
  CHECK(w.tile.along == 1);
  CHECK(w.tile.columns == 8);
  CHECK(w.check() == 48 * 64 * 10);
  Walk<2> half({135, 77, 3}, {{{2, 270, 20790}, 2}, {{154, 2, 20790}, 2}}, 8);
  CHECK(half.check() == 128 * 64 * 3);
}

TEST_CASE("tile plan: tiles follow the contiguous dimension of the input") {
  // A permutation of three dimensions: the innermost dimension of the input is the outermost of the output.
  Walk<2> w({40, 24, 16}, {{{4, 160, 3840}}, {{1536, 64, 4}}}, 4);
  CHECK(w.tile.along == 2);
  CHECK(w.check() == w.plan.numel);
}

TEST_CASE("tile plan: arrays that are small or have no contiguous dimension use no tiles") {
  CHECK(Walk<2>({64, 64}, {{{4, 256}}, {{256, 4}}}, 4).tile.along == 0);     // stays in the cache
  CHECK(Walk<2>({160, 128}, {{{4, 640}}, {{8, 1280}}}, 4).tile.along == 0);  // every second element
  CHECK(Walk<2>({160, 128}, {{{4, 640}}, {{1024, 8}}}, 4).tile.along == 0);
  CHECK(Walk<2>({20000, 4}, {{{4, 80000}}, {{16, 4}}}, 4).tile.along == 0);  // too few rows
  CHECK(Walk<2>({160, 128}, {{{4, 640}}, {{4, 0}}}, 4).tile.along == 0);     // a bias
  CHECK(Walk<2>({160, 128}, {{{8, 1280}}, {{512, 4}}}, 4).tile.along == 0);  // the output has gaps
}
