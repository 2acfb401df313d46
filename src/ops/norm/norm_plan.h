// Plans of the normalization kernels: pure functions of the shape and the device size.
#pragma once

#include "kernel/grid.h"
#include "kernel/lines.h"

#include <numeric>

namespace ebb {

constexpr int kChannelThreads = 256;

/// The distribution of a dense [batch, channels, places] array over threads, so that each thread handles few
/// channels.
/// - By planes: a block has one channel, and its threads cover its samples and places.
/// - By tiles: a block has some neighbouring columns of [batch, channels * places]. Each thread stays in its
///   columns and iterates over samples.
struct ChannelPlan {
  bool tiles = false;
  int width = 1;             // elements of a vector
  int across = 1, down = 1;  // tiles: the vectors of a row, and the samples, that a block processes at a time
  std::int64_t jobs = 1;     // the number of channels or tiles
  // The number of items to divide into chunks (pieces): the vectors of a channel, or the samples.
  std::int64_t count = 0;
  std::int64_t pieces = 1, piece = 0;
};

namespace detail {

// The preferred number of vectors across a tile. A block then processes 8 samples at a time.
constexpr int kTileUnits = 32;

// Divides plan.count into chunks (pieces) for `wanted` blocks. All chunks but the last are multiples of
// `least`, the number of items that a block loads in a whole number of rounds.
constexpr void cut_pieces(ChannelPlan& plan, std::int64_t wanted, std::int64_t least) {
  const RowPieces cut = cut_rows(plan.count, plan.jobs, wanted, least);
  plan.piece = cut.pieces == 1 ? plan.count : ceil_div(cut.piece, least) * least;
  plan.pieces = cut.pieces == 1 ? 1 : ceil_div(plan.count, plan.piece);
}

// Plans tiles of whole groups of `group` vectors. There are `units` vectors.
constexpr void plan_tiles(ChannelPlan& plan, std::int64_t batch, std::int64_t units, int group, int width,
                          int loads, std::int64_t wanted) {
  const std::int64_t groups = ceil_div(units, group), most = group < kTileUnits ? kTileUnits / group : 1;
  plan.tiles = true;
  plan.width = width;
  plan.jobs = ceil_div(groups, most);
  plan.across = static_cast<int>(ceil_div(groups, plan.jobs)) * group;
  plan.down = kChannelThreads / plan.across;
  plan.count = batch;
  cut_pieces(plan, wanted, 2 * std::int64_t{loads} * plan.down);
}

}  // namespace detail

/// Plans two sums for each channel. A vector has `vector` elements; `aligned` means that the arrays begin at
/// vector boundaries. A thread loads `loads` vectors together. Tiles consist of whole channels.
constexpr ChannelPlan plan_channel_sums(std::int64_t batch, std::int64_t channels, std::int64_t places,
                                        int vector, bool aligned, int loads, int multiprocessors) {
  const std::int64_t wanted = 8 * std::int64_t{multiprocessors};
  const bool whole = aligned && places % vector == 0;
  ChannelPlan plan;
  if (!whole || places < std::int64_t{detail::kTileUnits} * vector) {
    const std::int64_t together =
        vector / std::gcd(places, std::int64_t{vector});  // the fewest channels that fill whole vectors
    const std::int64_t group = together * places / vector;
    if (aligned && channels % together == 0 && group <= kChannelThreads) {
      detail::plan_tiles(plan, batch, channels * places / vector, static_cast<int>(group), vector, loads,
                         wanted);
      return plan;
    }
    if (places <= detail::kTileUnits) {
      detail::plan_tiles(plan, batch, channels * places, static_cast<int>(places), 1, loads, wanted);
      return plan;
    }
  }
  plan.width = whole ? vector : 1;
  plan.jobs = channels;
  plan.count = batch * (places / plan.width);
  detail::cut_pieces(plan, wanted, 2 * std::int64_t{loads} * kChannelThreads);
  return plan;
}

/// Returns the number of threads that sum one of `channels` channels at the end of a tile, at most a warp.
constexpr int tile_team(std::int64_t channels) {
  int team = 32;
  while (team > 1 && channels * team > kChannelThreads) team /= 2;
  return team;
}

/// Plans elementwise work with factors for each channel, in tiles of any columns.
constexpr ChannelPlan plan_channel_columns(std::int64_t batch, std::int64_t columns, int vector, int loads,
                                           int multiprocessors) {
  ChannelPlan plan;
  detail::plan_tiles(plan, batch, columns / vector, 1, vector, loads, 16 * std::int64_t{multiprocessors});
  return plan;
}

/// The distribution of layer norm's backward pass. Threads stay in their columns, and their block iterates
/// over rows. There are at most as many blocks as can run together if each multiprocessor runs
/// `threads_at_once` threads.
struct LayerPlan {
  int team = 1, teams = 1;  // the threads of a row, and the rows of a block
  std::int64_t blocks = 1;
};
constexpr LayerPlan plan_layer_backward(std::int64_t rows, std::int64_t n, int elements, int threads_at_once,
                                        int multiprocessors) {
  LayerPlan plan;
  const std::int64_t threads = ceil_div(n, elements);
  plan.team = threads <= 32 ? covering_power(threads, 4, 32) : static_cast<int>(ceil_div(threads, 32) * 32);
  plan.teams = rows_per_block(plan.team);
  const std::int64_t resident = threads_at_once / (plan.team * plan.teams) * std::int64_t{multiprocessors},
                     useful = ceil_div(rows, 2 * plan.teams);
  plan.blocks = useful < 1 ? 1 : useful < resident ? useful : resident;
  return plan;
}

}  // namespace ebb
