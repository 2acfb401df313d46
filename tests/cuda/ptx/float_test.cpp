// PTX floats of 64, 32 and 16 bits, compared with those of the host and with the nearest value of the format.
#include "support.h"

// Floats of 32 and 64 bits, compared with those of the host.

namespace ebb::ptx::testing {
namespace {

// Reads through volatile variables, so that no compiler computes before the rounding mode is set.
template <class F, class... T>
auto rounded(int mode, F function, T... values) {
  std::fesetround(mode);
  const auto read = [](auto value) {
    const volatile auto kept = value;
    return static_cast<decltype(value)>(kept);
  };
  const volatile auto result = function(read(values)...);
  std::fesetround(FE_TONEAREST);
  return static_cast<std::decay_t<decltype(function(values...))>>(result);
}

template <class T>
T flush(T number) {
  return std::fpclassify(number) == FP_SUBNORMAL ? std::copysign(T(0), number) : number;
}
template <class T>
T clamp(T number) {
  return number > 1 ? T(1) : number > 0 ? number : T(0);
}
template <class T>
bool is_least(T a, T b) {
  return a < b || (a == b && std::signbit(a));
}

const auto add = [](auto a, auto b) { return a + b; };
const auto subtract = [](auto a, auto b) { return a - b; };
const auto multiply = [](auto a, auto b) { return a * b; };
const auto divide = [](auto a, auto b) { return a / b; };
const auto fused = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
const auto root = [](auto a) { return std::sqrt(a); };
const auto reciprocal = [](auto a) { return 1 / a; };

// Checks an operation in each rounding mode, plain and, for 32 bits, with .ftz and .sat.
template <class T, class F, class... Tables>
void check_rounded(const std::string& op, F function, bool saturates, const Tables&... tables) {
  for (const auto& [name, number] : kModes) {
    const int mode = number;
    const auto plain = [&](auto... v) { return rounded(mode, function, v...); };
    const std::string head = op + "." + name;
    agrees<T>(typed<T>(head), in(tables...), plain);
    if constexpr (sizeof(T) == 4) {
      const auto flushed = [&](auto... v) { return flush(plain(flush(v)...)); };
      agrees<T>(typed<T>(head + ".ftz"), in(tables...), flushed);
      if (!saturates) continue;
      agrees<T>(typed<T>(head + ".sat"), in(tables...), [&](auto... v) { return clamp(plain(v...)); });
      agrees<T>(typed<T>(head + ".ftz.sat"), in(tables...), [&](auto... v) { return clamp(flushed(v...)); });
    }
  }
}

}  // namespace

TEST_CASE("Float arithmetic rounds once in each mode", "[ptx]") {
  for_types<float, double>([]<class T>(T) {
    const auto v = floats<T>(), some = floats<T>(4);
    check_rounded<T>("add", add, true, v, v);
    check_rounded<T>("sub", subtract, true, v, v);
    check_rounded<T>("mul", multiply, true, v, v);
    check_rounded<T>("div", divide, false, v, v);
    check_rounded<T>("fma", fused, true, some, some, some);
    check_rounded<T>("sqrt", root, false, v);
    check_rounded<T>("rcp", reciprocal, false, v);
    agrees<T>(typed<T>("add"), v, add);
    agrees<T>(typed<T>("sub"), v, subtract);
    agrees<T>(typed<T>("mul"), v, multiply);
    agrees<T>(typed<T>("mad.rn"), some, fused);
  });
}

TEST_CASE("Rounding down and rounding up enclose the exact result", "[ptx]") {
  const std::vector<float> one{1}, little{0x1p-60F, -0x1p-60F};
  const auto sum = [&](const char* mode, bool second) {
    return evaluate<float>(std::string("add.") + mode + ".f32 %d, %a, %b;", std::vector<float>{1, 1},
                           little)[second];
  };
  CHECK(sum("rp", false) == std::nextafter(1.0F, 2.0F));
  CHECK(sum("rm", true) == std::nextafter(1.0F, 0.0F));
  CHECK(sum("rz", true) == std::nextafter(1.0F, 0.0F));
  CHECK((sum("rm", false) == 1 && sum("rz", false) == 1 && sum("rp", true) == 1 && sum("rn", true) == 1));
  CHECK(std::signbit(evaluate<float>("sub.rm.f32 %d, %a, %a;", one)[0]));
  CHECK(!std::signbit(evaluate<float>("sub.rp.f32 %d, %a, %a;", one)[0]));
}

TEST_CASE("neg and abs and copysign do not round", "[ptx]") {
  for_types<float, double>([]<class T>(T) {
    const auto v = floats<T>();
    agrees<T>(typed<T>("neg"), v, [](T a) { return -a; });
    agrees<T>(typed<T>("abs"), v, [](T a) { return std::fabs(a); });
    agrees<T>(typed<T>("copysign"), v, [](T a, T b) { return std::copysign(b, a); });
  });
  const auto v = floats<float>();
  agrees<float>("neg.ftz.f32", v, [](float a) { return -flush(a); });
  agrees<float>("abs.ftz.f32", v, [](float a) { return std::fabs(flush(a)); });
}

TEST_CASE("min and max order signed zeros, and ignore NaN unless they have the modifier .NaN", "[ptx]") {
  for_types<float, double>([]<class T>(T) {
    const auto v = floats<T>();
    const auto least = [](T a, T b) { return std::isnan(a) ? b : std::isnan(b) || is_least(a, b) ? a : b; };
    const auto either = [](T a, T b) { return std::isnan(a) || std::isnan(b); };
    const auto most = [](T a, T b) { return std::isnan(a) ? b : std::isnan(b) || !is_least(a, b) ? a : b; };
    agrees<T>(typed<T>("min"), v, least);
    agrees<T>(typed<T>("max"), v, most);
    if constexpr (sizeof(T) == 4) {
      agrees<T>(typed<T>("min.ftz"), v, [&](T a, T b) { return least(flush(a), flush(b)); });
      agrees<T>(typed<T>("max.ftz"), v, [&](T a, T b) { return most(flush(a), flush(b)); });
      agrees<T>(typed<T>("min.NaN"), v, [&](T a, T b) { return either(a, b) ? T(NAN) : least(a, b); });
      agrees<T>(typed<T>("max.NaN"), v, [&](T a, T b) { return either(a, b) ? T(NAN) : most(a, b); });
    }
  });
  const std::vector<float> number{1}, nan{NAN};
  for (const char* op : {"min", "max"}) {
    const auto bits = [&](const std::string& modifier, const std::vector<float>& a) {
      return evaluate<u32>(op + modifier + ".f32 %d, %a, %b;", a, nan)[0];
    };
    CHECK(bits(".NaN", number) == 0x7fffffff);
    CHECK(bits("", nan) == 0x7fffffff);
  }
}

TEST_CASE("Approximate functions are accurate, and exact at zeros and infinities", "[ptx]") {
  auto v = floats<float>(60);
  for (int n = -40; n < 40; ++n)
    v.push_back(static_cast<float>(n) * 0.1F), v.push_back(static_cast<float>(n * 4));
  struct Row {
    const char* op;
    double (*function)(double);
    int bits;
  };
  const Row rows[] = {{"rcp", [](double a) { return 1 / a; }, 22},
                      {"sqrt", [](double a) { return std::sqrt(a); }, 22},
                      {"rsqrt", [](double a) { return 1 / std::sqrt(a); }, 22},
                      {"ex2", [](double a) { return std::exp2(a); }, 22},
                      {"lg2", [](double a) { return std::log2(a); }, 22},
                      {"sin", [](double a) { return std::sin(a); }, 20},
                      {"cos", [](double a) { return std::cos(a); }, 20},
                      {"tanh", [](double a) { return std::tanh(a); }, 10}};
  for (const auto& [op, function, bits] : rows) {
    const auto near = [f = function, n = bits](float a) {
      return Near{static_cast<float>(f(a)), std::ldexp(1, -n)};
    };
    agrees<float>(std::string(op) + ".approx.f32", v, near);
    const auto flushed = [&](float a) {
      return Near{flush(static_cast<float>(near(flush(a)).value)), near(a).tolerance};
    };
    if (op != std::string("tanh")) agrees<float>(std::string(op) + ".approx.ftz.f32", v, flushed);
  }
  const std::vector<float> divisors{3, -0.75F, 0x1p60F, 0x1p-60F, 7};
  for (const char* op : {"div.full.f32", "div.approx.f32", "div.full.ftz.f32", "div.approx.ftz.f32"})
    agrees<float>(std::string(op), in(std::vector<float>{0, 1, -5, 1e20F, 1e-15F, INFINITY, NAN}, divisors),
                  [](float a, float b) { return Near{double{a / b}, 0x1p-21}; });
}

TEST_CASE("64-bit approximations with .ftz read and write only the upper word", "[ptx]") {
  const auto upper = [](double a) {
    return std::bit_cast<double>(std::bit_cast<u64>(a) & 0xffffffff00000000);
  };
  auto v = floats<double>(60);
  v.push_back(std::bit_cast<double>(u64{0x7ff0000000000001}));  // infinity, as the lower word is ignored
  const auto read = [&](double a) { return flush(upper(a)); };
  agrees<double>("rcp.approx.ftz.f64", v, [&](double a) { return Near{flush(1 / read(a)), 0x1p-19}; });
  agrees<double>("rsqrt.approx.ftz.f64", v, [&](double a) { return Near{1 / std::sqrt(read(a)), 0x1p-19}; });
  agrees<double>("rsqrt.approx.f64", v, [](double a) { return Near{1 / std::sqrt(a), 0x1p-50}; });
  for (const char* op : {"rcp", "rsqrt"}) {
    const auto bits = [&](double a) {
      return evaluate<u64>(std::string(op) + ".approx.ftz.f64 %d, %a;", std::vector<double>{a})[0];
    };
    CHECK((bits(3) & 0xffffffff) == 0);
    CHECK(bits(NAN) == 0x7fffffff00000000);
    CHECK(bits(-0.0) == 0xfff0000000000000);
    CHECK(bits(-std::numeric_limits<double>::denorm_min()) == 0xfff0000000000000);
  }
}

// Floats of 16 bits, compared with the nearest value of the format.

namespace {

template <class F>
void for_formats(F check) {
  for (const Format format : {kHalf, kBrain}) check(format);
}

std::vector<u16> all_numbers() {
  std::vector<u16> made(65536);
  for (std::size_t n = 0; n < made.size(); ++n) made[n] = static_cast<u16>(n);
  return made;
}

/// Checks an instruction for single values, and for pairs of different ones.
template <class F>
void check_binary(const std::string& head, Format format, F expected, const std::vector<u16>& v) {
  const std::string type = head + "." + format.name;
  agrees<u16>(type, v, expected);
  const auto both = [&](u32 a, u32 b) {
    return u32{expected(static_cast<u16>(a >> 16), static_cast<u16>(b >> 16))} << 16 |
           expected(static_cast<u16>(a), static_cast<u16>(b));
  };
  std::vector<u32> pairs;
  for (std::size_t n = 0; n < v.size(); ++n) pairs.push_back(u32{v[n]} << 16 | v[(n * 7 + 3) % v.size()]);
  agrees<u32>(type + "x2", pairs, both);
}

template <class F>
void check_unary(const std::string& head, Format format, F expected) {
  const std::string type = head + "." + format.name;
  const auto all = all_numbers();
  agrees<u16>(type, all, expected);
  const auto other = [](u32 a) { return static_cast<u16>(a * 40503 + 77); };
  agrees<u32>(
      "mul.lo.u32 %w0, %a, 40503; add.u32 %w0, %w0, 77; and.b32 %w0, %w0, 65535; shl.b32 %w0, %w0, 16; "
      "or.b32 %w0, %w0, %a;" +
          type + "x2 %d, %w0;",
      std::vector<u32>(all.begin(), all.end()),
      [&](u32 a) { return u32{expected(other(a))} << 16 | expected(static_cast<u16>(a)); });
}

}  // namespace

TEST_CASE("16-bit add and sub and mul round once", "[ptx]") {
  for_formats([](Format format) {
    const auto value = [=](u16 bits) { return value_in(format, bits); };
    const auto v = numbers_of(format);
    for (const std::string rounding : {"", ".rn"}) {
      check_binary(
          "add" + rounding, format, [&](u16 a, u16 b) { return nearest(format, value(a), value(b)); }, v);
      check_binary(
          "sub" + rounding, format, [&](u16 a, u16 b) { return nearest(format, value(a), -value(b)); }, v);
      check_binary(
          "mul" + rounding, format, [&](u16 a, u16 b) { return nearest(format, value(a) * value(b), -0.0); },
          v);
    }
  });
}

TEST_CASE("16-bit fma rounds once, also for terms of very different exponents", "[ptx]") {
  for_formats([](Format format) {
    const auto expected = [=](u16 a, u16 b, u16 c) {
      return nearest(format, value_in(format, a) * value_in(format, b), value_in(format, c));
    };
    const auto v = numbers_of(format);
    const std::string type = std::string("fma.rn.") + format.name;
    agrees<u16>(type, v, expected);
    const std::vector<u32> words{0x3c013f81, 0x80017fff, 0x3f80c000, 0x00010400};
    agrees<u32>(type + "x2", words, [&](u32 a, u32 b, u32 c) {
      const auto half = [&](int n) {
        return u32{expected(static_cast<u16>(a >> n), static_cast<u16>(b >> n), static_cast<u16>(c >> n))}
               << n;
      };
      return half(0) | half(16);
    });
  });
}

TEST_CASE("16-bit min and max order signed zeros, and ignore NaN unless they have the modifier .NaN",
          "[ptx]") {
  for_formats([](Format format) {
    for (const bool largest : {false, true})
      for (const bool keeps : {false, true}) {
        const auto expected = [=](u16 a, u16 b) {
          const double x = value_in(format, a), y = value_in(format, b);
          if (std::isnan(x) && std::isnan(y)) return u16{0x7fff};
          if (std::isnan(x) || std::isnan(y)) return keeps ? u16{0x7fff} : std::isnan(x) ? b : a;
          const bool a_is_less = x < y || (x == y && std::signbit(x));
          return a_is_less != largest ? a : b;
        };
        check_binary(std::string(largest ? "max" : "min") + (keeps ? ".NaN" : ""), format, expected,
                     numbers_of(format));
      }
  });
}

TEST_CASE("16-bit neg and abs change the sign of every value", "[ptx]") {
  for_formats([](Format format) {
    const auto nan = [=](u16 a) { return std::isnan(value_in(format, a)); };
    check_unary("neg", format, [&](u16 a) { return nan(a) ? u16{0x7fff} : static_cast<u16>(a ^ 0x8000); });
    check_unary("abs", format, [&](u16 a) { return nan(a) ? u16{0x7fff} : static_cast<u16>(a & 0x7fff); });
  });
}

TEST_CASE("16-bit approximations return the nearest value", "[ptx]") {
  check_unary("ex2.approx", kHalf, [](u16 a) { return nearest(kHalf, std::exp2(value_in(kHalf, a))); });
  check_unary("ex2.approx.ftz", kBrain, [](u16 a) {
    const u16 result = nearest(kBrain, std::exp2(value_in(kBrain, a)));
    return result < 0x80 ? u16{0} : result;
  });
  for_formats([](Format format) {
    check_unary("tanh.approx", format,
                [=](u16 a) { return nearest(format, std::tanh(value_in(format, a))); });
  });
  for (const char* text : {"abs.ftz.bf16", "neg.ftz.bf16", "tanh.approx.ftz.bf16", "ex2.approx.bf16",
                           "ex2.f16", "tanh.f16", "ex2.approx.ftz.f16"})
    CHECK_THAT(refused(std::string(text) + " %h0, %h1;"), support::StartsWith(text));
}

}  // namespace ebb::ptx::testing
