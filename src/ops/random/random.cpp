// New random tensors: rand, randn, randint, randperm, normal, poisson, binomial and others.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/layout.h"
#include "ops/random/inplace.h"

namespace ebb {
namespace {

using ops::Distribution;

Variable sampled(const char* op, NdArray data, Distribution kind, double a, double b,
                 const optional<Generator>& generator, const TensorOptions& options) {
  EBB_CHECK(is_floating(data.dtype()), op, ": dtype ", data.dtype(),
            " is not supported; expected a floating-point dtype.");
  Generator g = ops::generator_or_default(generator);
  kernels::sample(data.device(), data, kind, a, b, g);
  return ops::finish(std::move(data), options);
}

Variable sampled_like(const char* op, const Variable& x, Distribution kind, const TensorOptions& options,
                      optional<MemoryFormat> format) {
  return sampled(op, ops::LikeRequest(op, x, options, format).array(x), kind, 0, 1, nullopt, options);
}

Variable integers(const char* op, NdArray data, std::int64_t low, std::int64_t high,
                  const optional<Generator>& generator, const TensorOptions& options) {
  ops::draw_integers(op, data, low, high, generator);
  return ops::finish(std::move(data), options);
}

}  // namespace

Variable rand(IntArrayRef sizes, const TensorOptions& options) { return rand(sizes, nullopt, options); }
Variable rand(IntArrayRef sizes, const optional<Generator>& generator, const TensorOptions& options) {
  return sampled("rand", ops::fresh_array("rand", sizes, options), Distribution::uniform, 0, 1, generator,
                 options);
}
Variable rand_like(const Variable& x, const TensorOptions& options, optional<MemoryFormat> memory_format) {
  return sampled_like("rand_like", x, Distribution::uniform, options, memory_format);
}
Variable randn(IntArrayRef sizes, const TensorOptions& options) { return randn(sizes, nullopt, options); }
Variable randn(IntArrayRef sizes, const optional<Generator>& generator, const TensorOptions& options) {
  return sampled("randn", ops::fresh_array("randn", sizes, options), Distribution::normal, 0, 1, generator,
                 options);
}
Variable randn_like(const Variable& x, const TensorOptions& options, optional<MemoryFormat> memory_format) {
  return sampled_like("randn_like", x, Distribution::normal, options, memory_format);
}

Variable randint(std::int64_t high, IntArrayRef sizes, const TensorOptions& options) {
  return randint(0, high, sizes, nullopt, options);
}
Variable randint(std::int64_t high, IntArrayRef sizes, const optional<Generator>& generator,
                 const TensorOptions& options) {
  return randint(0, high, sizes, generator, options);
}
Variable randint(std::int64_t low, std::int64_t high, IntArrayRef sizes, const TensorOptions& options) {
  return randint(low, high, sizes, nullopt, options);
}
Variable randint(std::int64_t low, std::int64_t high, IntArrayRef sizes, const optional<Generator>& generator,
                 const TensorOptions& options) {
  return integers("randint", ops::fresh_array("randint", sizes, options), low, high, generator, options);
}
Variable randint_like(const Variable& x, std::int64_t high, const TensorOptions& options,
                      optional<MemoryFormat> memory_format) {
  return randint_like(x, 0, high, options, memory_format);
}
Variable randint_like(const Variable& x, std::int64_t low, std::int64_t high, const TensorOptions& options,
                      optional<MemoryFormat> memory_format) {
  const ops::LikeRequest request("randint_like", x, options, memory_format);
  return integers("randint_like", request.array(x), low, high, nullopt, options);
}

Variable randperm(std::int64_t n, const TensorOptions& options) { return randperm(n, nullopt, options); }
Variable randperm(std::int64_t n, const optional<Generator>& generator, const TensorOptions& options) {
  EBB_CHECK(n >= 0, "randperm: n must be non-negative, got ", n, ".");
  const TensorOptions typed = options.dtype(options.dtype_or(kLong));
  if (n > 0) ops::check_fits("randperm", n - 1, typed.dtype());
  EBB_CHECK(!is_floating(typed.dtype()) || n - 1 <= ops::largest_random(typed.dtype()),
            "randperm: ", typed.dtype(), " cannot hold all integers below ", n, ". Use a wider dtype.");
  NdArray data = ops::fresh_array("randperm", {n}, typed);
  Generator g = ops::generator_or_default(generator);
  kernels::permutation(data.device(), data, g);
  return ops::finish(std::move(data), typed);
}

Variable bernoulli(const Variable& p, const optional<Generator>& generator) {
  EBB_CHECK(is_floating(p.dtype()), "bernoulli: the probabilities must be floating, got ", p.dtype(), ".");
  NdArray out = NdArray::empty(p.sizes(), p.dtype(), p.device());
  NdArray chances = p.array();
  if (!chances.is_contiguous()) {
    chances = NdArray::empty(p.sizes(), p.dtype(), p.device());
    ops::copy_array(chances, p.array());
  }
  Generator g = ops::generator_or_default(generator);
  kernels::bernoulli(out.device(), out, chances, g);
  return ops::drawn(std::move(out), "BernoulliBackward0", p);
}
Variable bernoulli(const Variable& x, double p, const optional<Generator>& generator) {
  return bernoulli_(empty_like(x), p, generator);
}

Variable multinomial(const Variable& weights, std::int64_t num_samples, bool replacement,
                     const optional<Generator>& generator) {
  EBB_CHECK(weights.dim() == 1 || weights.dim() == 2, "multinomial: prob_dist must be 1 or 2 dim, got shape ",
            weights.sizes(), ".");
  EBB_CHECK(is_floating(weights.dtype()), "multinomial: only supports floating-point dtypes for input, got ",
            weights.dtype(), ".");
  EBB_CHECK(num_samples > 0, "multinomial: cannot sample n_sample <= 0 samples, got ", num_samples, ".");
  const std::int64_t categories = weights.size(-1), rows = weights.dim() == 2 ? weights.size(0) : 1;
  EBB_CHECK(replacement || num_samples <= categories,
            "multinomial: cannot sample n_sample > prob_dist.size(-1) samples ",
            "without replacement: ", num_samples, " of ", categories, ".");
  EBB_CHECK(categories > 0 && categories <= 1 << 24,
            "multinomial: the number of categories must be from 1 to 2^24, got ", categories, ".");
  // The noise is drawn in the memory order of the weights.
  const bool on_cpu = weights.is_cpu();
  NdArray flat = ops::empty_array_like(weights.array(), weights.dtype(), weights.device(),
                                       on_cpu ? MemoryFormat::Preserve : MemoryFormat::Contiguous);
  ops::copy_array(flat, weights.array());
  if (weights.dim() == 1) flat = flat.as_strided({rows, categories}, {categories, 1}, 0);
  NdArray out = NdArray::empty({rows, num_samples}, kLong, weights.device());
  Generator g = ops::generator_or_default(generator);
  // A single draw uses the algorithm without replacement, as in torch, so that it gives the same numbers.
  const bool again = replacement && (num_samples > 1 || !on_cpu);
  if (rows > 0) kernels::multinomial(out.device(), out, flat, again, g);
  return Variable(weights.dim() == 2 ? out : out.as_strided({num_samples}, {1}, 0));
}

namespace {

NdArray standard(IntArrayRef sizes, const Variable& like, double mean, double std,
                 const optional<Generator>& generator) {
  EBB_CHECK(is_floating(like.dtype()), "normal: dtype ", like.dtype(),
            " is not supported; expected a floating dtype.");
  NdArray out = NdArray::empty(sizes, like.dtype(), like.device());
  Generator g = ops::generator_or_default(generator);
  kernels::sample(out.device(), out, ops::Distribution::normal, mean, std, g);
  return out;
}

void check_deviation(double std) {
  EBB_CHECK(std >= 0, "normal: expects all elements of std >= 0.0, but found ", std, ".");
}
void check_deviations(const Variable& std) {
  ops::check_true("normal", std.detach().ge(0),
                  "expects all elements of std >= 0.0, but found a negative or NaN one.");
}

}  // namespace

Variable normal(const Variable& mean, double std, const optional<Generator>& generator) {
  check_deviation(std);
  Variable noise(standard(mean.sizes(), mean, 0, std, generator));
  noise.add_(mean.detach());
  return ops::drawn(noise.array(), "NormalBackward1", mean);
}

Variable normal(double mean, const Variable& std, const optional<Generator>& generator) {
  check_deviations(std);
  Variable noise(standard(std.sizes(), std, 0, 1, generator));
  noise.mul_(std.detach()).add_(mean);
  return ops::drawn(noise.array(), "NormalBackward2", std);
}

Variable normal(const Variable& mean, const Variable& std, const optional<Generator>& generator) {
  ops::common_device("normal", mean, std);
  check_deviations(std);
  const DimVector sizes = broadcast_shapes("normal", mean.sizes(), std.sizes());
  Variable noise(standard(sizes, mean, 0, 1, generator));
  noise.mul_(std.detach()).add_(mean.detach());
  return ops::drawn(noise.array(), "NormalBackward3", mean, std);
}

Variable normal(double mean, double std, IntArrayRef sizes, const optional<Generator>& generator,
                const TensorOptions& options) {
  Variable out = empty(sizes, options.requires_grad(false));
  normal_(out, mean, std, generator);
  if (options.requires_grad()) out.set_requires_grad(true);
  return out;
}

Variable poisson(const Variable& self, const optional<Generator>& generator) {
  EBB_CHECK(self.defined() && is_floating(self.dtype()), "poisson: the rates must be floating, got ", self,
            ". Convert them with .to(kFloat).");
  NdArray out = NdArray::empty(self.sizes(), self.dtype(), self.device());
  Generator g = ops::generator_or_default(generator);
  kernels::poisson(out.device(), out, ops::contiguous_array(self.array()), g);
  return ops::drawn(std::move(out), "PoissonBackward0", self);
}

Variable binomial(const Variable& count, const Variable& prob, const optional<Generator>& generator) {
  const Device device = ops::common_device("binomial", count, prob);
  ops::check_same_dtype("binomial", count, prob);
  EBB_CHECK(is_floating(count.dtype()), "binomial: counts and probabilities must be floating, got ",
            count.dtype(), ". Convert them with .to(kFloat).");
  const DimVector sizes = broadcast_shapes("binomial", count.sizes(), prob.sizes());
  NdArray out = NdArray::empty(sizes, count.dtype(), device);
  Generator g = ops::generator_or_default(generator);
  kernels::binomial(device, out, ops::contiguous_array(count.array().expand(sizes)),
                    ops::contiguous_array(prob.array().expand(sizes)), g);
  return ops::drawn(std::move(out), "BinomialBackward0", count, prob);
}

}  // namespace ebb
