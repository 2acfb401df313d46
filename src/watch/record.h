// Record: one call of an adder, as SummaryWriter and Report receive it.
#pragma once

#include <ebb/watch/records.h>

#include <nlohmann/json.hpp>

#include <string>

namespace ebb::watch {

/// One record. Its content depends on the kind:
///     scalar      the number
///     histogram   {min, max, count, sum, sum_squares, nans, infinities, limits, counts}. counts[i] finite
///                 values lie in [limits[i - 1], limits[i]); the first bucket is empty and the last one
///                 includes its limit, as in torch's files. Without finite values there are no buckets.
///     image       {height, width, channels, png}, with the bytes of a PNG file
///     text        {text}
///     pr_curve    {rows}, the six rows of torch's pr_curve_raw over thresholds from 0 to 1
///     graph       {nodes}. A node has a name, an op ("Input", "Parameter", "Output" or the op's name),
///     inputs
///                 ("name:1" is the second result of a node) and the shapes of its results.
///     hparams     {hparams, metrics}, each by name
/// Report has further kinds.
struct Record {
  std::string kind, tag;
  Recorder::Step step;
  Recorder::WallTime wall_time;
  nlohmann::json content;
  std::string run = "";  ///< "" is the recorder's own run; add_scalars and add_hparams write to further runs
};

/// Returns the time in seconds since 1970.
double unix_time();

}  // namespace ebb::watch
