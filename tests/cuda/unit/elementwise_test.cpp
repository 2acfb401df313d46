// Elementwise kernels over all loop variants of map_plan.h: both devices must agree bit for bit on operations
// that round once. Device math functions (exp, log, sin, ...): their errors stay within those stated in the
// CUDA C++ Programming Guide ("Maximum ULP Error" of its tables), which differ from the host's. Also the
// effect of fused multiply-add.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <cmath>
#include <functional>

using namespace ebb;

namespace {

// `of` computes with operands that are views of one array of 5000 elements, on either device.
void check(const std::function<Tensor(const Tensor&)>& of) {
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kInt, kLong, kByte}) {
    INFO(to_string(dtype));
    const Tensor numbers = randint(0, 100, {5000}).to(dtype);
    const Tensor there = of(numbers.to(Device::CUDA));
    CHECK(there.is_cuda());
    CHECK(equal(there.cpu(), of(numbers)));
  }
}

Tensor take(const Tensor& numbers, std::int64_t start, std::int64_t count) {
  return numbers.slice(0, start, start + count);
}

}  // namespace

TEST_CASE("elementwise kernels handle any length and any start offset") {
  for (const std::int64_t count : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 100, 1023, 2049})
    for (const std::int64_t start : {0, 1, 3, 8, 13}) {
      INFO(count << " from " << start);
      check([&](const Tensor& x) { return take(x, start, count) + take(x, start + 16, count); });
    }
}

TEST_CASE("elementwise kernels handle operands with different alignments") {
  check([](const Tensor& x) { return take(x, 0, 999) + take(x, 1, 999); });
  check([](const Tensor& x) { return take(x, 5, 999) * take(x, 2, 999) + take(x, 3, 999); });
}

TEST_CASE("elementwise kernels write to misaligned views") {
  check([](const Tensor& x) {
    Tensor out = x.clone();
    take(out, 3, 1000).add_(take(x, 7, 1000));
    take(out, 1111, 77).copy_(take(x, 0, 77));
    take(out, 2001, 500).fill_(7);
    return out;
  });
}

TEST_CASE("elementwise kernels broadcast a bias over rows and channels") {
  for (const std::int64_t columns : {1, 3, 4, 16, 31, 49, 64}) {
    INFO(columns << " columns");
    check(
        [&](const Tensor& x) { return take(x, 0, 9 * columns).view({9, columns}) + take(x, 1000, columns); });
    check([&](const Tensor& x) {
      return take(x, 0, 24 * columns).view({4, 6, columns}) + take(x, 1001, 6).view({6, 1});
    });
    check([&](const Tensor& x) {
      return take(x, 1, 24 * columns).view({4, 6, columns}) * take(x, 7, 4).view({4, 1, 1});
    });
    check([&](const Tensor& x) { return take(x, 0, 9).view({9, 1}) + take(x, 100, columns); });
  }
}

TEST_CASE("elementwise kernels handle slices with and without steps and transposed operands") {
  check([](const Tensor& x) {
    const Tensor m = take(x, 0, 4096).view({64, 64});
    return m.slice(1, 0, 32) + m.slice(1, 32, 64);
  });
  check([](const Tensor& x) {
    const Tensor m = take(x, 0, 4096).view({64, 64});
    return m.slice(1, 1, 32) + m.slice(1, 30, 61);
  });
  check([](const Tensor& x) { return take(x, 0, 3000).slice(0, 0, 3000, 3) + take(x, 1, 1000); });
  check([](const Tensor& x) {
    const Tensor m = take(x, 0, 4900).view({70, 70});
    return m + m.t();
  });
  check([](const Tensor& x) { return take(x, 0, 2400).view({2, 3, 4, 100}).permute({3, 1, 0, 2}) * 2; });
}

TEST_CASE("elementwise kernels handle large transposed operands") {
  // Rows that are multiples of vectors and tiles, and rows that are not.
  for (const auto& [rows, columns] : {std::pair(160, 112), std::pair(133, 125), std::pair(250, 64)})
    for (const DType dtype : {kFloat, kDouble, kHalf, kByte, kLong}) {
      INFO(to_string(dtype) << ", " << rows << " by " << columns);
      const Tensor a = randint(0, 100, {2, rows, columns}).to(dtype);
      const Tensor b = randint(0, 100, {2, columns, rows}).to(dtype), bias = a.slice(1, 0, 1);
      const auto compare = [&](const auto& op) {
        CHECK(equal(op(a.to(Device::CUDA), b.to(Device::CUDA), bias.to(Device::CUDA)).cpu(), op(a, b, bias)));
      };
      compare([](const Tensor& x, const Tensor& y, const Tensor&) { return x + y.transpose(1, 2); });
      compare([](const Tensor& x, const Tensor& y, const Tensor& z) {
        return where(y.transpose(1, 2) > 50, x, z);
      });
      compare([](const Tensor& x, const Tensor& y, const Tensor&) {
        return x.slice(2, 1) * y.transpose(1, 2).slice(2, 1);
      });
    }
  const Tensor image = randn({3, 24, 25, 23}),
               other = randn({3, 24, 25, 23}).contiguous(MemoryFormat::ChannelsLast);
  CHECK(equal((image.to(Device::CUDA) - other.to(Device::CUDA)).cpu(), image - other));
  CHECK(equal((other.to(Device::CUDA) - image.to(Device::CUDA)).cpu(), other - image));
}

TEST_CASE("elementwise kernels handle results and operands of different element sizes") {
  check([](const Tensor& x) { return take(x, 1, 1001) < take(x, 2, 1001); });
  check([](const Tensor& x) { return where(take(x, 1, 1001) > 50, take(x, 3, 1001), take(x, 1, 1001)); });
  check([](const Tensor& x) {
    return where(take(x, 1, 63) > 50, take(x, 0, 630).view({10, 63}), take(x, 3, 63));
  });
  for (const DType to : {kFloat, kDouble, kHalf, kByte, kBool, kLong})
    check([&](const Tensor& x) { return take(x, 5, 1001).to(to).to(kDouble); });
}

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
