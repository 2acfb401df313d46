// Kernel slots of the random family. They draw from `generator` in torch's order: an element at a time, in
// the order of the elements in memory. The caller checks parameters; the kernels lock the generator.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/random.h>

#include "kernel/slot_list.h"
#include "ops/common/dropout_rule.h"

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

namespace ebb::cpu {

void sample(NdArray& out, ops::Distribution kind, double a, double b, Generator& generator);
/// Integers base + (0 ... range - 1), as out's dtype; a range of 0 stands for 2^64.
void random_integers(NdArray& out, std::uint64_t range, std::int64_t base, Generator& generator);
/// Integers from 0 to the largest of out's dtype, or to 2^digits for floating dtypes.
void random_any(NdArray& out, Generator& generator);
/// out[i] = 1 with probability p[i], else 0; p is floating and has out's shape. Both are contiguous.
void bernoulli(NdArray& out, const NdArray& p, Generator& generator);
/// A permutation of 0 ... n - 1; out is contiguous.
void permutation(NdArray& out, Generator& generator);
/// out [rows, samples] (Long, contiguous): categories drawn with weights [rows, categories] (floating, dense;
/// on devices contiguous).
void multinomial(NdArray& out, const NdArray& weights, bool replacement, Generator& generator);
/// out[i] = a Poisson number of rate rates[i]; both are contiguous, of one floating dtype and shape.
void poisson(NdArray& out, const NdArray& rates, Generator& generator);
/// out[i] = how many of counts[i] trials succeed with probability chances[i]; all are contiguous, of one
/// floating dtype and shape.
void binomial(NdArray& out, const NdArray& counts, const NdArray& chances, Generator& generator);
/// out = x, whose elements `rule` keeps or drops. Both are dense and of one layout; out may be x.
void dropout(NdArray& out, const NdArray& x, const drawing::Dropout& rule);

}  // namespace ebb::cpu

#define EBB_RANDOM_KERNELS(X)    \
  X(sample, "sample");           \
  X(random_integers, "random_"); \
  X(random_any, "random_");      \
  X(bernoulli, "bernoulli");     \
  X(permutation, "randperm");    \
  X(multinomial, "multinomial"); \
  X(poisson, "poisson");         \
  X(binomial, "binomial");       \
  X(dropout, "dropout");
EBB_DECLARE_KERNELS(EBB_RANDOM_KERNELS)
