// PTX conversions between types.
#include "handlers.h"
#include "rounding.h"

#include <cmath>
#include <limits>

namespace ebb::ptx {
namespace {

template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, Brain>;

double integral(double number, Integral how) {
  switch (how) {
    case Integral::nearest:
      return std::nearbyint(number);
    case Integral::zero:
      return std::trunc(number);
    case Integral::down:
      return std::floor(number);
    case Integral::up:
      return std::ceil(number);
    default:
      return number;
  }
}

// Values outside the range of the type are clamped. NaN becomes 0, but for 64-bit sources and results it
// becomes the value with only the highest bit set.
template <class To, class From>
u64 to_integer(double number) {
  if (std::isnan(number)) {
    const u64 top = sizeof(To) == 8 || sizeof(From) == 8 ? u64{1} << (8 * sizeof(To) - 1) : 0;
    return static_cast<u64>(static_cast<s64>(static_cast<To>(top)));
  }
  constexpr int kBits = 8 * sizeof(To) - (std::is_signed_v<To> ? 1 : 0);
  const double end = std::ldexp(1.0, kBits), start = std::is_signed_v<To> ? -end : 0.0;
  const To value = number >= end    ? std::numeric_limits<To>::max()
                   : number < start ? std::numeric_limits<To>::min()
                                    : static_cast<To>(number);
  return static_cast<u64>(static_cast<s64>(value));
}

template <class To, class From>
To float_to_float(const Instruction& i, From read) {
  double number = value_of(read);
  if constexpr (std::is_same_v<From, float>)
    if (i.flush) number = flushed(read);
  number = integral(number, i.integral);
  if (i.saturate) number = saturated(number);
  if (i.relu && (number < 0 || std::isnan(number))) number = std::isnan(number) ? number : 0;
  To result = rounded<To>(number, i.rounding);
  if constexpr (std::is_same_v<To, float>)
    if (i.flush) result = flushed(result);
  return result;
}

// Integers above 2^53 are rounded once, by the processor in the requested mode.
template <class To, class From>
To integer_to_float(const Instruction& i, From read) {
  if constexpr (std::is_floating_point_v<To>) {
    const RoundingScope scope(i.rounding);
    const volatile From in = read;
    const volatile To out = static_cast<To>(in);
    return i.saturate ? saturated<To>(out) : out;
  } else {
    // The upper 53 of 64 bits and the rest are doubles; their sum is rounded to odd first.
    const From low = static_cast<From>(read & 0x7ff), high = static_cast<From>(read - low);
    const double sum = sum_to_odd(static_cast<double>(high), static_cast<double>(low));
    return rounded<To>(i.saturate ? saturated(sum) : sum, i.rounding);
  }
}

template <class To, class From>
u64 integer_to_integer(const Instruction& i, From read) {
  if (!i.saturate) return static_cast<u64>(static_cast<s64>(static_cast<To>(read)));
  const s128 value = read, least = std::numeric_limits<To>::min(), most = std::numeric_limits<To>::max();
  return static_cast<u64>(value < least ? least : value > most ? most : value);
}

template <class To, class From>
void convert(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    const From read = warp.get<From>(i.from[0], lane);
    if constexpr (kIsFloat<From> && kIsFloat<To>) {
      warp.put(i.to[0], lane, float_to_float<To, From>(i, read));
    } else if constexpr (kIsFloat<From>) {
      double number = value_of(read);
      if constexpr (std::is_same_v<From, float>)
        if (i.flush) number = flushed(read);
      warp.put(i.to[0], lane, to_integer<To, From>(integral(number, i.integral)));
    } else if constexpr (kIsFloat<To>) {
      warp.put(i.to[0], lane, integer_to_float<To, From>(i, read));
    } else {
      warp.put(i.to[0], lane, integer_to_integer<To, From>(i, read));
    }
  });
}

// cvt.rn.f16x2.f32 d, a, b: the first operand becomes the upper half.
template <class H>
void convert_pair(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    const H upper = float_to_float<H>(i, warp.get<float>(i.from[0], lane));
    const H lower = float_to_float<H>(i, warp.get<float>(i.from[1], lane));
    warp.put(i.to[0], lane, u32{upper.bits} << 16 | lower.bits);
  });
}

template <class Make>
Handler for_any(Type type, Make make) {
  switch (type) {
    case Type::u8:
      return make(u8{});
    case Type::s8:
      return make(s8{});
    case Type::f16:
      return make(Half{});
    case Type::bf16:
      return make(Brain{});
    case Type::f32:
      return make(float{});
    case Type::f64:
      return make(double{});
    default:
      return for_integer(type, make);
  }
}

// cvta: converts between generic addresses and those of a state space.
template <class T>
void convert_address(Warp& warp, const Instruction& i, Lanes lanes) {
  const u64 window = window_of(i.space);
  each_lane(lanes, [&](unsigned lane) {
    const u64 address = warp.get<T>(i.from[0], lane);
    warp.put(i.to[0], lane, i.to_generic ? address + window : address - window);
  });
}

void is_in_space(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    u64 address = warp.get<u64>(i.from[0], lane);
    warp.put(i.to[0], lane, u8{space_of(address) == i.space});
  });
}

bool decode_address(Decoder& decoder, Statement& s, Instruction& i) {
  const std::string_view op = s.opcode();
  if (op != "cvta" && op != "isspacep") return false;
  read_space(s, i);
  s.require(i.space != Space::generic);
  if (op == "isspacep") {
    i.to[0] = decoder.operand(s.operand(0), Type::pred);
    i.from[0] = decoder.operand(s.operand(1), Type::u64);
    i.execute = is_in_space;
    return true;
  }
  i.to_generic = !s.has("to");
  const Type type = s.type();
  read_operands(decoder, s, i, type, 1);
  i.execute = size_of(type) == 8 ? convert_address<u64> : convert_address<u32>;
  return true;
}

}  // namespace

bool decode_convert(Decoder& decoder, Statement& s, Instruction& i) {
  if (decode_address(decoder, s, i)) return true;
  if (s.opcode() != "cvt") return false;
  const Type from = s.type(), to = s.type(1);
  read_rounding(s, i);
  i.integral = s.has("rni")   ? Integral::nearest
               : s.has("rzi") ? Integral::zero
               : s.has("rmi") ? Integral::down
               : s.has("rpi") ? Integral::up
                              : Integral::no;
  i.relu = s.has("relu");
  s.require(!i.relu || is_half(to));
  i.to[0] = decoder.operand(s.operand(0), to);
  i.from[0] = decoder.operand(s.operand(1), from);
  if (is_pair(to)) {
    s.require(from == Type::f32);
    i.from[1] = decoder.operand(s.operand(2), from);
    i.execute = is_brain(to) ? convert_pair<Brain> : convert_pair<Half>;
    return true;
  }
  i.execute = for_any(to, [from]<class To>(To) {
    return for_any(from, []<class From>(From) { return Handler(convert<To, From>); });
  });
  return true;
}

}  // namespace ebb::ptx
