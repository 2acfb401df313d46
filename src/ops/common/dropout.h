// Dropout whose mask is a function of a Philox state. This file declares the rule that computes the mask, and
// the kernel slot that takes the state from a generator. The mask is recomputed instead of stored, and is the
// same on host and device.
#pragma once

#include <ebb/core/device.h>
#include <ebb/core/dtype.h>
#include <ebb/core/random.h>

#include "kernel/call/slot.h"
#include "kernel/philox.h"

namespace ebb::random {

struct Dropout {
  Philox philox;
  std::uint32_t last;  // an element is kept if its random word is <= last
  double scale;        // the factor of the elements that are kept

  Dropout(const Philox& words, double keep_probability, double kept) : philox(words), scale(kept) {
    // The number of random words, out of 2^32, that keep an element.
    const auto below = static_cast<std::uint64_t>(keep_probability * 4294967296.0);
    last = static_cast<std::uint32_t>(below - 1);
    if (below == 0) scale = 0;  // p = 1: all elements are multiplied by 0
  }

  /// Applies dropout to x: x[i] contains the elements [4 * groups[i], 4 * groups[i] + 4) in the order of
  /// memory. A dropped element is multiplied by 0, so that NaN and infinity become NaN, as with a mask in
  /// memory.
  template <class C, int N>
  EBB_HD void operator()(const std::uint64_t (&groups)[N], C (&x)[N][4]) const {
    const C kept = static_cast<C>(scale);
    std::uint32_t words[N][4];
    philox.words(groups, words);
    for (int n = 0; n < N; ++n)
      for (int i = 0; i < 4; ++i) x[n][i] *= words[n][i] <= last ? kept : C(0);
  }
  template <class C>
  EBB_HD void operator()(std::uint64_t group, C (&x)[4]) const {
    const std::uint64_t groups[1] = {group};
    C all[1][4] = {{x[0], x[1], x[2], x[3]}};
    (*this)(groups, all);
    for (int i = 0; i < 4; ++i) x[i] = all[0][i];
  }
};

}  // namespace ebb::random

namespace ebb::cpu {

/// Takes the Philox state for one call of dropout from the generator. Dropout and attention save this state
/// for backward.
void draw_philox(Philox& out, Device device, Generator& generator);

}  // namespace ebb::cpu

#define EBB_DRAW_PHILOX_KERNELS(X) X(draw_philox, "dropout");
EBB_DECLARE_KERNELS(EBB_DRAW_PHILOX_KERNELS)

namespace ebb::ops {

/// Returns the factor of the elements that dropout keeps, 1 / (1 - p). The division is computed in Float, or
/// in Double for Double.
inline double kept_factor(DType dtype, double p) {
  return dtype == kDouble ? 1 / (1 - p) : double{1 / static_cast<float>(1 - p)};
}

/// Returns the dropout rule of probability p, with a Philox state from the default generator.
inline random::Dropout draw_dropout(Device device, DType dtype, double p) {
  Philox philox;
  Generator generator = default_generator();
  kernels::draw_philox(device, philox, device, generator);
  return {philox, 1 - p, kept_factor(dtype, p)};
}

}  // namespace ebb::ops
