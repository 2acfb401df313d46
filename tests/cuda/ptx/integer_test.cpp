// PTX moves, bit operations and integer arithmetic, compared with single bits and 128-bit arithmetic.
#include "support.h"

// Integer arithmetic, compared with 128-bit arithmetic.

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

TEST_CASE("Integer add and sub and mul wrap around at all widths", "[ptx]") {
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

TEST_CASE("mul.hi returns the high half of the full product", "[ptx]") {
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

TEST_CASE("mul.wide returns a product of twice the width", "[ptx]") {
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

TEST_CASE("Integer division truncates and the least value divided by -1 wraps around", "[ptx]") {
  for_integers([]<class T>(T) {
    const auto v = integers<T>();
    agrees<T>(typed<T>("div"), v, quotient<T>);
    agrees<T>(typed<T>("rem"), v, remainder<T>);
  });
}

TEST_CASE("Integer min and max compare as signed or unsigned by their type", "[ptx]") {
  for_integers([]<class T>(T) {
    const auto v = integers<T>();
    agrees<T>(typed<T>("min"), v, [](T a, T b) { return Wide<T>(a) < Wide<T>(b) ? a : b; });
    agrees<T>(typed<T>("max"), v, [](T a, T b) { return Wide<T>(a) > Wide<T>(b) ? a : b; });
  });
}

TEST_CASE("add.cc and sub.cc carry into the next word of a longer sum or difference", "[ptx]") {
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
  // The carry passes through the middle word of three, which itself produces a carry.
  const std::string three = "add.cc.u64 %x0, %a, %b; addc.cc.u64 %x1, %c, -1; addc.u64 %d, 0, 0;";
  agrees<u64>(three, v, [](u64 a, u64 b, u64 c) {
    return static_cast<u64>((u128(c) + ~u64{0} + ((u128(a) + b) >> 64)) >> 64);
  });
  agrees<u64>("sub.cc.u64 %x0, %a, %b; subc.cc.u64 %x1, %c, 1; subc.u64 %d, 0, 0;", v,
              [](u64 a, u64 b, u64 c) { return static_cast<u64>((u128(c) - 1 - (a < b ? 1U : 0U)) >> 64); });
}

TEST_CASE("mad.cc carries into the next word of a longer product", "[ptx]") {
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

TEST_CASE("Each lane has its own condition code, which only .cc instructions change", "[ptx]") {
  const auto v = integers<u32>();
  agrees<u32>(
      "add.cc.u32 %w0, %a, %b; add.u32 %w1, %b, %b; addc.u32 %d, 0, 0; setp.gt.u32 %p, %a, 9;"
      "@%p sub.cc.u32 %w0, 0, 1; addc.u32 %w1, 0, 0; shl.b32 %w1, %w1, 1; or.b32 %d, %d, %w1;",
      v, [](u32 a, u32 b) {
        const u32 carry = static_cast<u32>((u64{a} + b) >> 32);
        return carry | (a > 9 ? 1 : carry) << 1;
      });
}

TEST_CASE("dp4a handles all combinations of signs", "[ptx]") {
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

// Moves and bit operations, compared with loops over single bits.

namespace {

const std::vector<u32> kCounts{0,  1,  5,  15,  16,  17,  31,  32,  33,         47,
                               63, 64, 65, 127, 130, 255, 256, 288, 0x80000001, 0xffffffff};

template <class T>
bool bit(T value, u64 place) {
  return place < 8 * sizeof(T) && (static_cast<u64>(value) >> place & 1) != 0;
}
/// The integer whose bits a function gives.
template <class T, class F>
T bits_by(F function) {
  u64 made = 0;
  for (u64 n = 0; n < 8 * sizeof(T); ++n) made |= u64{function(n)} << n;
  return static_cast<T>(made);
}

}  // namespace

TEST_CASE("Shifts by the width or more give zeros or copies of the sign", "[ptx]") {
  for_types<u16, s16, u32, s32, u64, s64>([]<class T>(T) {
    const auto v = integers<T>();
    const auto left = [](T a, u32 n) { return bits_by<T>([&](u64 p) { return p >= n && bit(a, p - n); }); };
    const auto right = [](T a, u32 n) {
      return bits_by<T>([&](u64 p) { return p + n < 8 * sizeof(T) ? bit(a, p + n) : a < 0; });
    };
    agrees<T>(sized<T>("shl"), in(v, kCounts), left);
    agrees<T>(typed<T>("shr"), in(v, kCounts), right);
    if (std::is_unsigned_v<T>) agrees<T>(sized<T>("shr"), in(v, kCounts), right);
  });
}

TEST_CASE("Bitwise operations work on words of all widths and on predicates", "[ptx]") {
  for_types<u16, u32, u64>([]<class T>(T) {
    const auto v = integers<T>();
    agrees<T>(sized<T>("and"), v,
              [](T a, T b) { return bits_by<T>([&](u64 n) { return bit(a, n) && bit(b, n); }); });
    agrees<T>(sized<T>("or"), v,
              [](T a, T b) { return bits_by<T>([&](u64 n) { return bit(a, n) || bit(b, n); }); });
    agrees<T>(sized<T>("xor"), v,
              [](T a, T b) { return bits_by<T>([&](u64 n) { return bit(a, n) != bit(b, n); }); });
    agrees<T>(sized<T>("not"), v, [](T a) { return bits_by<T>([&](u64 n) { return !bit(a, n); }); });
  });
  const std::string tail = " %s, %p, %q; selp.u32 %d, 5, 6, %s;";
  const std::string head = "setp.ne.u32 %p, %a, 0; setp.ne.u32 %q, %b, 0; ";
  const std::vector<u32> both{0, 1};
  agrees<u32>(head + "and.pred" + tail, both, [](u32 a, u32 b) { return a && b ? 5 : 6; });
  agrees<u32>(head + "or.pred" + tail, both, [](u32 a, u32 b) { return a || b ? 5 : 6; });
  agrees<u32>(head + "xor.pred" + tail, both, [](u32 a, u32 b) { return a != b ? 5 : 6; });
  agrees<u32>(head + "not.pred %p, %p; mov.pred %s, %p; selp.u32 %d, 5, 6, %s;", both,
              [](u32 a, u32) { return a ? 6 : 5; });
}

TEST_CASE("popc and clz and bfind and brev give known values", "[ptx]") {
  for_types<u32, s32, u64, s64>([]<class T>(T) {
    const auto v = integers<T>();
    constexpr u32 kWidth = 8 * sizeof(T);
    const auto highest = [](T a) {
      const bool sign = a < 0;
      for (u32 n = kWidth; n-- > 0;)
        if (bit(a, n) != sign) return n;
      return ~u32{0};
    };
    agrees<u32>(typed<T>("bfind"), v, highest);
    agrees<u32>(typed<T>("bfind.shiftamt"), v,
                [&](T a) { return highest(a) == ~u32{0} ? ~u32{0} : kWidth - 1 - highest(a); });
    if constexpr (std::is_unsigned_v<T>) {
      agrees<u32>(sized<T>("popc"), v, [](T a) {
        u32 sum = 0;
        for (u32 n = 0; n < kWidth; ++n) sum += bit(a, n);
        return sum;
      });
      agrees<u32>(sized<T>("clz"), v, [&](T a) { return a == 0 ? kWidth : kWidth - 1 - highest(a); });
      agrees<T>(sized<T>("brev"), v,
                [](T a) { return bits_by<T>([&](u64 n) { return bit(a, kWidth - 1 - n); }); });
    }
  });
}

TEST_CASE("bfe and bfi use 8-bit positions and lengths", "[ptx]") {
  for_types<u32, s32, u64, s64>([]<class T>(T) {
    const auto v = integers<T>();
    constexpr u32 kTop = 8 * sizeof(T) - 1;
    agrees<T>(typed<T>("bfe"), in(v, kCounts, kCounts), [](T a, u32 start, u32 length) {
      start &= 255, length &= 255;
      const bool fill = std::is_signed_v<T> && length > 0 && bit(a, std::min(start + length - 1, u32{kTop}));
      return bits_by<T>([&](u64 n) { return n < length && start + n <= kTop ? bit(a, start + n) : fill; });
    });
    if constexpr (std::is_unsigned_v<T>)
      agrees<T>(sized<T>("bfi"), in(v, std::vector<T>{0, static_cast<T>(-1), v.back()}, kCounts, kCounts),
                [](T a, T b, u32 start, u32 length) {
                  start &= 255, length &= 255;
                  return bits_by<T>([&](u64 n) {
                    return n >= start && n < start + length ? bit(a, n - start) : bit(b, n);
                  });
                });
  });
}

TEST_CASE("Funnel shifts clamp or wrap the shift count", "[ptx]") {
  const auto v = integers<u32>();
  for (const bool wraps : {false, true}) {
    const auto amount = [=](u32 n) { return wraps ? n % 32 : std::min(n, 32U); };
    const std::string mode = wraps ? ".wrap" : ".clamp";
    agrees<u32>("shf.l" + mode + ".b32", in(v, v, kCounts), [&](u32 a, u32 b, u32 c) {
      return bits_by<u32>(
          [&](u64 n) { return n < amount(c) ? bit(a, n + 32 - amount(c)) : bit(b, n - amount(c)); });
    });
    agrees<u32>("shf.r" + mode + ".b32", in(v, v, kCounts), [&](u32 a, u32 b, u32 c) {
      return bits_by<u32>(
          [&](u64 n) { return n + amount(c) < 32 ? bit(a, n + amount(c)) : bit(b, n + amount(c) - 32); });
    });
  }
}

TEST_CASE("prmt permutes bytes, and bit 3 of a selector replicates the sign of the byte", "[ptx]") {
  std::vector<u32> selectors{0x3210, 0x7654, 0xfedc, 0xba98, 0xffff4321, 0};
  for (int n = 0; n < 30; ++n) selectors.push_back(static_cast<u32>(random_bits()));
  const auto v = integers<u32>();
  agrees<u32>("prmt.b32", in(v, v, selectors), [](u32 a, u32 b, u32 c) {
    unsigned char bytes[8], made[4];
    std::memcpy(bytes, &a, 4), std::memcpy(bytes + 4, &b, 4);
    for (unsigned n = 0; n < 4; ++n) {
      const unsigned char byte = bytes[c >> (4 * n) & 7];
      made[n] = (c >> (4 * n + 3) & 1) == 0 ? byte : byte >= 128 ? 0xff : 0;
    }
    return std::bit_cast<u32>(made);
  });
}

TEST_CASE("lop3 evaluates all 256 truth tables", "[ptx]") {
  const std::vector<u32> a{0xf0, 0xffffff0f}, b{0xcc, 0xffffffcc}, c{0xaa, 0xdeadbeaa};
  for (u32 table = 0; table < 256; ++table)
    agrees<u32>("lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";", in(a, b, c),
                [&](u32 x, u32 y, u32 z) {
                  return bits_by<u32>([&](u64 n) {
                    return bit(table, (bit(x, n) ? 4U : 0U) + (bit(y, n) ? 2U : 0U) + (bit(z, n) ? 1U : 0U));
                  });
                });
  CHECK(evaluate<u32>("lop3.b32 %d, 0xf0, 0xcc, 0xaa, 0x6a;", std::vector<u32>{0})[0] == 0x6a);
}

TEST_CASE("selp selects by a predicate at all widths", "[ptx]") {
  for_types<u16, s16, u32, s32, u64, s64, float, double>([]<class T>(T) {
    const std::vector<T> v{T(0), T(1), T(-1), T(77)};
    agrees<T>("setp.eq.u32 %p, %c, 1; selp." + name_of<T>() + " %d, %a, %b, %p;",
              in(v, v, std::vector<u32>{0, 1, 2}), [](T a, T b, u32 c) { return c == 1 ? a : b; });
  });
}

TEST_CASE("mov copies and packs and unpacks values", "[ptx]") {
  const auto h = integers<u16>();
  const auto w = integers<u32>();
  const auto x = integers<u64>();
  for (const char* type : {"b64", "u64", "s64", "f64"})
    agrees<u64>("mov." + std::string(type), x, [](u64 a) { return a; });
  for (const char* type : {"b16", "u16", "s16"})
    agrees<u16>("mov." + std::string(type), h, [](u16 a) { return a; });
  const auto pair = [](u32 a, u32 b) { return u64{b} << 32 | a; };
  agrees<u64>("mov.b64 %d, {%a, %b};", w, pair);
  agrees<u64>("mov.b64 {%w0, %w1}, %a; mov.b64 %d, {%w1, %w0};", x, [](u64 a) { return a << 32 | a >> 32; });
  agrees<u32>("mov.b64 {_, %d}, %a;", x, [](u64 a) { return static_cast<u32>(a >> 32); });
  agrees<u32>("mov.b32 {%h0, %h1}, %a; mov.b32 %d, {%h1, %h0};", w, [](u32 a) { return a << 16 | a >> 16; });
  agrees<u64>("mov.b64 {%h0, %h1, %h2, %h3}, %a; mov.b64 %d, {%h3, %h2, %h1, %h0};", x,
              [](u64 a) { return a << 48 | (a << 16 & 0xffff00000000) | (a >> 16 & 0xffff0000) | a >> 48; });
  // The sign that a conversion leaves above 16 bits is not part of the packed value.
  agrees<u32>("cvt.s16.s8 %h0, %a; mov.b32 %d, {%h0, 1};", h,
              [](u16 a) { return 0x10000U | static_cast<u16>(static_cast<s8>(a)); });
}

}  // namespace ebb::ptx::testing
