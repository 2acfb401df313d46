// PTX conversions between all types, and of addresses.
#include "support.h"

#include <algorithm>

namespace ebb::ptx::testing {
namespace {

template <class T>
s128 limited(s128 value) {
  return std::clamp(value, s128{std::numeric_limits<T>::min()}, s128{std::numeric_limits<T>::max()});
}

/// The number rounded to an integer in a mode, in 128 bits; values far beyond 64 bits are clamped.
s128 whole(double number, const std::string& mode) {
  number = std::clamp(number, -0x1p100, 0x1p100);
  const double low = std::floor(number), part = number - low;
  const bool odd = std::fmod(low, 2) != 0;
  const bool up = mode == "rni"   ? part > 0.5 || (part == 0.5 && odd)
                  : mode == "rzi" ? number < 0 && part > 0
                  : mode == "rpi" ? part > 0
                                  : false;
  return static_cast<s128>(low) + (up ? 1 : 0);
}
constexpr const char* kIntegral[] = {"rni", "rzi", "rmi", "rpi"};

template <class F>
void for_integers(F check) {
  for_types<u8, s8, u16, s16, u32, s32, u64, s64>(check);
}

/// Checks conversions of floats, whose values a function gives, to all integer types. 64-bit floats and
/// 64-bit results treat NaN differently.
template <class From, class Value>
void check_to_integers(const std::string& from, const std::vector<From>& v, Value value) {
  for_integers([&]<class To>(To) {
    for (const std::string mode : kIntegral)
      agrees<To>("cvt." + mode + "." + name_of<To>() + from, v, [&](From a) {
        if (!std::isnan(value(a))) return static_cast<To>(limited<To>(whole(value(a), mode)));
        return sizeof(To) == 8 || sizeof(From) == 8 ? static_cast<To>(u64{1} << (8 * sizeof(To) - 1)) : To{0};
      });
  });
}

/// The value of type T nearest to an integer or to a wider float, in a rounding mode.
template <class T, class From>
T closest(From number, int mode) {
  using Exact = std::conditional_t<std::is_integral_v<From>, s128, From>;
  const T near = static_cast<T>(number);
  const auto beyond = [&](T found) {
    return std::isinf(found)              ? (found > 0 ? 1 : -1)
           : Exact(found) > Exact(number) ? 1
           : Exact(found) < Exact(number) ? -1
                                          : 0;
  };
  if (number != number || mode == FE_TONEAREST || std::isinf(static_cast<double>(number)) ||
      beyond(near) == 0)
    return near;
  const bool down = mode == FE_DOWNWARD || (mode == FE_TOWARDZERO && number > From(0));
  if (beyond(near) == (down ? 1 : -1)) return std::nextafter(near, down ? -T(INFINITY) : T(INFINITY));
  return near;
}

std::vector<float> numbers_near_ties() {
  auto v = floats<float>(40);
  for (const Format format : {kHalf, kBrain})
    for (const u16 bits : numbers_of(format)) {
      const float number = static_cast<float>(value_in(format, bits)),
                  next = static_cast<float>(value_in(format, static_cast<u16>(bits + 1)));
      const float middle = (number + next) / 2;
      v.insert(v.end(), {number, middle, std::nextafter(middle, 0.0F), std::nextafter(middle, number * 2)});
    }
  for (int n = -5; n < 6; ++n) v.push_back(static_cast<float>(n) / 2);
  return v;
}

}  // namespace

TEST_CASE("Integer conversions truncate or extend, and saturate with the modifier .sat", "[ptx]") {
  for_integers([]<class From>(From) {
    const auto v = integers<From>();
    for_integers([&]<class To>(To) {
      const std::string types = "." + name_of<To>() + "." + name_of<From>();
      agrees<To>("cvt" + types, v, [](From a) { return static_cast<To>(a); });
      agrees<To>("cvt.sat" + types, v, [](From a) { return static_cast<To>(limited<To>(a)); });
      // The register is wider than the type: the sign fills it.
      agrees<u32>("cvt" + types + " %w0, %a; mov.b32 %d, %w0;", v,
                  [](From a) { return static_cast<u32>(static_cast<To>(a)); });
    });
  });
}

TEST_CASE("Float to integer conversions round in four modes and saturate", "[ptx]") {
  const auto v = numbers_near_ties();
  std::vector<double> w = floats<double>(40);
  for (const float number : v) w.push_back(number), w.push_back(std::nextafter(double{number}, 1e300));
  for (int bits = 7; bits < 65; ++bits)
    for (const double sign : {1.0, -1.0})
      w.push_back(sign * std::ldexp(1, bits)), w.push_back(sign * (std::ldexp(1, bits) - 0.5)),
          w.push_back(sign * (std::ldexp(1, bits) + 1));
  check_to_integers(".f32", v, [](float a) { return double{a}; });
  check_to_integers(".f64", w, [](double a) { return a; });
  for (const Format format : {kHalf, kBrain})
    check_to_integers(std::string(".") + format.name, numbers_of(format),
                      [=](u16 a) { return value_in(format, a); });
  agrees<s32>("cvt.rpi.ftz.s32.f32", v, [](float a) {
    return limited<s32>(std::isnan(a) || std::fabs(a) < 0x1p-126F ? 0 : whole(a, "rpi"));
  });
  agrees<u16>("cvt.rni.sat.u16.f32", v,
              [](float a) { return std::isnan(a) ? 0 : limited<u16>(whole(a, "rni")); });
}

TEST_CASE("Integer to float conversions round once in each mode", "[ptx]") {
  for_integers([]<class From>(From) {
    auto v = integers<From>();
    if constexpr (sizeof(From) == 8)
      for (const u64 tie : {u64{0x8080000000000080}, u64{0x4040000000000400}, u64{0x0101000000000001},
                            u64{0x8000008000000001}, u64{0x8000000000000401}})
        v.push_back(static_cast<From>(tie));
    for (const Mode& each : kModes) {
      const int mode = each.mode;
      const auto text = [&](const char* to) {
        return std::string("cvt.") + each.name + "." + to + "." + name_of<From>() + " %d, %a;";
      };
      agrees<float>(text("f32"), v, [&](From a) { return closest<float>(a, mode); });
      agrees<double>(text("f64"), v, [&](From a) { return closest<double>(a, mode); });
      for (const Format format : {kHalf, kBrain})
        agrees<u16>(text(format.name), v, [&](From a) {
          const From low = static_cast<From>(static_cast<u64>(a) & 0xffff);
          if (sizeof(From) <= 4) return nearest(format, static_cast<double>(a), -0.0 * (a != 0), mode);
          return nearest(format, static_cast<double>(s128{a} - low), static_cast<double>(low), mode);
        });
    }
  });
  agrees<u16>("cvt.rn.sat.f16.s64", integers<s64>(), [](s64 a) { return a > 0 ? 0x3c00 : 0; });
  agrees<float>("cvt.rn.sat.f32.s32", integers<s32>(), [](s32 a) { return a > 0 ? 1.0F : 0.0F; });
}

TEST_CASE("Narrowing float conversions round once in each mode", "[ptx]") {
  const auto v = numbers_near_ties();
  auto w = floats<double>(40);
  for (const float number : v)
    w.push_back(number), w.push_back(std::nextafter(double{number}, 0.0)),
        w.push_back(std::nextafter(double{number}, 1e300)), w.push_back(double{number} * 1.00000006);
  for (const Mode& each : kModes) {
    const int mode = each.mode;
    const auto text = [&](const std::string& end) { return std::string("cvt.") + each.name + end; };
    agrees<float>(text(".f32.f64 %d, %a;"), w, [&](double a) { return closest<float>(a, mode); });
    for (const Format format : {kHalf, kBrain}) {
      const std::string type = std::string(".") + format.name;
      agrees<u16>(text(type + ".f32 %d, %a;"), v, [&](float a) { return nearest(format, a, -0.0, mode); });
      agrees<u16>(text(type + ".f64 %d, %a;"), w, [&](double a) { return nearest(format, a, -0.0, mode); });
      agrees<u32>(
          text(type + "x2.f32 %d, %a, %b;"),
          in(std::vector<float>(v.begin(), v.begin() + 60), std::vector<float>{1.5F, -0x1p-140F, NAN}),
          [&](float a, float b) {
            return u32{nearest(format, a, -0.0, mode)} << 16 | nearest(format, b, -0.0, mode);
          });
      const auto positive = [&](float a) { return a < 0 ? u16{0} : nearest(format, a, -0.0, mode); };
      if (mode == FE_TONEAREST || mode == FE_TOWARDZERO)
        agrees<u16>(text(".relu" + type + ".f32 %d, %a;"), v, positive);
    }
  }
  const auto flush = [](float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0F, a) : a; };
  agrees<float>("cvt.rn.ftz.f32.f64", w, [&](double a) { return flush(static_cast<float>(a)); });
  agrees<float>("cvt.rn.sat.f32.f64", w,
                [&](double a) { return a > 0 ? static_cast<float>(std::min(a, 1.0)) : 0.0F; });
}

TEST_CASE("Widening float conversions are exact, and conversions to integral values round in four modes",
          "[ptx]") {
  const auto v = numbers_near_ties();
  agrees<double>("cvt.f64.f32", v, [](float a) { return double{a}; });
  agrees<float>("cvt.ftz.sat.f32.f32", v, [](float a) { return a >= 0x1p-126F ? std::min(a, 1.0F) : 0.0F; });
  for (const Format format : {kHalf, kBrain}) {
    std::vector<u16> all(65536);
    for (std::size_t n = 0; n < all.size(); ++n) all[n] = static_cast<u16>(n);
    const std::string from = std::string(".") + format.name + " %d, %a;";
    agrees<float>("cvt.f32" + from, all, [&](u16 a) { return static_cast<float>(value_in(format, a)); });
    agrees<double>("cvt.f64" + from, all, [&](u16 a) { return value_in(format, a); });
  }
  for (const std::string mode : kIntegral) {
    const auto exact = [&](auto a) {
      if (!(std::fabs(a) < 0x1p60)) return a;
      return std::copysign(static_cast<decltype(a)>(whole(double{a}, mode)), a);
    };
    agrees<float>("cvt." + mode + ".f32.f32", v, exact);
    agrees<double>("cvt." + mode + ".f64.f64", floats<double>(), exact);
    agrees<u16>("cvt." + mode + ".f16.f16", numbers_of(kHalf),
                [&](u16 a) { return nearest(kHalf, exact(value_in(kHalf, a))); });
  }
}

TEST_CASE("cvta converts shared and local addresses to generic ones and back", "[ptx]") {
  const std::vector<u32> back = words_of(
      ".shared .align 4 .b8 area[256];\n.local .align 4 .b8 own[16];\n"
      "mov.u32 %r0, area; mad.lo.u32 %r0, %tid, 4, %r0; cvt.u64.u32 %x0, %r0; cvta.shared.u64 %x1, %x0; "
      "add.u32 %r1, %tid, 9; st.u32 [%x1], %r1;"
      "cvta.to.shared.u64 %x2, %x1; ld.shared.u32 %r2, [%x2]; mov.u64 %x3, own; cvta.local.u64 %x4, %x3; "
      "st.u32 [%x4+4], %r2; ld.local.u32 %r3, [own+4];"
      "isspacep.shared %p0, %x1; isspacep.local %p1, %x1; isspacep.local %p2, %x4; isspacep.global %p3, %x4; "
      "isspacep.global %p4, %out; isspacep.shared::cta %p5, %out;"
      "cvta.to.global.u64 %x5, %mine; cvta.global.u64 %x5, %x5; @%p0 add.u32 %r3, %r3, 1000; @%p1 add.u32 "
      "%r3, %r3, 2000; @%p2 add.u32 %r3, %r3, 10000;"
      "@%p3 add.u32 %r3, %r3, 20000; @%p4 add.u32 %r3, %r3, 100000; @%p5 add.u32 %r3, %r3, 200000; "
      "st.global.u32 [%x5], %r3;");
  for (u32 n = 0; n < 32; ++n) CHECK(back[n] == 111009 + n);
}

}  // namespace ebb::ptx::testing
