// PTX integer arithmetic.
#include "handlers.h"

#include <limits>

namespace ebb::ptx {
namespace {

template <class T>
struct WideOf;
template <>
struct WideOf<u16> {
  using type = u32;
};
template <>
struct WideOf<s16> {
  using type = s32;
};
template <>
struct WideOf<u32> {
  using type = u64;
};
template <>
struct WideOf<s32> {
  using type = s64;
};
template <>
struct WideOf<u64> {
  using type = u128;
};
template <>
struct WideOf<s64> {
  using type = s128;
};
template <class T>
using Wide = typename WideOf<T>::type;

template <class T>
Wide<T> product(T a, T b) {
  return static_cast<Wide<T>>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
}

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
  }
};
struct Subtract {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
  }
};
struct MultiplyLow {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
  }
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(apply(a, b), c);
  }
};
struct MultiplyHigh {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(product(a, b) >> (8 * sizeof(T)));
  }
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(apply(a, b), c);
  }
};
struct MultiplyWide {
  template <class T>
  static Wide<T> apply(T a, T b) {
    return product(a, b);
  }
};
// Division by zero gives all ones on the device, and the remainder is the dividend; PTX leaves both
// undefined.
struct Divide {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Subtract::apply(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return T{0};
    return static_cast<T>(a % b);
  }
};
struct Smaller {
  template <class T>
  static T apply(T a, T b) {
    return b < a ? b : a;
  }
};
struct Larger {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? b : a;
  }
};
struct Negate {
  template <class T>
  static T apply(T a) {
    return Subtract::apply(T{0}, a);
  }
};
struct Absolute {
  template <class T>
  static T apply(T a) {
    return a < 0 ? Negate::apply(a) : a;
  }
};

template <class T>
void multiply_add_wide(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    const Wide<T> sum = warp.get<Wide<T>>(i.from[2], lane);
    warp.put(i.to[0], lane,
             Add::apply(product(warp.get<T>(i.from[0], lane), warp.get<T>(i.from[1], lane)), sum));
  });
}

enum class Carried { add, subtract, multiply };

// Arithmetic with the condition code of the lane: a carry or borrow is an input and an output.
template <class T, Carried kind>
void with_carry(Warp& warp, const Instruction& i, Lanes lanes) {
  using W = Wide<T>;
  each_lane(lanes, [&](unsigned lane) {
    const T a = warp.get<T>(i.from[0], lane), b = warp.get<T>(i.from[1], lane);
    const W in = i.carry_in ? warp.carry >> lane & 1 : 0;
    W sum;
    if constexpr (kind == Carried::add) sum = W{a} + b + in;
    if constexpr (kind == Carried::subtract) sum = W{a} - b - in;
    if constexpr (kind == Carried::multiply) {
      using Signed = std::make_signed_t<T>;
      const T part = !i.high ? MultiplyLow::apply(a, b)
                     : i.signed_a
                         ? static_cast<T>(MultiplyHigh::apply(static_cast<Signed>(a), static_cast<Signed>(b)))
                         : MultiplyHigh::apply(a, b);
      sum = W{part} + warp.get<T>(i.from[2], lane) + in;
    }
    if (i.carry_out) {
      const Lanes out = static_cast<Lanes>(sum >> (8 * sizeof(T))) & 1;
      warp.carry = (warp.carry & ~(Lanes{1} << lane)) | out << lane;
    }
    warp.put(i.to[0], lane, static_cast<T>(sum));
  });
}

template <Carried kind>
Handler carrying(Type type) {
  return size_of(type) == 4   ? Handler(with_carry<u32, kind>)
         : size_of(type) == 8 ? Handler(with_carry<u64, kind>)
                              : nullptr;
}

// dp4a: the sum of four products of bytes.
void dot_product(Warp& warp, const Instruction& i, Lanes lanes) {
  const auto byte = [](u32 word, unsigned n, bool is_signed) {
    const u8 bits = static_cast<u8>(word >> (8 * n));
    return is_signed ? s32{static_cast<s8>(bits)} : s32{bits};
  };
  each_lane(lanes, [&](unsigned lane) {
    const u32 a = warp.get<u32>(i.from[0], lane), b = warp.get<u32>(i.from[1], lane);
    u32 sum = warp.get<u32>(i.from[2], lane);
    for (unsigned n = 0; n < 4; ++n) sum += static_cast<u32>(byte(a, n, i.signed_a) * byte(b, n, i.signed_b));
    warp.put(i.to[0], lane, sum);
  });
}

template <class Op>
Handler binary_of(Type type) {
  return for_integer(type, []<class T>(T) { return Handler(binary<T, Op>); });
}

bool decode_carrying(Decoder& decoder, Statement& s, Instruction& i) {
  const std::string_view op = s.opcode();
  i.carry_out = s.has("cc");
  i.carry_in = op == "addc" || op == "subc" || op == "madc";
  if (!i.carry_in && !i.carry_out) return false;
  const Type type = s.type();
  const bool multiplies = op == "mad" || op == "madc";
  if (multiplies && !(i.high = s.has("hi"))) s.require(s.has("lo"));
  i.signed_a = is_signed(type);
  read_operands(decoder, s, i, type, multiplies ? 3 : 2);
  i.execute = multiplies                    ? carrying<Carried::multiply>(type)
              : op == "add" || op == "addc" ? carrying<Carried::add>(type)
                                            : carrying<Carried::subtract>(type);
  return true;
}

// Only products of 16 and 32 bits can have twice the width.
template <class Make>
Handler for_narrow_integer(Type type, Make make) {
  return for_integer(type, [&]<class T>(T value) {
    if constexpr (sizeof(T) <= 4) return make(value);
    return Handler(nullptr);
  });
}

// mul and mad: the low half of the product, the high half, or the whole product.
void decode_product(Decoder& decoder, Statement& s, Instruction& i) {
  const Type type = s.type();
  const bool adds = s.opcode() == "mad", wide = s.has("wide"), high = s.has("hi");
  s.require(wide || high || s.has("lo"));
  read_operands(decoder, s, i, type, adds ? 3 : 2);
  if (wide && adds) {
    i.execute = for_narrow_integer(type, []<class T>(T) { return Handler(multiply_add_wide<T>); });
  } else if (wide) {
    i.execute = for_narrow_integer(type, []<class T>(T) { return Handler(binary<T, MultiplyWide>); });
  } else if (adds) {
    i.execute = for_integer(type, [high]<class T>(T) {
      return high ? Handler(ternary<T, MultiplyHigh>) : Handler(ternary<T, MultiplyLow>);
    });
  } else {
    i.execute = high ? binary_of<MultiplyHigh>(type) : binary_of<MultiplyLow>(type);
  }
}

}  // namespace

bool decode_integer(Decoder& decoder, Statement& s, Instruction& i) {
  const std::string_view op = s.opcode();
  if (op == "dp4a") {
    i.signed_b = is_signed(s.type());
    i.signed_a = is_signed(s.type(1));
    read_operands(decoder, s, i, Type::b32, 3);
    i.execute = dot_product;
    return true;
  }
  if ((op == "add" || op == "addc" || op == "sub" || op == "subc" || op == "mad" || op == "madc") &&
      decode_carrying(decoder, s, i))
    return true;
  const Type type = s.type();
  if (is_float(type) || is_half(type)) return false;
  if (op == "mul" || op == "mad") {
    decode_product(decoder, s, i);
  } else if (op == "neg" || op == "abs") {
    read_operands(decoder, s, i, type, 1);
    const bool negates = op == "neg";
    i.execute = for_integer(type, [negates]<class T>(T) {
      return negates ? Handler(unary<T, Negate>) : Handler(unary<T, Absolute>);
    });
  } else {
    i.execute = op == "add"   ? binary_of<Add>(type)
                : op == "sub" ? binary_of<Subtract>(type)
                : op == "div" ? binary_of<Divide>(type)
                : op == "rem" ? binary_of<Remainder>(type)
                : op == "min" ? binary_of<Smaller>(type)
                : op == "max" ? binary_of<Larger>(type)
                              : nullptr;
    if (i.execute == nullptr) return false;
    read_operands(decoder, s, i, type, 2);
  }
  return true;
}

}  // namespace ebb::ptx
