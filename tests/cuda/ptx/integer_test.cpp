// Integer arithmetic against that of 128 bits.
#include "support.h"

namespace ebb::ptx::testing {
namespace {

template <class T>
using Wide = std::conditional_t<std::is_signed_v<T>, s128, u128>;
template <class T>
constexpr int kBits = 8 * sizeof(T);

template <class T>
T quotient(T a, T b) {
  return b == 0 ? static_cast<T>(-1) : static_cast<T>(Wide<T>(a) / Wide<T>(b));
}
template <class T>
T remainder(T a, T b) {
  return b == 0 ? a : static_cast<T>(Wide<T>(a) % Wide<T>(b));
}

template <class F>
void for_integers(F check) {
  for_types<u16, s16, u32, s32, u64, s64>(check);
}

}  // namespace

TEST_CASE("Sums, differences and products wrap around at every width", "[ptx]") {
  for_integers([]<class T>(T) {
    const auto v = integers<T>();
    const auto low = [](u128 value) { return static_cast<T>(value); };
    agrees<T>(typed<T>("add"), v, [&](T a, T b) { return low(u128(a) + u128(b)); });
    agrees<T>(typed<T>("sub"), v, [&](T a, T b) { return low(u128(a) - u128(b)); });
    agrees<T>(typed<T>("mul.lo"), v, [&](T a, T b) { return low(u128(a) * u128(b)); });
    agrees<T>(typed<T>("neg"), v, [&](T a) { return low(-u128(a)); });
    agrees<T>(typed<T>("abs"), v, [&](T a) { return low(a < 0 ? -u128(a) : u128(a)); });
  });
}

TEST_CASE("The high halves of products are those of the whole product", "[ptx]") {
  for_integers([]<class T>(T) {
    const auto v = integers<T>();
    const auto high = [](T a, T b) { return static_cast<T>(Wide<T>(a) * Wide<T>(b) >> kBits<T>); };
    agrees<T>(typed<T>("mul.hi"), v, high);
    agrees<T>(typed<T>("mad.hi"), v,
              [&](T a, T b, T c) { return static_cast<T>(u128(high(a, b)) + u128(c)); });
    agrees<T>(typed<T>("mad.lo"), v,
              [](T a, T b, T c) { return static_cast<T>(u128(a) * u128(b) + u128(c)); });
  });
}

TEST_CASE("Wide products have twice the width of their factors", "[ptx]") {
  const auto check = []<class T, class D>(T, D) {
    const auto v = integers<T>();
    const auto w = integers<D>();
    agrees<D>(typed<T>("mul.wide"), v, [](T a, T b) { return static_cast<D>(D(a) * D(b)); });
    agrees<D>(typed<T>("mad.wide"), in(v, v, w),
              [](T a, T b, D c) { return static_cast<D>(u128(a) * u128(b) + u128(c)); });
  };
  check(u16{}, u32{});
  check(s16{}, s32{});
  check(u32{}, u64{});
  check(s32{}, s64{});
}

TEST_CASE("Quotients are cut towards zero and the least number divided by minus one wraps around", "[ptx]") {
  for_integers([]<class T>(T) {
    const auto v = integers<T>();
    agrees<T>(typed<T>("div"), v, quotient<T>);
    agrees<T>(typed<T>("rem"), v, remainder<T>);
  });
}

TEST_CASE("The smaller and the larger integer follow the sign of their type", "[ptx]") {
  for_integers([]<class T>(T) {
    const auto v = integers<T>();
    agrees<T>(typed<T>("min"), v, [](T a, T b) { return Wide<T>(a) < Wide<T>(b) ? a : b; });
    agrees<T>(typed<T>("max"), v, [](T a, T b) { return Wide<T>(a) > Wide<T>(b) ? a : b; });
  });
}

TEST_CASE("Carries and borrows join words to longer sums and differences", "[ptx]") {
  const auto chain = [](const std::string& op, const std::string& type) {
    return "mov.b64 {%w0, %w1}, %a; mov.b64 {%w2, %w3}, %b;" + op + ".cc." + type + " %w4, %w0, %w2;" + op +
           "c." + type + " %w5, %w1, %w3; mov.b64 %d, {%w4, %w5};";
  };
  const auto v = integers<u64>();
  for (const char* type : {"u32", "s32"}) {
    agrees<u64>(chain("add", type), v, [](u64 a, u64 b) { return a + b; });
    agrees<u64>(chain("sub", type), v, [](u64 a, u64 b) { return a - b; });
  }
  const auto over = [](u64 a, u64 b, u64 c) { return c + static_cast<u64>((u128(a) + b) >> 64); };
  const auto under = [](u64 a, u64 b, u64 c) { return c - static_cast<u64>((u128(a) - b) >> 64 & 1); };
  agrees<u64>("add.cc.u64 %x0, %a, %b; addc.u64 %d, %c, 0;", v, over);
  agrees<u64>("sub.cc.s64 %x0, %a, %b; subc.s64 %d, %c, 0;", v, under);
  // The carry goes through a word that itself carries, in the middle of three.
  const std::string three = "add.cc.u64 %x0, %a, %b; addc.cc.u64 %x1, %c, -1; addc.u64 %d, 0, 0;";
  agrees<u64>(three, v, [](u64 a, u64 b, u64 c) {
    return static_cast<u64>((u128(c) + ~u64{0} + ((u128(a) + b) >> 64)) >> 64);
  });
  agrees<u64>("sub.cc.u64 %x0, %a, %b; subc.cc.u64 %x1, %c, 1; subc.u64 %d, 0, 0;", v,
              [](u64 a, u64 b, u64 c) { return static_cast<u64>((u128(c) - 1 - (a < b ? 1U : 0U)) >> 64); });
}

TEST_CASE("Products with carries make the product of longer words", "[ptx]") {
  const auto v = integers<u32>();
  const auto w = integers<u64>();
  agrees<u64>(
      "mov.b64 {%w0, %w1}, %c; mad.lo.cc.u32 %w2, %a, %b, %w0; madc.hi.u32 %w3, %a, %b, %w1;"
      "mov.b64 %d, {%w2, %w3};",
      in(v, v, w), [](u32 a, u32 b, u64 c) { return u64{a} * b + c; });
  agrees<u64>("mad.lo.cc.u64 %x0, %a, %b, %c; madc.hi.u64 %d, %a, %b, 0;", w,
              [](u64 a, u64 b, u64 c) { return static_cast<u64>((u128(a) * b + c) >> 64); });
  agrees<u64>("mad.lo.cc.u64 %x0, %a, %b, %c; madc.lo.cc.u64 %x1, %a, 1, -1; addc.u64 %d, 0, 0;", w,
              [](u64 a, u64 b, u64 c) {
                const u128 low = u128(static_cast<u64>(u128(a) * b)) + c;
                return static_cast<u64>((u128(a) + ~u64{0} + (low >> 64)) >> 64);
              });
  agrees<s32>("mad.hi.cc.s32 %w0, %a, %b, -1; addc.s32 %d, 0, 0;", integers<s32>(),
              [](s32 a, s32 b) { return static_cast<u32>(s64{a} * b >> 32) != 0 ? 1 : 0; });
}

TEST_CASE("The condition code is that of each lane, and only instructions with cc change it", "[ptx]") {
  const auto v = integers<u32>();
  agrees<u32>(
      "add.cc.u32 %w0, %a, %b; add.u32 %w1, %b, %b; addc.u32 %d, 0, 0; setp.gt.u32 %p, %a, 9;"
      "@%p sub.cc.u32 %w0, 0, 1; addc.u32 %w1, 0, 0; shl.b32 %w1, %w1, 1; or.b32 %d, %d, %w1;",
      v, [](u32 a, u32 b) {
        const u32 carry = static_cast<u32>((u64{a} + b) >> 32);
        return carry | (a > 9 ? 1 : carry) << 1;
      });
}

TEST_CASE("Dot products of bytes take each sign", "[ptx]") {
  const auto v = integers<u32>();
  for (const bool first : {false, true})
    for (const bool second : {false, true}) {
      const std::string types = std::string(first ? ".s32" : ".u32") + (second ? ".s32" : ".u32");
      const auto byte = [](u32 word, unsigned n, bool is_signed) {
        const s64 value = word >> (8 * n) & 255;
        return is_signed && value > 127 ? value - 256 : value;
      };
      agrees<u32>("dp4a" + types, v, [&](u32 a, u32 b, u32 c) {
        s64 sum = c;
        for (unsigned n = 0; n < 4; ++n) sum += byte(a, n, first) * byte(b, n, second);
        return static_cast<u32>(sum);
      });
    }
}

}  // namespace ebb::ptx::testing
