// Device math functions (exp, log, sin, ...): their errors stay within those stated in the CUDA C++
// Programming Guide ("Maximum ULP Error" of its tables), which differ from the host's. Also the effect of
// fused multiply-add.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <cmath>
#include <functional>

using namespace ebb;

namespace {

using Exact = long double;

struct Function {
  const char* name;
  Tensor (*of)(const Tensor&);
  Exact (*exactly)(Exact);
  double low, high;      // of the arguments
  double single, twice;  // units in the last place, for float and for double
};

const Function kFunctions[] = {
    {"exp", ebb::exp, [](Exact x) { return std::exp(x); }, -80, 80, 2, 1},
    {"exp2", ebb::exp2, [](Exact x) { return std::exp2(x); }, -100, 100, 2, 1},
    {"expm1", ebb::expm1, [](Exact x) { return std::expm1(x); }, -10, 80, 1, 1},
    {"log", ebb::log, [](Exact x) { return std::log(x); }, 1e-6, 1e6, 1, 1},
    {"log2", ebb::log2, [](Exact x) { return std::log2(x); }, 1e-6, 1e6, 1, 1},
    {"log10", ebb::log10, [](Exact x) { return std::log10(x); }, 1e-6, 1e6, 2, 1},
    {"log1p", ebb::log1p, [](Exact x) { return std::log1p(x); }, -0.99, 1e6, 1, 1},
    {"sin", ebb::sin, [](Exact x) { return std::sin(x); }, -1e5, 1e5, 2, 2},
    {"cos", ebb::cos, [](Exact x) { return std::cos(x); }, -1e5, 1e5, 2, 2},
    {"tan", ebb::tan, [](Exact x) { return std::tan(x); }, -1e5, 1e5, 4, 2},
    {"asin", ebb::asin, [](Exact x) { return std::asin(x); }, -1, 1, 2, 2},
    {"acos", ebb::acos, [](Exact x) { return std::acos(x); }, -1, 1, 2, 2},
    {"atan", ebb::atan, [](Exact x) { return std::atan(x); }, -1e5, 1e5, 2, 2},
    {"sinh", ebb::sinh, [](Exact x) { return std::sinh(x); }, -80, 80, 3, 2},
    {"cosh", ebb::cosh, [](Exact x) { return std::cosh(x); }, -80, 80, 2, 1},
    {"tanh", ebb::tanh, [](Exact x) { return std::tanh(x); }, -20, 20, 2, 1},
    {"asinh", ebb::asinh, [](Exact x) { return std::asinh(x); }, -1e5, 1e5, 3, 3},
    {"acosh", ebb::acosh, [](Exact x) { return std::acosh(x); }, 1, 1e5, 4, 3},
    {"atanh", ebb::atanh, [](Exact x) { return std::atanh(x); }, -0.999, 0.999, 3, 2},
    {"erf", ebb::erf, [](Exact x) { return std::erf(x); }, -6, 6, 2, 2},
    {"erfc", ebb::erfc, [](Exact x) { return std::erfc(x); }, -6, 9, 4, 5},
    {"lgamma", ebb::lgamma, [](Exact x) { return std::lgamma(x); }, 3, 1e5, 6, 4},
    {"sqrt", ebb::sqrt, [](Exact x) { return std::sqrt(x); }, 0, 1e6, 0, 0},
    {"rsqrt", ebb::rsqrt, [](Exact x) { return 1 / std::sqrt(x); }, 1e-6, 1e6, 2, 1}};

// The largest distance of f(x) from the exact value, in units in the last place of x's dtype.
double worst(const Tensor& got, const Tensor& x, Exact (*exactly)(Exact)) {
  const int bits = x.dtype() == kFloat ? 24 : 53;
  const Tensor a = got.to(kDouble).cpu().contiguous(), b = x.to(kDouble).contiguous();
  double most = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const Exact want = exactly(b.data_ptr<double>()[i]), is = a.data_ptr<double>()[i];
    if (want == is) continue;
    if (!(std::abs(is - want) < INFINITY)) return INFINITY;
    most = std::max(
        most, static_cast<double>(std::abs(is - want) / std::ldexp(Exact{1}, std::ilogb(want) - bits + 1)));
  }
  return most;
}

}  // namespace

TEST_CASE("math functions on a device stay within the documented error") {
  constexpr std::int64_t n = 5000;
  for (const Function& f : kFunctions) {
    INFO(f.name);
    // Most arguments are near the middle, where these functions change, and some are far out.
    const Tensor unit = linspace(-1, 1, n, kDouble);
    const Tensor middle = unit.pow(3) * ((f.high - f.low) / 2) + (f.high + f.low) / 2;
    const Tensor anywhere = rand({n}, kDouble) * (f.high - f.low) + f.low;
    const Tensor x = cat({middle, anywhere, (unit * 2).clamp(f.low, f.high)}), y = x.to(kFloat);
    // The bounds are rounded to whole units; the emulation has the errors of the host library.
    CHECK(worst(f.of(y.to(Device::CUDA)), y, f.exactly) <= f.single + 0.5);
    CHECK(worst(f.of(x.to(Device::CUDA)), x, f.exactly) <= f.twice + 1);
  }
}

TEST_CASE("pow on a device stays within the documented error") {
  for (const double exponent : {-7.3, -2.5, 0.3, 1.7, 3.0, 9.1}) {
    INFO(exponent);
    static double power;
    power = exponent;
    const auto exactly = [](Exact x) { return std::pow(x, Exact{power}); };
    const Tensor x = rand({5000}, kDouble) * 20 + 1e-3, like = full({5000}, exponent, kDouble);
    CHECK(worst(pow(x.to(Device::CUDA), like.to(Device::CUDA)), x, exactly) <= 2.5);
    power = static_cast<float>(exponent);
    const Tensor y = x.to(kFloat);
    CHECK(worst(pow(y.to(Device::CUDA), like.to(kFloat).to(Device::CUDA)), y, exactly) <= 4.5);
  }
}

TEST_CASE("a fused multiply-add on a device is at least as accurate as separate ops") {
  const Tensor a = randn({20000}), b = randn({20000}), c = randn({20000});
  const auto on = [](const Tensor& t) { return t.to(Device::CUDA); };
  const Tensor exact = a.to(kDouble) + b.to(kDouble) * c.to(kDouble);
  const Tensor size = a.abs().to(kDouble) + (b.to(kDouble) * c.to(kDouble)).abs();
  const Tensor error = (addcmul(on(a), on(b), on(c)).cpu().to(kDouble) - exact).abs();
  CHECK((error <= size * std::ldexp(1.0, -23)).all().item<bool>());
  // Two separate ops are two kernels, and round twice on every device.
  CHECK(equal((on(a) + on(b) * on(c)).cpu(), a + b * c));
  const Tensor w = rand({20000});
  const Tensor between = lerp(on(a), on(b), on(w)).cpu();
  const Tensor bound = (maximum(a.abs(), b.abs()) + (a - b).abs()) * std::ldexp(1.0f, -22);
  CHECK(((between.to(kDouble) - (a.to(kDouble) + w.to(kDouble) * (b.to(kDouble) - a.to(kDouble)))).abs() <=
         bound)
            .all()
            .item<bool>());
}
