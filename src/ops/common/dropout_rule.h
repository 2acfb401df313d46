// Dropout's mask as a function of the words of a draw: recomputed wherever it is needed, the same on host and
// device.
#pragma once

#include "kernel/philox.h"

namespace ebb::drawing {

struct Dropout {
  Philox philox;
  std::uint64_t threshold;  // of 2^32: words below it keep their element
  double scale;             // of what is kept

  Dropout(const Philox& words, double keep_probability, double kept)
      : philox(words), threshold(static_cast<std::uint64_t>(keep_probability * 4294967296.0)), scale(kept) {}

  /// Elements 4 group ... 4 group + 3, in the order of memory. A dropped element is multiplied by 0, so that
  /// NaN and infinity stay NaN, as with a mask in memory.
  template <class C>
  EBB_HD void operator()(std::uint64_t group, C (&x)[4]) const {
    std::uint32_t words[4];
    philox.words(group, words);
    for (int i = 0; i < 4; ++i) x[i] *= words[i] < threshold ? static_cast<C>(scale) : C(0);
  }
};

}  // namespace ebb::drawing
