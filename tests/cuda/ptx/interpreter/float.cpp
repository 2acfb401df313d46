// PTX arithmetic of 32- and 64-bit floats.
#include "handlers.h"
#include "rounding.h"

#include <bit>
#include <cmath>

namespace ebb::ptx {
namespace {

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return a + b;
  }
};
struct Subtract {
  template <class T>
  static T apply(T a, T b) {
    return a - b;
  }
};
struct Multiply {
  template <class T>
  static T apply(T a, T b) {
    return a * b;
  }
};
struct Divide {
  template <class T>
  static T apply(T a, T b) {
    return a / b;
  }
};
struct MultiplyAdd {
  template <class T>
  static T apply(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct SquareRoot {
  template <class T>
  static T apply(T a) {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <class T>
  static T apply(T a) {
    return T(1) / a;
  }
};
struct Negate {
  template <class T>
  static T apply(T a) {
    return -a;
  }
};
struct Absolute {
  template <class T>
  static T apply(T a) {
    return std::fabs(a);
  }
};
// Approximate functions of the device, computed in double and rounded.
struct ReciprocalSquareRoot {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(1 / std::sqrt(static_cast<double>(a)));
  }
};
struct PowerOfTwo {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(std::exp2(static_cast<double>(a)));
  }
};
struct BinaryLogarithm {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(std::log2(static_cast<double>(a)));
  }
};
struct Sine {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(std::sin(static_cast<double>(a)));
  }
};
struct Cosine {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(std::cos(static_cast<double>(a)));
  }
};
struct HyperbolicTangent {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(std::tanh(static_cast<double>(a)));
  }
};
// copysign: the sign of the first operand and the magnitude of the second.
struct CopySign {
  template <class T>
  static T apply(T a, T b) {
    return std::copysign(b, a);
  }
};

template <class T>
T finished(const Instruction& i, T value) {
  if (i.flush) value = flushed(value);
  return i.saturate ? saturated(value) : value;
}

template <class T, class Op, unsigned operands>
void calculate(Warp& warp, const Instruction& i, Lanes lanes) {
  const auto read = [&](unsigned n, unsigned lane) {
    const T value = warp.get<T>(i.from[n], lane);
    return i.flush ? flushed(value) : value;
  };
  each_lane(lanes, [&](unsigned lane) {
    T value;
    if constexpr (operands == 1) value = Op::apply(read(0, lane));
    if constexpr (operands == 2) value = Op::apply(read(0, lane), read(1, lane));
    if constexpr (operands == 3) value = Op::apply(read(0, lane), read(1, lane), read(2, lane));
    warp.put(i.to[0], lane, finished(i, value));
  });
}
template <class T, class Op, unsigned operands>
void calculate_rounded(Warp& warp, const Instruction& i, Lanes lanes) {
  const RoundingScope scope(i.rounding);
  calculate<T, Op, operands>(warp, i, lanes);
}

template <class Op, unsigned operands>
Handler calculation(Type type, const Instruction& i) {
  return for_float(type, [&]<class T>(T) {
    if (i.rounding != Rounding::nearest) return Handler(calculate_rounded<T, Op, operands>);
    if (i.flush || i.saturate) return Handler(calculate<T, Op, operands>);
    if constexpr (operands == 1) return Handler(unary<T, Op>);
    if constexpr (operands == 2) return Handler(binary<T, Op>);
    return Handler(calculate<T, Op, operands>);
  });
}

template <class T, bool largest>
void extreme(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    T a = warp.get<T>(i.from[0], lane), b = warp.get<T>(i.from[1], lane);
    if (i.flush) a = flushed(a), b = flushed(b);
    warp.put(i.to[0], lane, rounded<T>(largest ? greatest(a, b, i.keep_nan) : least(a, b, i.keep_nan)));
  });
}

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and write upper words; the lower words count as 0.
double upper_word(double number) {
  if (std::isnan(number)) return std::bit_cast<double>(u64{0x7fffffff} << 32);
  if (std::fpclassify(number) == FP_SUBNORMAL) number = std::copysign(0.0, number);
  return std::bit_cast<double>(std::bit_cast<u64>(number) >> 32 << 32);
}
template <class Op>
void calculate_upper_word(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    const u64 upper = warp.get<u64>(i.from[0], lane) >> 32 << 32;
    warp.put(i.to[0], lane, upper_word(Op::apply(upper_word(std::bit_cast<double>(upper)))));
  });
}

}  // namespace

void read_rounding(Statement& s, Instruction& i) {
  s.has("rn");
  i.rounding = s.has("rz")   ? Rounding::zero
               : s.has("rm") ? Rounding::down
               : s.has("rp") ? Rounding::up
                             : Rounding::nearest;
  i.flush = s.has("ftz");
  i.saturate = s.has("sat");
}

bool decode_float(Decoder& decoder, Statement& s, Instruction& i) {
  const std::string_view op = s.opcode();
  const Type type = s.type();
  if (!is_float(type)) return false;
  std::size_t operands = 2;
  read_rounding(s, i);
  if (op == "min" || op == "max") {
    i.keep_nan = s.has("NaN");
    i.execute = for_float(type, [&]<class T>(T) {
      return op == "max" ? Handler(extreme<T, true>) : Handler(extreme<T, false>);
    });
  } else if (op == "add") {
    i.execute = calculation<Add, 2>(type, i);
  } else if (op == "sub") {
    i.execute = calculation<Subtract, 2>(type, i);
  } else if (op == "mul") {
    i.execute = calculation<Multiply, 2>(type, i);
  } else if (op == "div") {
    s.ignore({"full", "approx"});
    i.execute = calculation<Divide, 2>(type, i);
  } else if (op == "copysign") {
    i.execute = calculation<CopySign, 2>(type, i);
  } else if (op == "fma" || op == "mad") {
    operands = 3;
    i.execute = calculation<MultiplyAdd, 3>(type, i);
  } else {
    operands = 1;
    const bool approximate = s.has("approx");
    if (type == Type::f64 && approximate && i.flush && (op == "rcp" || op == "rsqrt"))
      i.execute = op == "rcp" ? calculate_upper_word<Reciprocal> : calculate_upper_word<ReciprocalSquareRoot>;
    else
      i.execute = op == "neg"     ? calculation<Negate, 1>(type, i)
                  : op == "abs"   ? calculation<Absolute, 1>(type, i)
                  : op == "sqrt"  ? calculation<SquareRoot, 1>(type, i)
                  : op == "rcp"   ? calculation<Reciprocal, 1>(type, i)
                  : op == "rsqrt" ? calculation<ReciprocalSquareRoot, 1>(type, i)
                  : op == "ex2"   ? calculation<PowerOfTwo, 1>(type, i)
                  : op == "lg2"   ? calculation<BinaryLogarithm, 1>(type, i)
                  : op == "sin"   ? calculation<Sine, 1>(type, i)
                  : op == "cos"   ? calculation<Cosine, 1>(type, i)
                  : op == "tanh"  ? calculation<HyperbolicTangent, 1>(type, i)
                                  : nullptr;
  }
  if (i.execute == nullptr) return false;
  read_operands(decoder, s, i, type, operands);
  return true;
}

}  // namespace ebb::ptx
