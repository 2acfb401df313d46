// How the norms' work is laid over a device's threads: pure functions of shapes and of the device's size.
#pragma once

#include "kernel/grid.h"
#include "kernel/line_plans.h"

#include <numeric>

namespace ebb {

constexpr int kChannelThreads = 256;

/// How a dense [batch, channels, places] array is walked so that a thread meets few channels: by planes, a
/// channel a block, whose threads run over samples and places alike; or by tiles, some neighbouring columns
/// of [batch, channels * places] a block, whose threads each stay in their columns and go down the samples.
struct ChannelPlan {
  bool tiles = false;
  int width = 1;             // elements of a vector
  int across = 1, down = 1;  // tiles: vectors side by side and samples at a time of a block
  std::int64_t jobs = 1;     // channels or tiles
  std::int64_t count = 0;    // of what is cut in pieces: a channel's vectors or the samples
  std::int64_t pieces = 1, piece = 0;
};

namespace detail {

constexpr int kTileUnits = 32;  // vectors side by side where there is a choice: every block adds up 8 samples

// Cuts plan.count into pieces for `wanted` blocks. All pieces but the last are multiples of `least`, which
// holds whole rounds of a block's loads.
constexpr void cut_pieces(ChannelPlan& plan, std::int64_t wanted, std::int64_t least) {
  const RowPieces cut = cut_rows(plan.count, plan.jobs, wanted, least);
  plan.piece = cut.pieces == 1 ? plan.count : ceil_div(cut.piece, least) * least;
  plan.pieces = cut.pieces == 1 ? 1 : ceil_div(plan.count, plan.piece);
}

// Tiles of whole groups of `group` vectors; `units` of them in all.
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

/// For two sums a channel. `vector` elements make a vector, `aligned` says that the arrays start at one;
/// a thread has `loads` vectors under way. Tiles consist of whole channels.
constexpr ChannelPlan plan_channel_sums(std::int64_t batch, std::int64_t channels, std::int64_t places,
                                        int vector, bool aligned, int loads, int multiprocessors) {
  const std::int64_t wanted = 8 * std::int64_t{multiprocessors};
  const bool whole = aligned && places % vector == 0;
  ChannelPlan plan;
  if (!whole || places < std::int64_t{detail::kTileUnits} * vector) {
    const std::int64_t together =
        vector / std::gcd(places, std::int64_t{vector});  // channels of whole vectors
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

/// Threads that add up one of `channels` channels at the end of a tile: as many as there are, a warp at most.
constexpr int tile_team(std::int64_t channels) {
  int team = 32;
  while (team > 1 && channels * team > kChannelThreads) team /= 2;
  return team;
}

/// For elementwise work with some numbers a channel, by tiles of any columns.
constexpr ChannelPlan plan_channel_columns(std::int64_t batch, std::int64_t columns, int vector, int loads,
                                           int multiprocessors) {
  ChannelPlan plan;
  detail::plan_tiles(plan, batch, columns / vector, 1, vector, loads, 16 * std::int64_t{multiprocessors});
  return plan;
}

/// How layer norm's backward is laid out: teams of threads that stay in their columns while their block goes
/// from row to row, as many blocks as run at once
/// when a multiprocessor runs `threads_at_once`.
struct LayerPlan {
  int team = 1, teams = 1;  // threads of a row, rows of a block
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
