// Forward pass and input gradient on the CPU, which have the same form: sums over windows of a source. For
// processors that multiply pairs of BFloat16, the operands are packed as pairs of channels.
#pragma once

#include <ebb/core/ndarray.h>

#include "ops/conv/window.h"

#include <cstdint>

namespace ebb::cpu::conv {

/// The positions of results: grid position u of an axis is element first + step * u.
struct Target {
  std::int64_t size[3];
  std::int64_t first[3];
  std::int64_t step[3];
};

/// The weights. The weight of a row, channel and tap of a group is data[group * group_step + row * row_step +
/// channel * channel_step + tap.index].
template <class T>
struct Weights {
  const T* data;
  std::int64_t group_step, row_step, channel_step;
};

template <class T>
struct Correlation {
  const Reading& reading;
  Target target;
  std::int64_t batch;
  std::int64_t groups;
  std::int64_t rows;             // channels of the result in one group
  const T* source;               // [batch][groups * source_channels][...]
  std::int64_t source_channels;  // of one group; the reading covers the first reading.channels of them
  Weights<T> weight;
  const T* bias;  // [groups * rows] or null
  T* result;      // [batch][groups * rows][...]
};

/// Computes the correlation with adjacent results of a row in vector lanes, for groups with few channels.
template <class T>
void correlate_by_pixels(const Correlation<T>& c);
/// Computes the weight's gradient: weight[groups][rows][depth] is the sum over the batch of out times the
/// windows of in.
template <class T>
void weight_by_pixels(const ConvGeometry& geometry, const Reading& reading, const T* in, const T* out,
                      T* weight);

/// Computes the correlation with channels of the result in vector lanes, which fills the lanes for images of
/// any width. With Element tiles::Pair, source and weights contain the bits of pairs of channels
/// (pair_planes(), pair_weights()), and `channels` counts pairs.
template <class T, class Element = T>
void correlate_by_channels(const Correlation<T>& c);
/// Computes the weight's gradient with channels of the result in vector lanes. For BFloat16 operands the sums
/// are over pairs of adjacent results, so rows must have an even width.
template <class T, class Operand = T>
void weight_by_channels(const ConvGeometry& geometry, const Reading& reading, const Operand* in,
                        const Operand* out, T* weight);

/// Compute the three ops with column matrices and matrix products. They are for kernels about as large as the
/// image: with windows, most of the computed results would be dropped.
template <class T>
void columns_forward(const ConvGeometry& g, const T* in, const T* weight, const T* bias, T* out);
template <class T>
void columns_input(const ConvGeometry& g, const T* out, const T* weight, const T* bias, T* in);
template <class T>
void columns_weight(const ConvGeometry& g, const T* in, const T* out, T* weight);

/// Returns the number of pairs of `channels` channels. An odd channel is paired with zeros.
constexpr std::int64_t pairs_of(std::int64_t channels) { return (channels + 1) / 2; }

/// Returns planes [batch * groups][channels][plane] as [batch * groups][pairs][plane], with the bits of each
/// pair in a float.
NdArray pair_planes(const BFloat16* planes, std::int64_t groups, std::int64_t channels, std::int64_t plane);

/// Returns the weights of `taps` taps as [groups][rows][pairs of channels][taps].
NdArray pair_weights(const Weights<BFloat16>& weight, std::int64_t groups, std::int64_t rows,
                     std::int64_t channels, std::int64_t taps);

}  // namespace ebb::cpu::conv
