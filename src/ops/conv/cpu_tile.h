// The two inner loops of convolution, on registers: results that stay there while the sum runs.
#pragma once

// GCC sees uninitialised lanes in its own intrinsics (bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <Eigen/Core>
#pragma GCC diagnostic pop

#include <cstdint>

namespace ebb::cpu::conv {

namespace simd = Eigen::internal;

template <class T>
using Packet = typename simd::packet_traits<T>::type;
template <class T>
constexpr int kWidth = simd::unpacket_traits<Packet<T>>::size;

#ifdef EIGEN_VECTORIZE_AVX512
constexpr int kRows = 8;  // 24 accumulators of 32 registers
constexpr int columns_for(int rows) { return rows == 8 ? 3 : rows == 4 ? 6 : 8; }
constexpr int taps_for(int rows) { return rows == 8 ? 3 : rows == 4 ? 6 : 9; }
#else
constexpr int kRows = 4;  // 12 of 16
constexpr int columns_for(int rows) { return rows == 4 ? 3 : rows == 2 ? 4 : 8; }
constexpr int taps_for(int rows) { return rows == 4 ? 3 : rows == 2 ? 4 : 9; }
#endif

/// Rows are taken in panels of kRows, the rest in powers of two.
constexpr int panel_rows(std::int64_t left) {
  int rows = kRows;
  while (rows > left) rows /= 2;
  return rows;
}

/// out[r][.] = bias[r] + the sum over k of weight[k][r] in[shift[k] + .], for R rows and C packets.
template <class T, int R, int C>
inline void tile(const T* weight, const T* in, const std::int64_t* shift, std::int64_t depth, T* out,
                 std::int64_t pitch, const T* bias) {
  Packet<T> sum[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) sum[r][c] = simd::pset1<Packet<T>>(bias ? bias[r] : T(0));
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
    for (int c = 0; c < C; ++c) simd::pstoreu(out + r * pitch + c * kWidth<T>, sum[r][c]);
}

constexpr int next_columns(int c) { return c > 4 ? 4 : c > 2 ? 2 : 1; }

/// The same for any number of packets.
template <class T, int R, int C = columns_for(R)>
void strip(const T* weight, const T* in, const std::int64_t* shift, std::int64_t depth, T* out,
           std::int64_t pitch, const T* bias, std::int64_t packets) {
  for (; packets >= C; packets -= C, in += C * kWidth<T>, out += C * kWidth<T>)
    tile<T, R, C>(weight, in, shift, depth, out, pitch, bias);
  if constexpr (C > 1)
    if (packets > 0) strip<T, R, next_columns(C)>(weight, in, shift, depth, out, pitch, bias, packets);
}

/// For one panel of `rows` rows.
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

/// result[r * result_pitch + k] += the sum over entries and packets of left[r][.] window[shift[k] + .], R
/// rows, K taps.
template <class T, int R, int K>
inline void correlate_tile(const T* left, std::int64_t left_pitch, std::int64_t left_step, const T* window,
                           std::int64_t window_step, const std::int64_t* shift, std::int64_t packets,
                           std::int64_t entries, T* result, std::int64_t result_pitch) {
  Packet<T> sum[R][K];
  for (int r = 0; r < R; ++r)
    for (int k = 0; k < K; ++k) sum[r][k] = simd::pset1<Packet<T>>(T(0));
  for (std::int64_t e = 0; e < entries; ++e, left += left_step, window += window_step) {
    const T* at[K];
    for (int k = 0; k < K; ++k) at[k] = window + shift[k];
    for (std::int64_t q = 0; q < packets * kWidth<T>; q += kWidth<T>) {
      Packet<T> right[K];
      for (int k = 0; k < K; ++k) right[k] = simd::ploadu<Packet<T>>(at[k] + q);
      for (int r = 0; r < R; ++r) {
        const Packet<T> row = simd::ploadu<Packet<T>>(left + r * left_pitch + q);
        for (int k = 0; k < K; ++k) sum[r][k] = simd::pmadd(row, right[k], sum[r][k]);
      }
    }
  }
  for (int r = 0; r < R; ++r)
    for (int k = 0; k < K; ++k) result[r * result_pitch + k] += simd::predux(sum[r][k]);
}

/// For all taps of R rows.
template <class T, int R>
void correlate_rows(const T* left, std::int64_t left_pitch, std::int64_t left_step, const T* window,
                    std::int64_t window_step, const std::int64_t* shift, std::int64_t taps,
                    std::int64_t packets, std::int64_t entries, T* result, std::int64_t result_pitch) {
  std::int64_t k = 0;
  for (constexpr int K = taps_for(R); k + K <= taps; k += K)
    correlate_tile<T, R, K>(left, left_pitch, left_step, window, window_step, shift + k, packets, entries,
                            result + k, result_pitch);
  for (; k < taps; ++k)
    correlate_tile<T, R, 1>(left, left_pitch, left_step, window, window_step, shift + k, packets, entries,
                            result + k, result_pitch);
}

}  // namespace ebb::cpu::conv
