// The two inner loops of convolution, whose accumulators stay in registers.
#pragma once

// GCC reports uninitialised lanes in its own intrinsics (bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <Eigen/Core>
#pragma GCC diagnostic pop

#include "kernel/cpu/parts.h"

#include <algorithm>
#include <cstdint>

namespace ebb::cpu::conv {

namespace simd = Eigen::internal;

template <class T>
using Packet = typename simd::packet_traits<T>::type;
template <class T>
constexpr int kWidth = simd::unpacket_traits<Packet<T>>::size;

#ifdef EIGEN_VECTORIZE_AVX512
constexpr int kRows = 8;  // 24 of the 32 registers are accumulators
constexpr int columns_for(int rows) { return rows == 8 ? 3 : rows == 4 ? 6 : 8; }
constexpr int taps_for(int rows) { return rows == 8 ? 3 : rows == 4 ? 6 : 9; }
#else
constexpr int kRows = 4;  // 12 of the 16 registers are accumulators
constexpr int columns_for(int rows) { return rows == 4 ? 3 : rows == 2 ? 4 : 8; }
constexpr int taps_for(int rows) { return rows == 4 ? 3 : rows == 2 ? 4 : 9; }
#endif

/// Returns the number of rows of the next panel: kRows, or the largest power of two that is not above `left`.
constexpr int panel_rows(std::int64_t left) {
  int rows = kRows;
  while (rows > left) rows /= 2;
  return rows;
}

/// Sets out[r][.] = bias[r] + the sum over k of weight[k][r] in[shift[k] + .], for R rows and C packets. If
/// More, adds the sum to out[r][.] instead.
template <class T, int R, int C, bool More>
inline void tile_sum(const T* weight, const T* in, const std::int64_t* shift, std::int64_t depth, T* out,
                     std::int64_t pitch, const T* bias) {
  Packet<T> sum[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) sum[r][c] = simd::pset1<Packet<T>>(!More && bias ? bias[r] : T(0));
  for (std::int64_t k = 0; k < depth; ++k, weight += R) {
    const T* x = in + shift[k];
    Packet<T> right[C];
    for (int c = 0; c < C; ++c) right[c] = simd::ploadu<Packet<T>>(x + c * kWidth<T>);
    for (int r = 0; r < R; ++r) {
      const Packet<T> left = simd::pset1<Packet<T>>(weight[r]);
      for (int c = 0; c < C; ++c) sum[r][c] = simd::pmadd(left, right[c], sum[r][c]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) {
      T* const to = out + r * pitch + c * kWidth<T>;
      if constexpr (More) sum[r][c] = simd::padd(simd::ploadu<Packet<T>>(to), sum[r][c]);
      simd::pstoreu(to, sum[r][c]);
    }
}

/// Adds the sum that tile_sum() describes to out[r][.]. It is not inlined into the loop of tile(), because
/// the compiler would spill the accumulators in that loop.
template <class T, int R, int C>
[[gnu::noinline]] void add_to_tile(const T* weight, const T* in, const std::int64_t* shift,
                                   std::int64_t depth, T* out, std::int64_t pitch) {
  tile_sum<T, R, C, true>(weight, in, shift, depth, out, pitch, nullptr);
}

/// Computes the same as tile_sum() without More. The sum over k is divided into parts, whose results are
/// added to keep the rounding error small.
template <class T, int R, int C>
inline void tile(const T* weight, const T* in, const std::int64_t* shift, std::int64_t depth, T* out,
                 std::int64_t pitch, const T* bias) {
  const std::int64_t part = part_of<128>(depth);
  tile_sum<T, R, C, false>(weight, in, shift, part, out, pitch, bias);
  for (std::int64_t k = part; k < depth; k += part)
    add_to_tile<T, R, C>(weight + k * R, in, shift + k, std::min(depth - k, part), out, pitch);
}

constexpr int next_columns(int c) { return c > 4 ? 4 : c > 2 ? 2 : 1; }

/// Computes the same as tile(), for any number of packets.
template <class T, int R, int C = columns_for(R)>
void strip(const T* weight, const T* in, const std::int64_t* shift, std::int64_t depth, T* out,
           std::int64_t pitch, const T* bias, std::int64_t packets) {
  for (; packets >= C; packets -= C, in += C * kWidth<T>, out += C * kWidth<T>)
    tile<T, R, C>(weight, in, shift, depth, out, pitch, bias);
  if constexpr (C > 1)
    if (packets > 0) strip<T, R, next_columns(C)>(weight, in, shift, depth, out, pitch, bias, packets);
}

/// Runs strip() for one panel of `rows` rows.
template <class T>
void panel(int rows, const T* weight, const T* in, const std::int64_t* shift, std::int64_t depth, T* out,
           std::int64_t pitch, const T* bias, std::int64_t packets) {
  switch (rows) {
    case 8:
      if constexpr (kRows >= 8) return strip<T, 8>(weight, in, shift, depth, out, pitch, bias, packets);
      [[fallthrough]];
    case 4:
      return strip<T, 4>(weight, in, shift, depth, out, pitch, bias, packets);
    case 2:
      return strip<T, 2>(weight, in, shift, depth, out, pitch, bias, packets);
    default:
      return strip<T, 1>(weight, in, shift, depth, out, pitch, bias, packets);
  }
}

/// The operands of correlate_tile(). Entry e has the rows at left + e * left_step, which are left_pitch
/// apart, and the window at window + e * window_step.
template <class T>
struct Lines {
  const T* left;
  std::int64_t left_pitch, left_step;
  const T* window;
  std::int64_t window_step;

  Lines from(std::int64_t entry, std::int64_t packet) const {
    return {left + entry * left_step + packet * kWidth<T>, left_pitch, left_step,
            window + entry * window_step + packet * kWidth<T>, window_step};
  }
};

/// Computes total[r][k] += the sum over entries and packets of left[r][.] window[shift[k] + .], for R rows
/// and K taps. Like add_to_tile(), it is not inlined.
template <class T, int R, int K>
[[gnu::noinline]] void correlate_sum(Lines<T> x, const std::int64_t* shift, std::int64_t packets,
                                     std::int64_t entries, Packet<T> (&total)[R][K]) {
  Packet<T> sum[R][K];
  for (int r = 0; r < R; ++r)
    for (int k = 0; k < K; ++k) sum[r][k] = simd::pset1<Packet<T>>(T(0));
  for (std::int64_t e = 0; e < entries; ++e, x.left += x.left_step, x.window += x.window_step) {
    const T* at[K];
    for (int k = 0; k < K; ++k) at[k] = x.window + shift[k];
    for (std::int64_t q = 0; q < packets * kWidth<T>; q += kWidth<T>) {
      Packet<T> right[K];
      for (int k = 0; k < K; ++k) right[k] = simd::ploadu<Packet<T>>(at[k] + q);
      for (int r = 0; r < R; ++r) {
        const Packet<T> row = simd::ploadu<Packet<T>>(x.left + r * x.left_pitch + q);
        for (int k = 0; k < K; ++k) sum[r][k] = simd::pmadd(row, right[k], sum[r][k]);
      }
    }
  }
  for (int r = 0; r < R; ++r)
    for (int k = 0; k < K; ++k) total[r][k] = simd::padd(total[r][k], sum[r][k]);
}

/// Computes result[r * result_pitch + k] += the sum that correlate_sum() describes. The entries and packets
/// are divided into parts.
template <class T, int R, int K>
void correlate_tile(const Lines<T>& x, const std::int64_t* shift, std::int64_t packets, std::int64_t entries,
                    T* result, std::int64_t result_pitch) {
  Packet<T> total[R][K];
  for (int r = 0; r < R; ++r)
    for (int k = 0; k < K; ++k) total[r][k] = simd::pset1<Packet<T>>(T(0));
  const std::int64_t part = part_of<64>(packets);
  const std::int64_t together = std::max<std::int64_t>(part_of<64>(entries * packets) / packets, 1);
  for (std::int64_t e = 0; e < entries; e += together)
    for (std::int64_t q = 0; q < packets; q += part)
      correlate_sum<T, R, K>(x.from(e, q), shift, std::min(part, packets - q),
                             std::min(together, entries - e), total);
  for (int r = 0; r < R; ++r)
    for (int k = 0; k < K; ++k) result[r * result_pitch + k] += simd::predux(total[r][k]);
}

/// Runs correlate_tile() for all taps of R rows.
template <class T, int R>
void correlate_rows(const Lines<T>& x, const std::int64_t* shift, std::int64_t taps, std::int64_t packets,
                    std::int64_t entries, T* result, std::int64_t result_pitch) {
  std::int64_t k = 0;
  for (constexpr int K = taps_for(R); k + K <= taps; k += K)
    correlate_tile<T, R, K>(x, shift + k, packets, entries, result + k, result_pitch);
  for (; k < taps; ++k) correlate_tile<T, R, 1>(x, shift + k, packets, entries, result + k, result_pitch);
}

}  // namespace ebb::cpu::conv
