// Forward pass and input gradient on the CPU, which are one thing: sums over windows of a source.
#pragma once

#include "ops/conv/window.h"

#include <cstdint>

namespace ebb::cpu::conv {

/// Where results go: grid position u of an axis to element first + step * u.
struct Target {
  std::int64_t size[3];
  std::int64_t first[3];
  std::int64_t step[3];
};

/// The weight of row, channel and tap of a group stands at data[group * group_step + row * row_step + channel
/// * channel_step + tap.index].
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
  std::int64_t rows;  // channels of the result in one group
  const T* source;    // [batch][groups * reading.channels][...]
  Weights<T> weight;
  const T* bias;  // [groups * rows] or null
  T* result;      // [batch][groups * rows][...]
};

/// Sums with neighbouring results of a row in the lanes of a register: for groups of few channels.
template <class T>
void correlate_by_pixels(const Correlation<T>& c);
/// The weight's gradient: weight[groups][rows][depth] = the sum over the batch of out x windows of in.
template <class T>
void weight_by_pixels(const ConvGeometry& geometry, const Reading& reading, const T* in, const T* out,
                      T* weight);

/// The same two with channels of the result in the lanes, so that images of any width fill them. With
/// Element tiles::Pair, what stands in source and weights are the bits of pairs of channels (pairs.h), and
/// `channels` counts pairs.
template <class T, class Element = T>
void correlate_by_channels(const Correlation<T>& c);
/// Of bfloat16 operands the sums are taken in pairs of neighbouring results, whose rows are then of even
/// width.
template <class T, class Operand = T>
void weight_by_channels(const ConvGeometry& geometry, const Reading& reading, const Operand* in,
                        const Operand* out, T* weight);

/// All three by explicit column matrices and matrix products, for kernels about as large as the image,
/// where windows would compute mostly what is dropped.
template <class T>
void columns_forward(const ConvGeometry& g, const T* in, const T* weight, const T* bias, T* out);
template <class T>
void columns_input(const ConvGeometry& g, const T* out, const T* weight, const T* bias, T* in);
template <class T>
void columns_weight(const ConvGeometry& g, const T* in, const T* out, T* weight);

}  // namespace ebb::cpu::conv
