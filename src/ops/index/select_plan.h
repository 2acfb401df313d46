// Chooses the method to select the k-th element of each line (the elements along a dimension), from the shape
// and the size of the device.
#pragma once

#include "kernel/cuda/sort.h"
#include "kernel/grid.h"
#include "kernel/sort_keys.h"

namespace ebb::sort_keys {

/// For lines of at most this length, all pairs of elements are compared.
constexpr std::int64_t kComparedElements = 128;
constexpr int kSelectThreads = 256;
/// A digit has 8 bits, so each thread counts one bin.
constexpr int kDigitBits = 8;

enum class SelectMethod : std::uint8_t {
  compare,  // threads that share a line count how many elements precede each element
  line,     // one block for each line finds the key digit by digit
  pieces,   // several blocks for each line find the key digit by digit
  sort,     // sorting the whole line is as fast
};

struct SelectPlan {
  SelectMethod way = SelectMethod::line;
  std::int64_t pieces = 1, piece = 0;  // the last piece of a line may be shorter
};

/// Plans the selection of `taken` elements from each of `lines` lines of n elements. `taken` is 1 for a
/// single rank.
inline SelectPlan plan_selection(std::int64_t lines, std::int64_t n, std::int64_t taken,
                                 int multiprocessors) {
  constexpr std::int64_t kLeastPiece = 4096,
                         kMostPiece = std::int64_t{1} << 30;  // lengths are counted in 32 bits
  if (n <= kComparedElements) return {SelectMethod::compare, 1, n};
  if (taken > ceil_div(n, 4)) return {SelectMethod::sort, 1, n};
  RowPieces cut = cut_rows(n, lines, 8 * std::int64_t{multiprocessors}, kLeastPiece);
  if (cut.piece > kMostPiece) cut = {ceil_div(n, kMostPiece), kMostPiece};
  return {cut.pieces == 1 ? SelectMethod::line : SelectMethod::pieces, cut.pieces, cut.piece};
}

/// Returns the range of bits in which keys of T can differ. The key of a 16-bit float is the key of its value
/// as float, so the last bits are equal in all of these keys.
template <class T>
constexpr cuda::KeyBits key_bits() {
  if (std::is_same_v<T, bool> || std::is_same_v<T, std::uint8_t>) return {0, 8};
  if (std::is_same_v<T, BFloat16>) return {16, 32};
  if (std::is_same_v<T, Half>) return {13, 32};
  return {0, 8 * static_cast<int>(sizeof(Key<T>))};
}

/// The number of digits that contain the bits of key_bits().
template <class T>
constexpr int digit_count() {
  return (key_bits<T>().to - key_bits<T>().from + kDigitBits - 1) / kDigitBits;
}
/// The lowest bit of digit number `digit`, counted from the top.
template <class T>
constexpr int digit_shift(int digit) {
  return key_bits<T>().to - kDigitBits * (digit + 1);
}
/// A mask that inverts keys (by xor) so that the greatest element comes first.
template <class T>
constexpr Key<T> key_flip(bool descending) {
  constexpr int unused = 8 * static_cast<int>(sizeof(Key<T>)) - key_bits<T>().to;
  return descending ? static_cast<Key<T>>(static_cast<Key<T>>(~Key<T>{0}) >> unused) : Key<T>{0};
}

}  // namespace ebb::sort_keys
