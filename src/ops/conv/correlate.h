// The forward pass and the input gradient on the CPU. Both are sums over windows of a source. For processors
// with instructions for pairs of BFloat16, the operands are packed as pairs of channels.
#pragma once

#include <ebb/core/ndarray.h>

#include "ops/conv/window.h"

#include <cstdint>

namespace ebb::cpu::conv {

/// The positions of results. Along each axis, the result of grid position u is element first + step * u.
struct Target {
  std::int64_t size[3];
  std::int64_t first[3];
  std::int64_t step[3];
};

/// The weights. In a group, the weight of (row, channel, tap) is data[group * group_step + row * row_step +
/// channel * channel_step + tap.index * tap_step].
template <class T>
struct Weights {
  T* data;
  std::int64_t group_step, row_step, channel_step, tap_step;
};

template <class T>
struct Correlation {
  const Reading& reading;
  Target target;
  std::int64_t batch;
  std::int64_t groups;
  std::int64_t rows;             // channels of the result in one group
  const T* source;               // images of groups * source_channels channels
  std::int64_t source_channels;  // channels of one group; the sum is over the first reading.channels
  Weights<const T> weight;
  const T* bias;  // [groups * rows] or null
  T* result;      // images of groups * rows channels
  Layout layout;  // of the result
};

/// Computes the correlation with adjacent results of a row in vector lanes. This is faster than
/// correlate_by_channels() for groups with few channels. No array is channels-last.
template <class T>
void correlate_by_pixels(const Correlation<T>& c);
/// Computes the weight's gradient, weight[groups][rows][depth]: the sum over the batch and all results of
/// `out` times the windows of `in`. No array is channels-last.
template <class T>
void weight_by_pixels(const ConvGeometry& geometry, const Reading& reading, const T* in, const T* out,
                      T* weight);

/// Computes the correlation with channels of the result in vector lanes, so that the lanes are filled for
/// images of any width. If Element is tiles::Pair, source and weights contain the bits of pairs of channels
/// (see pair_planes() and pair_weights()), and `channels` counts pairs.
template <class T, class Element = T>
void correlate_by_channels(const Correlation<T>& c);
/// Computes the weight's gradient with channels of the result in vector lanes. If Operand is BFloat16,
/// products of two adjacent results of a row are added in one instruction, so the rows must have an even
/// width.
template <class T, class Operand = T>
void weight_by_channels(const ConvGeometry& geometry, const Reading& reading, const Operand* in,
                        const Operand* out, const Layout& out_layout, const Weights<T>& weight);

/// Compute the correlation and the weight's gradient of groups of one channel (depthwise) with groups in
/// vector lanes. The images are channels-last.
template <class T>
void correlate_by_groups(const Correlation<T>& c);
template <class T>
void weight_by_groups(const ConvGeometry& geometry, const Reading& reading, const T* in, const T* out,
                      T* weight);

/// Compute the three ops by column matrices and matrix products. They are for kernels about as large as the
/// image; with windows, most of the computed results would be dropped for such kernels.
template <class T>
void columns_forward(const ConvGeometry& g, const T* in, const T* weight, const T* bias, T* out);
template <class T>
void columns_input(const ConvGeometry& g, const T* out, const T* weight, const T* bias, T* in);
template <class T>
void columns_weight(const ConvGeometry& g, const T* in, const T* out, T* weight);

/// Returns the number of pairs into which `channels` channels are packed. If the number of channels is odd,
/// the last channel is paired with zeros.
constexpr std::int64_t pairs_of(std::int64_t channels) { return (channels + 1) / 2; }

/// Converts planes [batch * groups][channels][plane] to [batch * groups][pairs][plane]. Each float contains
/// the bits of a pair.
NdArray pair_planes(const BFloat16* planes, std::int64_t groups, std::int64_t channels, std::int64_t plane);

/// Returns the weights of `taps` taps as [groups][rows][pairs of channels][taps].
NdArray pair_weights(const Weights<const BFloat16>& weight, std::int64_t groups, std::int64_t rows,
                     std::int64_t channels, std::int64_t taps);

}  // namespace ebb::cpu::conv
