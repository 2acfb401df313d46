// Products of matrix tiles that are in the cache. A block of the result stays in registers during the sum.
#pragma once

// GCC wrongly reports uninitialised lanes in its own intrinsics (bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <Eigen/Core>
#pragma GCC diagnostic pop

#include <cstdint>

namespace ebb::cpu::tiles {

namespace simd = Eigen::internal;

template <class C>
using Packet = typename simd::packet_traits<C>::type;
template <class C>
constexpr int kWidth = simd::unpacket_traits<Packet<C>>::size;

/// The type in which products of C are summed: C itself, except for 16-bit pairs (tile_pairs.h).
template <class C>
struct SumType {
  using type = C;
};
template <class C>
using Sum = typename SumType<C>::type;

constexpr int kRows = 6;
#ifdef EIGEN_VECTORIZE_AVX512
constexpr int kPackets = 4;  // 24 accumulators in 32 registers
#else
constexpr int kPackets = 2;  // 12 accumulators in 16 registers
#endif

/// Rounds n up to whole packets.
template <class C>
constexpr std::int64_t padded(std::int64_t n) {
  return (n + kWidth<C> - 1) / kWidth<C> * kWidth<C>;
}

/// Element (i, k) is data[i * row_step + k * step].
template <class C>
struct Left {
  const C* data;
  std::int64_t row_step, step;

  const C* row(std::int64_t i) const { return data + i * row_step; }
  std::int64_t at(std::int64_t k) const { return k * step; }
  Left from(std::int64_t i) const { return {row(i), row_step, step}; }
};

/// Element (i, k) is data[rows[i] + steps[k]].
template <class C>
struct ScatteredLeft {
  const C* data;
  const std::int64_t* rows;
  const std::int64_t* steps;

  const C* row(std::int64_t i) const { return data + rows[i]; }
  std::int64_t at(std::int64_t k) const { return steps[k]; }
  ScatteredLeft from(std::int64_t i) const { return {data, rows + i, steps}; }
};

/// out[r][.] = the sum over k of left(r, k) right[k][.] for R rows and P packets; if `more` is true, the sum
/// is added to out[r][.]. The result is never -0, not even for a product that underflows. The function is not
/// inlined into loops, because the compiler would then keep the sums in memory instead of registers.
template <class C, int R, int P, class L>
[[gnu::noinline]] void block(L left, const C* right, std::int64_t pitch, std::int64_t depth, C* out,
                             std::int64_t out_pitch, bool more) {
  Packet<C> sum[R][P];
  const C* row[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    row[r] = left.row(r);
    for (int p = 0; p < P; ++p) __builtin_prefetch(out + r * out_pitch + p * kWidth<C>, 1);
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) sum[r][p] = simd::pset1<Packet<C>>(C(0));
  }
  for (std::int64_t k = 0; k < depth; ++k, right += pitch) {
    const std::int64_t at = left.at(k);
    Packet<C> x[P];
    for (int p = 0; p < P; ++p) x[p] = simd::ploadu<Packet<C>>(right + p * kWidth<C>);
    for (int r = 0; r < R; ++r) {
      const Packet<C> factor = simd::pset1<Packet<C>>(row[r][at]);
      for (int p = 0; p < P; ++p) sum[r][p] = simd::pmadd(factor, x[p], sum[r][p]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) {
      C* const to = out + r * out_pitch + p * kWidth<C>;
      const Packet<C> before = more ? simd::ploadu<Packet<C>>(to) : simd::pset1<Packet<C>>(C(0));
      simd::pstoreu(to, simd::padd(before, sum[r][p]));
    }
}

template <class C, int P, class L>
void columns(std::int64_t rows, L left, const C* right, std::int64_t pitch, std::int64_t depth, Sum<C>* out,
             std::int64_t out_pitch, bool more) {
  std::int64_t i = 0;
  const auto take = [&]<int R>() {
    for (; i + R <= rows; i += R)
      block<C, R, P>(left.from(i), right, pitch, depth, out + i * out_pitch, out_pitch, more);
  };
  take.template operator()<kRows>();
  take.template operator()<4>();
  take.template operator()<2>();
  take.template operator()<1>();
}

/// out = left right, or out += left right if `more` is true. The rows of `right` and `out` consist of whole
/// packets, and only their first `width` elements are used. The pitches are the distances between rows.
template <class C, class L = Left<C>>
void product(std::int64_t rows, std::int64_t width, std::int64_t depth, L left, const C* right,
             std::int64_t pitch, Sum<C>* out, std::int64_t out_pitch, bool more) {
  std::int64_t j = 0;
  const auto take = [&]<int P>() {
    for (; j + (P - 1) * kWidth<C> < width; j += P * kWidth<C>)
      columns<C, P>(rows, left, right + j, pitch, depth, out + j, out_pitch, more);
  };
  take.template operator()<kPackets>();
  if constexpr (kPackets > 2) take.template operator()<2>();
  take.template operator()<1>();
}

}  // namespace ebb::cpu::tiles
