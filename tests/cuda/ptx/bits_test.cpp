// Moves, and operations on bits, against loops over single bits.
#include "support.h"

namespace ebb::ptx::testing {
namespace {

const std::vector<u32> kCounts{0,  1,  5,  15,  16,  17,  31,  32,  33,         47,
                               63, 64, 65, 127, 130, 255, 256, 288, 0x80000001, 0xffffffff};

template <class T>
bool bit(T value, u64 place) {
  return place < 8 * sizeof(T) && (static_cast<u64>(value) >> place & 1) != 0;
}
/// The number whose bits a function gives.
template <class T, class F>
T bits_by(F function) {
  u64 made = 0;
  for (u64 n = 0; n < 8 * sizeof(T); ++n) made |= u64{function(n)} << n;
  return static_cast<T>(made);
}

}  // namespace

TEST_CASE("Shifts by the width or more leave zeros or copies of the sign", "[ptx]") {
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

TEST_CASE("Bitwise operations combine words of every width and predicates", "[ptx]") {
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

TEST_CASE("Bits are counted, found and reversed", "[ptx]") {
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

TEST_CASE("Fields of bits are extracted and inserted at places and lengths of 8 bits", "[ptx]") {
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

TEST_CASE("Funnel shifts move bits from one word to the other, clamped or wrapped", "[ptx]") {
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

TEST_CASE("Bytes are permuted, and bit 3 of a selector spreads their sign", "[ptx]") {
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

TEST_CASE("Every table of three bits is evaluated", "[ptx]") {
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

TEST_CASE("A value is selected by a predicate at every width", "[ptx]") {
  for_types<u16, s16, u32, s32, u64, s64, float, double>([]<class T>(T) {
    const std::vector<T> v{T(0), T(1), T(-1), T(77)};
    agrees<T>("setp.eq.u32 %p, %c, 1; selp." + name_of<T>() + " %d, %a, %b, %p;",
              in(v, v, std::vector<u32>{0, 1, 2}), [](T a, T b, u32 c) { return c == 1 ? a : b; });
  });
}

TEST_CASE("Values are moved, packed and unpacked", "[ptx]") {
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
  // The sign that a conversion leaves above 16 bits is no part of the packed value.
  agrees<u32>("cvt.s16.s8 %h0, %a; mov.b32 %d, {%h0, 1};", h,
              [](u16 a) { return 0x10000U | static_cast<u16>(static_cast<s8>(a)); });
}

}  // namespace ebb::ptx::testing
