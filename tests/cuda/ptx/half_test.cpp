// Floating point of 16 bits against the nearest of all numbers of the format.
#include "support.h"

namespace ebb::ptx::testing {
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

/// Checks an instruction for single numbers, and for pairs of different ones.
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

TEST_CASE("Sums, differences and products of 16 bits are rounded once", "[ptx]") {
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

TEST_CASE("A fused product and sum of 16 bits is rounded once, however far apart its terms lie", "[ptx]") {
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

TEST_CASE(
    "The smaller and the larger of 16 bits order zeros by sign and pass over NaN unless it is asked for",
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

TEST_CASE("Signs of 16 bits change in every number", "[ptx]") {
  for_formats([](Format format) {
    const auto nan = [=](u16 a) { return std::isnan(value_in(format, a)); };
    check_unary("neg", format, [&](u16 a) { return nan(a) ? u16{0x7fff} : static_cast<u16>(a ^ 0x8000); });
    check_unary("abs", format, [&](u16 a) { return nan(a) ? u16{0x7fff} : static_cast<u16>(a & 0x7fff); });
  });
}

TEST_CASE("Approximations of 16 bits are the nearest numbers", "[ptx]") {
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
