// Kernel slots of the random family. The kernels draw from `generator` in torch's order: element by element,
// in memory order. The caller checks the parameters; the kernels lock the generator.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/random.h>

#include "kernel/call/slot.h"
#include "ops/common/dropout.h"

namespace ebb::ops {

/// Distributions of sample(). `a` and `b` are the parameters in torch's order.
enum class Distribution : std::uint8_t {
  uniform,      // a <= x < b
  normal,       // mean a, standard deviation b
  log_normal,   // exp of a normal number
  exponential,  // rate a
  cauchy,       // median a, width b
  geometric,    // success probability a
  bernoulli,    // b with probability a, otherwise 0
};

}  // namespace ebb::ops

namespace ebb::cpu {

void sample(NdArray& out, ops::Distribution kind, double a, double b, Generator& generator);
/// Draws integers of [base, base + range), converted to out's dtype. A range of 0 means 2^64.
void random_integers(NdArray& out, std::uint64_t range, std::int64_t base, Generator& generator);
/// Draws integers from 0 to the largest number of out's dtype, or to 2^digits for floating-point dtypes.
void random_any(NdArray& out, Generator& generator);
/// Sets out[i] to 1 with probability p[i], otherwise to 0. p is floating-point with the shape of out. Both
/// are contiguous.
void bernoulli(NdArray& out, const NdArray& p, Generator& generator);
/// Computes a permutation of 0 ... n - 1; out is contiguous.
void permutation(NdArray& out, Generator& generator);
/// Draws categories with the weights [rows, categories] into out [rows, samples] (Long, contiguous). The
/// weights are floating-point and dense; on devices they are also contiguous.
void multinomial(NdArray& out, const NdArray& weights, bool replacement, Generator& generator);
/// Draws out[i] from the Poisson distribution of rate rates[i]. Both arrays are contiguous and have the same
/// floating-point dtype and shape.
void poisson(NdArray& out, const NdArray& rates, Generator& generator);
/// Draws out[i], the number of successes in counts[i] trials of probability chances[i]. All arrays are
/// contiguous and have the same floating-point dtype and shape.
void binomial(NdArray& out, const NdArray& counts, const NdArray& chances, Generator& generator);
/// Applies dropout: `rule` selects the elements of x that are kept. Both arrays are dense with the same
/// layout; out may be x.
void dropout(NdArray& out, const NdArray& x, const random::Dropout& rule);

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
