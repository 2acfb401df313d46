// Kernel slots of the random family. They draw from `generator` in torch's order: an element at a time, in
// the order of the elements in memory. The caller checks parameters; the kernels lock the generator.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/random.h>

#include "kernel/slot.h"
#include "ops/random/mask.h"

namespace ebb::ops {

/// What sample() draws; `a` and `b` are the parameters in torch's order.
enum class Distribution : std::uint8_t {
  uniform,      // a <= x < b
  normal,       // mean a, standard deviation b
  log_normal,   // exp of the above
  exponential,  // rate a
  cauchy,       // median a, width b
  geometric,    // success probability a
  bernoulli,    // b with probability a, else 0
};

}  // namespace ebb::ops

namespace ebb::kernels {

extern EBB_API
    KernelSlot<void(NdArray& out, ops::Distribution kind, double a, double b, Generator& generator)>
        sample;
/// Integers base + (0 ... range - 1), as out's dtype; a range of 0 stands for 2^64.
extern EBB_API KernelSlot<void(NdArray& out, std::uint64_t range, std::int64_t base, Generator& generator)>
    random_integers;
/// Integers from 0 to the largest of out's dtype, or to 2^digits for floating dtypes.
extern EBB_API KernelSlot<void(NdArray& out, Generator& generator)> random_any;
/// out[i] = 1 with probability p[i], else 0; p is floating and has out's shape.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& p, Generator& generator)> bernoulli;
/// A permutation of 0 ... n - 1; out is contiguous.
extern EBB_API KernelSlot<void(NdArray& out, Generator& generator)> permutation;
/// out [rows, samples] (Long, contiguous): categories drawn with weights [rows, categories] (floating,
/// contiguous).
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& weights, bool replacement, Generator& generator)>
    multinomial;
/// The words of one draw on a device.
extern EBB_API KernelSlot<void(Philox& out, Device device, Generator& generator)> draw_philox;
/// out = x, whose elements `rule` keeps or drops. Both are dense and of one layout; out may be x.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x, const drawing::Dropout& rule)> dropout;

}  // namespace ebb::kernels

namespace ebb::cpu {

void sample(NdArray& out, ops::Distribution kind, double a, double b, Generator& generator);
void random_integers(NdArray& out, std::uint64_t range, std::int64_t base, Generator& generator);
void random_any(NdArray& out, Generator& generator);
void bernoulli(NdArray& out, const NdArray& p, Generator& generator);
void permutation(NdArray& out, Generator& generator);
void multinomial(NdArray& out, const NdArray& weights, bool replacement, Generator& generator);
void draw_philox(Philox& out, Device device, Generator& generator);
void dropout(NdArray& out, const NdArray& x, const drawing::Dropout& rule);

}  // namespace ebb::cpu
