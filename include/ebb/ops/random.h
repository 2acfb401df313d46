// Random tensors and dropout. On the CPU, manual_seed(s) gives the numbers that torch draws after
// torch.manual_seed(s).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/random.h>

#include <tuple>

namespace ebb {

/// Returns uniform numbers in [0, 1) (torch.rand). Floating dtypes only, here and for randn.
EBB_API Variable rand(IntArrayRef sizes, const TensorOptions& options = {});
EBB_API Variable rand(IntArrayRef sizes, const optional<Generator>& generator,
                      const TensorOptions& options = {});
EBB_API Variable rand_like(const Variable& x, const TensorOptions& options = {},
                           optional<MemoryFormat> memory_format = nullopt);
/// Returns standard normal numbers (torch.randn).
EBB_API Variable randn(IntArrayRef sizes, const TensorOptions& options = {});
EBB_API Variable randn(IntArrayRef sizes, const optional<Generator>& generator,
                       const TensorOptions& options = {});
EBB_API Variable randn_like(const Variable& x, const TensorOptions& options = {},
                            optional<MemoryFormat> memory_format = nullopt);
/// Returns integers low <= x < high, in any dtype (torch.randint).
EBB_API Variable randint(std::int64_t high, IntArrayRef sizes, const TensorOptions& options = kLong);
EBB_API Variable randint(std::int64_t high, IntArrayRef sizes, const optional<Generator>& generator,
                         const TensorOptions& options = kLong);
EBB_API Variable randint(std::int64_t low, std::int64_t high, IntArrayRef sizes,
                         const TensorOptions& options = kLong);
EBB_API Variable randint(std::int64_t low, std::int64_t high, IntArrayRef sizes,
                         const optional<Generator>& generator, const TensorOptions& options = kLong);
EBB_API Variable randint_like(const Variable& x, std::int64_t high, const TensorOptions& options = {},
                              optional<MemoryFormat> memory_format = nullopt);
EBB_API Variable randint_like(const Variable& x, std::int64_t low, std::int64_t high,
                              const TensorOptions& options = {},
                              optional<MemoryFormat> memory_format = nullopt);
/// Returns a permutation of 0 ... n - 1 (torch.randperm).
EBB_API Variable randperm(std::int64_t n, const TensorOptions& options = kLong);
EBB_API Variable randperm(std::int64_t n, const optional<Generator>& generator,
                          const TensorOptions& options = kLong);

/// Returns normal numbers with the given means and standard deviations, which broadcast (torch.normal). The
/// gradients with respect to mean and std are zero. Throws for a negative standard deviation.
EBB_API Variable normal(const Variable& mean, double std = 1, const optional<Generator>& generator = nullopt);
EBB_API Variable normal(double mean, const Variable& std, const optional<Generator>& generator = nullopt);
EBB_API Variable normal(const Variable& mean, const Variable& std,
                        const optional<Generator>& generator = nullopt);
EBB_API Variable normal(double mean, double std, IntArrayRef sizes,
                        const optional<Generator>& generator = nullopt, const TensorOptions& options = {});

/// Returns 1 with probability p[i], otherwise 0, in p's dtype. The gradient is zero (torch.bernoulli). Throws
/// for p outside [0, 1].
EBB_API Variable bernoulli(const Variable& p, const optional<Generator>& generator = nullopt);
/// Returns 1 with probability p, otherwise 0, in x's shape and dtype.
EBB_API Variable bernoulli(const Variable& x, double p, const optional<Generator>& generator = nullopt);

/// Returns category indices drawn with the weights of each row, Long [num_samples] or [rows, num_samples].
/// Weights need not sum to one. Without replacement no index occurs twice (torch.multinomial). Throws for
/// weights that are negative or not finite. Without replacement, also throws if fewer weights are positive
/// than samples are drawn. torch draws elements of weight 0 in this case.
EBB_API Variable multinomial(const Variable& weights, std::int64_t num_samples, bool replacement = false,
                             const optional<Generator>& generator = nullopt);

/// Returns Poisson numbers with these rates, in the floating dtype of the rates. The gradient is zero
/// (torch.poisson). Throws for a negative rate.
EBB_API Variable poisson(const Variable& self, const optional<Generator>& generator = nullopt);
/// Returns the number of successes in count[i] trials with probability prob[i], in the floating dtype of
/// both. Both broadcast, and the gradients are zero (torch.binomial). Negative counts are clamped to 0, and
/// probabilities to [0, 1].
EBB_API Variable binomial(const Variable& count, const Variable& prob,
                          const optional<Generator>& generator = nullopt);

// In-place ops. The gradient of the overwritten value is zero.

/// Fills with uniform numbers in [from, to).
EBB_API Variable& uniform_(const Variable& self, double from = 0, double to = 1,
                           const optional<Generator>& generator = nullopt);
EBB_API Variable& normal_(const Variable& self, double mean = 0, double std = 1,
                          const optional<Generator>& generator = nullopt);
/// Fills with exp(x), where x is a normal number with the given mean and standard deviation.
EBB_API Variable& log_normal_(const Variable& self, double mean = 1, double std = 2,
                              const optional<Generator>& generator = nullopt);
/// Fills with exponential numbers of density lambd * exp(-lambd * x).
EBB_API Variable& exponential_(const Variable& self, double lambd = 1,
                               const optional<Generator>& generator = nullopt);
EBB_API Variable& cauchy_(const Variable& self, double median = 0, double sigma = 1,
                          const optional<Generator>& generator = nullopt);
/// Fills with geometric numbers: the number of trials up to the first success of probability p, 0 < p < 1.
EBB_API Variable& geometric_(const Variable& self, double p, const optional<Generator>& generator = nullopt);
/// Fills with integers from <= x < to. Without `to`, the largest number is the dtype's maximum (2^digits for
/// floating dtypes).
EBB_API Variable& random_(const Variable& self, std::int64_t from, optional<std::int64_t> to,
                          const optional<Generator>& generator = nullopt);
EBB_API Variable& random_(const Variable& self, std::int64_t to,
                          const optional<Generator>& generator = nullopt);
EBB_API Variable& random_(const Variable& self, const optional<Generator>& generator = nullopt);
/// Fills with 1 with probability p, otherwise 0. A tensor p broadcasts to self's shape.
EBB_API Variable& bernoulli_(const Variable& self, const Variable& p,
                             const optional<Generator>& generator = nullopt);
EBB_API Variable& bernoulli_(const Variable& self, double p = 0.5,
                             const optional<Generator>& generator = nullopt);

// Dropout: sets random elements to zero and scales the others, so that the expected value does not change
// (Srivastava et al. 2014).

/// Returns x * mask / (1 - p), where the mask is 0 with probability p. Returns x itself if `train` is false
/// or p is 0. Throws unless 0 <= p <= 1 (torch.dropout).
EBB_API Variable dropout(const Variable& x, double p, bool train);
EBB_API Variable& dropout_(const Variable& self, double p, bool train);
/// Sets whole channels x[n, c, ...] to zero, with one random number for each (n, c) (torch.feature_dropout).
/// With `train`, throws for fewer than two dimensions.
EBB_API Variable feature_dropout(const Variable& x, double p, bool train);
EBB_API Variable& feature_dropout_(const Variable& self, double p, bool train);
/// Dropout that preserves the mean 0 and variance 1 of self-normalizing networks. Dropped elements become the
/// negative limit of SELU (Klambauer et al. 2017; torch.alpha_dropout).
EBB_API Variable alpha_dropout(const Variable& x, double p, bool train);
EBB_API Variable& alpha_dropout_(const Variable& self, double p, bool train);
EBB_API Variable feature_alpha_dropout(const Variable& x, double p, bool train);
EBB_API Variable& feature_alpha_dropout_(const Variable& self, double p, bool train);

/// Returns dropout and its mask, which is true for elements that are not dropped. If `train` is false
/// (nullopt means true), returns the input and a mask of true. (torch.native_dropout)
EBB_API std::tuple<Variable, Variable> native_dropout(const Variable& input, double p, optional<bool> train);

/// x if x > 0, otherwise a x. In training the slope a is drawn from U(lower, upper) for each element. In
/// evaluation it is (lower + upper) / 2 (Xu et al. 2015; torch.rrelu).
EBB_API Variable rrelu(const Variable& self, const Scalar& lower = 1.0 / 8, const Scalar& upper = 1.0 / 3,
                       bool training = false, const optional<Generator>& generator = nullopt);
EBB_API Variable& rrelu_(const Variable& self, const Scalar& lower = 1.0 / 8, const Scalar& upper = 1.0 / 3,
                         bool training = false, const optional<Generator>& generator = nullopt);

/// Computes rrelu and stores its slopes in `noise`, which has self's shape and dtype. In training they are
/// drawn from U(lower, upper) where self <= 0, and are 1 elsewhere. In evaluation noise does not change.
/// (torch.rrelu_with_noise)
EBB_API Variable rrelu_with_noise(const Variable& self, const Variable& noise, const Scalar& lower = 0.125,
                                  const Scalar& upper = 1.0 / 3, bool training = false,
                                  const optional<Generator>& generator = {});
EBB_API Variable& rrelu_with_noise_(const Variable& self, const Variable& noise, const Scalar& lower = 0.125,
                                    const Scalar& upper = 1.0 / 3, bool training = false,
                                    const optional<Generator>& generator = {});
/// Computes rrelu_with_noise and returns the slopes as a second result.
EBB_API std::tuple<Variable, Variable> rrelu_with_noise_functional(
    const Variable& self, const Variable& noise, const Scalar& lower = 0.125, const Scalar& upper = 1.0 / 3,
    bool training = false, const optional<Generator>& generator = {});

/// libtorch's spelling: `make_generator<CPUGeneratorImpl>(seed)`.
using CPUGeneratorImpl = Generator;
template <class Impl, class... Args>
Generator make_generator(Args... args) {
  return Impl(args...);
}
namespace detail {
inline Generator createCPUGenerator(std::uint64_t seed = 67280421310721ull) { return Generator(seed); }
inline Generator& getDefaultCPUGenerator() { return default_generator(); }
}  // namespace detail

}  // namespace ebb
