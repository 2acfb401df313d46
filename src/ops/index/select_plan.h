// How the k-th element of each line is found: a pure function of the shape and the device's size.
#pragma once

#include "kernel/cuda/sort.h"
#include "kernel/grid.h"
#include "kernel/sort_keys.h"

namespace ebb::sorting {

/// Lines up to so long are compared element with element.
constexpr std::int64_t kComparedElements = 128;
constexpr int kSelectThreads = 256;
/// Digits of 8 bits: a bin a thread.
constexpr int kDigitBits = 8;

enum class SelectWay : std::uint8_t {
  compare,  // threads that share a line count for each element how many come before it
  line,     // a block a line narrows it down digit by digit
  pieces,   // several blocks a line do
  sort,     // no better than to sort the line
};

struct SelectPlan {
  SelectWay way = SelectWay::line;
  std::int64_t pieces = 1, piece = 0;  // of a line; the last may be shorter
};

/// `taken` elements of each of `lines` lines of n; taken is 1 for a single one.
inline SelectPlan plan_selection(std::int64_t lines, std::int64_t n, std::int64_t taken,
                                 int multiprocessors) {
  constexpr std::int64_t kLeastPiece = 4096, kMostPiece = std::int64_t{1} << 30;  // counted in 32 bits
  if (n <= kComparedElements) return {SelectWay::compare, 1, n};
  if (taken > ceil_div(n, 4)) return {SelectWay::sort, 1, n};
  RowPieces cut = cut_rows(n, lines, 8 * std::int64_t{multiprocessors}, kLeastPiece);
  if (cut.piece > kMostPiece) cut = {ceil_div(n, kMostPiece), kMostPiece};
  return {cut.pieces == 1 ? SelectWay::line : SelectWay::pieces, cut.pieces, cut.piece};
}

/// The bits of a key that tell elements of T apart. The keys of 16-bit floats are those of the floats they
/// widen to, whose last bits are all alike.
template <class T>
constexpr cuda::KeyBits key_bits() {
  if (std::is_same_v<T, bool> || std::is_same_v<T, std::uint8_t>) return {0, 8};
  if (std::is_same_v<T, BFloat16>) return {16, 32};
  if (std::is_same_v<T, Half>) return {13, 32};
  return {0, 8 * static_cast<int>(sizeof(Key<T>))};
}

/// Digits from the top that hold those bits.
template <class T>
constexpr int digit_count() {
  return (key_bits<T>().to - key_bits<T>().from + kDigitBits - 1) / kDigitBits;
}
/// Where the digit with that number, counted from the top, begins.
template <class T>
constexpr int digit_shift(int digit) {
  return key_bits<T>().to - kDigitBits * (digit + 1);
}
/// What turns keys around, so that the greatest element comes first.
template <class T>
constexpr Key<T> turned_key(bool descending) {
  constexpr int unused = 8 * static_cast<int>(sizeof(Key<T>)) - key_bits<T>().to;
  return descending ? static_cast<Key<T>>(static_cast<Key<T>>(~Key<T>{0}) >> unused) : Key<T>{0};
}

}  // namespace ebb::sorting
