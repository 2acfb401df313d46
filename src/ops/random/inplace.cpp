// uniform_, normal_ and other distributions in place.
#include "ops/random/inplace.h"

#include <ebb/core/visit.h>
#include <ebb/ops/creation.h>

#include "kernel/convert.h"
#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/layout.h"

#include <bit>
#include <cstdlib>
#include <limits>

namespace ebb {

namespace ops {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::lowest();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

// The range of integers that convert to a dtype without overflow.
struct IntegerRange {
  std::int64_t low, high;
};

IntegerRange integers_of(DType dtype) {
  switch (dtype) {
    case kBool:
      return {0, 1};
    case kByte:
      return {0, 255};
    case kChar:
      return {-128, 127};
    case kShort:
      return {-32768, 32767};
    case kInt:
      return {std::numeric_limits<std::int32_t>::lowest(), std::numeric_limits<std::int32_t>::max()};
    case kHalf:
      return {-65504, 65504};
    default:
      return {kLowest, kHighest};
  }
}

// Rounds an integer to T, and converts it back.
template <class T>
std::int64_t rounded(std::int64_t x) {
  const auto y = static_cast<double>(convert<T>(x));
  return y < 0x1p63 ? static_cast<std::int64_t>(y) : kHighest;
}
// Returns the distance between adjacent numbers of T near x, where |x| has more than `digits` bits.
template <class T>
std::int64_t gap(std::int64_t x, int digits) {
  return std::int64_t{1} << (std::bit_width(static_cast<std::uint64_t>(std::abs(x))) - digits);
}

// Moves the bounds as torch does, so that integers of [from, to) stay in this range when they are rounded to
// a floating-point dtype.
void narrow(DType dtype, std::int64_t& from, std::int64_t& to) {
  const int digits = std::bit_width(static_cast<std::uint64_t>(largest_random(dtype))) - 1;
  visit_floating(dtype, "random_", [&]<class T> {
    if (const std::int64_t next = rounded<T>(from + 1); next < from) from = next + gap<T>(from + 1, digits);
    if (const std::int64_t last = rounded<T>(to - 1); last >= to) to = last - gap<T>(to - 1, digits);
  });
}

}  // namespace

std::int64_t largest_random(DType dtype) {
  switch (dtype) {
    case kHalf:
      return 1 << 11;
    case kBFloat16:
      return 1 << 8;
    case kFloat:
      return 1 << 24;
    case kDouble:
      return std::int64_t{1} << 53;
    default:
      return integers_of(dtype).high;
  }
}

autograd::GradList RandomBackward::apply(autograd::GradList&& grads) {
  autograd::GradList out(num_outputs());
  for (std::uint32_t i = 0; i < num_outputs(); ++i)
    if (needs(i)) out[i] = zeros_like(grads[0]);
  return out;
}

void check_uniform(const char* op, DType dtype, double from, double to) {
  EBB_CHECK(is_floating(dtype), op, ": dtype ", dtype, " is not supported; expected a floating-point dtype.");
  EBB_CHECK(from <= to, op, ": expects to return a [from, to) range, but found from=", from, " > to=", to,
            ".");
  const double largest = ops::largest_of(dtype);
  EBB_CHECK(from >= -largest && to <= largest && to - from <= largest, op, ": the range from ", from, " to ",
            to, " is out of bounds for ", dtype, ".");
}

void draw_integers(const char* op, NdArray& out, std::int64_t from, std::int64_t to,
                   const optional<Generator>& generator) {
  EBB_CHECK(from < to, op, ": expects 'from' to be less than 'to', but got from=", from, " >= to=", to, ".");
  if (is_floating(out.dtype())) {
    const std::int64_t first = from, end = to;
    narrow(out.dtype(), from, to);
    EBB_CHECK(from < to, op, ": ", out.dtype(), " has no number from ", first, " to ", end - 1,
              ". Use a wider dtype.");
  }
  const IntegerRange can = integers_of(out.dtype());
  EBB_CHECK(from >= can.low && to - 1 <= can.high, op, ": the range from ", from, " to ", to - 1,
            " is out of bounds for ", out.dtype(), ". Use a wider dtype.");
  Generator g = generator_or_default(generator);
  kernels::random_integers(out.device(), out,
                           static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from), from, g);
}

}  // namespace ops

namespace {

using ops::Distribution;

Variable& sample_(const Variable& self, const char* op, const char* node_name, Distribution kind, double a,
                  double b, const optional<Generator>& generator) {
  EBB_CHECK(kind == Distribution::bernoulli || (kind == Distribution::geometric && self.dtype() != kBool) ||
                is_floating(self.dtype()),
            op, ": dtype ", self.dtype(), " is not supported; expected a floating-point dtype.");
  Generator g = ops::generator_or_default(generator);
  return ops::overwrite(self, op, node_name,
                        [&](NdArray& out) { kernels::sample(out.device(), out, kind, a, b, g); });
}

}  // namespace

Variable& uniform_(const Variable& self, double from, double to, const optional<Generator>& generator) {
  ops::check_uniform("uniform_", self.dtype(), from, to);
  return sample_(self, "uniform_", "UniformBackward0", Distribution::uniform, from, to, generator);
}
Variable& normal_(const Variable& self, double mean, double std, const optional<Generator>& generator) {
  EBB_CHECK(std >= 0, "normal_: expects std >= 0.0, but found std ", std, ".");
  return sample_(self, "normal_", "NormalBackward0", Distribution::normal, mean, std, generator);
}
Variable& log_normal_(const Variable& self, double mean, double std, const optional<Generator>& generator) {
  EBB_CHECK(std > 0, "log_normal_: expects std > 0.0, but found std=", std, ".");
  return sample_(self, "log_normal_", "LogNormalBackward0", Distribution::log_normal, mean, std, generator);
}
Variable& exponential_(const Variable& self, double lambd, const optional<Generator>& generator) {
  EBB_CHECK(lambd > 0, "exponential_: expects lambda > 0.0, but found lambda=", lambd, ".");
  return sample_(self, "exponential_", "ExponentialBackward0", Distribution::exponential, lambd, 0,
                 generator);
}
Variable& cauchy_(const Variable& self, double median, double sigma, const optional<Generator>& generator) {
  EBB_CHECK(sigma > 0, "cauchy_: expects sigma > 0.0, but found sigma=", sigma, ".");
  return sample_(self, "cauchy_", "CauchyBackward0", Distribution::cauchy, median, sigma, generator);
}
Variable& geometric_(const Variable& self, double p, const optional<Generator>& generator) {
  EBB_CHECK(p > 0 && p < 1, "geometric_: expects p to be in (0, 1), but got p=", p, ".");
  return sample_(self, "geometric_", "GeometricBackward0", Distribution::geometric, p, 0, generator);
}

Variable& random_(const Variable& self, std::int64_t from, optional<std::int64_t> to,
                  const optional<Generator>& generator) {
  return ops::overwrite(self, "random_", "RandomBackward0", [&](NdArray& out) {
    if (to) return ops::draw_integers("random_", out, from, *to, generator);
    const std::int64_t first = ops::integers_of(out.dtype()).low, last = ops::largest_random(out.dtype());
    EBB_CHECK(from >= first && from <= last, "random_: 'from' must be between ", first, " and ", last,
              " for ", out.dtype(), ", got ", from, ".");
    Generator g = ops::generator_or_default(generator);
    // If `from` is the lowest int64, the integers are drawn from all int64 (a range of 0), also for
    // floating-point dtypes.
    const std::uint64_t range = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(from) + 1;
    kernels::random_integers(out.device(), out, from == ops::kLowest ? 0 : range, from, g);
  });
}
Variable& random_(const Variable& self, std::int64_t to, const optional<Generator>& generator) {
  return ops::overwrite(self, "random_", "RandomBackward1",
                        [&](NdArray& out) { ops::draw_integers("random_", out, 0, to, generator); });
}
Variable& random_(const Variable& self, const optional<Generator>& generator) {
  Generator g = ops::generator_or_default(generator);
  return ops::overwrite(self, "random_", "RandomBackward2",
                        [&](NdArray& out) { kernels::random_any(out.device(), out, g); });
}

Variable& bernoulli_(const Variable& self, double p, const optional<Generator>& generator) {
  EBB_CHECK(p >= 0 && p <= 1, "bernoulli_: expects p to be in [0, 1], but got p=", p, ".");
  return sample_(self, "bernoulli_", "BernoulliBackward2", Distribution::bernoulli, p, 1, generator);
}

Variable& bernoulli_(const Variable& self, const Variable& p, const optional<Generator>& generator) {
  ops::common_device("bernoulli_", self, p);
  EBB_CHECK(is_floating(p.dtype()), "bernoulli_: the probabilities must be floating, got ", p.dtype(), ".");
  const IntArrayRef sizes = self.sizes();
  EBB_CHECK(broadcast_shapes("bernoulli_", sizes, p.sizes()) == DimVector(sizes), "bernoulli_: p of shape ",
            p.sizes(), " does not broadcast to shape ", sizes, ".");
  Generator g = ops::generator_or_default(generator);
  return ops::overwrite(
      self, "bernoulli_", "BernoulliBackward1",
      [&](NdArray& out) {
        // The probabilities in the memory order of out.
        NdArray chances = ops::empty_array_like(out, p.dtype(), p.device());
        ops::copy_array(chances, p.array().expand(sizes));
        const NdArray draws = out.is_dense() ? out : ops::empty_array_like(out, out.dtype(), out.device());
        const auto in_a_row = [](const NdArray& x) { return x.as_strided({x.numel()}, {1}, x.offset()); };
        NdArray row = in_a_row(draws);
        kernels::bernoulli(out.device(), row, in_a_row(chances), g);
        if (!out.is_dense()) ops::copy_array(out, draws);
      },
      p);
}

}  // namespace ebb
