// PTX arithmetic of 16-bit floats, single values and pairs. Results are exact up to one rounding.
#include "handlers.h"
#include "rounding.h"

#include <cmath>

namespace ebb::ptx {
namespace {

struct Add {
  static double apply(double a, double b, bool) { return sum_to_odd(a, b); }
};
struct Subtract {
  static double apply(double a, double b, bool) { return sum_to_odd(a, -b); }
};
struct Multiply {
  static double apply(double a, double b, bool) { return a * b; }
};
struct MultiplyAdd {
  static double apply(double a, double b, double c) { return sum_to_odd(a * b, c); }
};
struct Least {
  static double apply(double a, double b, bool keep_nan) { return least(a, b, keep_nan); }
};
struct Greatest {
  static double apply(double a, double b, bool keep_nan) { return greatest(a, b, keep_nan); }
};
struct Negate {
  static double apply(double a) { return -a; }
};
struct Absolute {
  static double apply(double a) { return std::fabs(a); }
};
struct PowerOfTwo {
  static double apply(double a) { return std::exp2(a); }
};
struct HyperbolicTangent {
  static double apply(double a) { return std::tanh(a); }
};

template <class H, class Op, unsigned operands>
void calculate(Warp& warp, const Instruction& i, Lanes lanes) {
  const auto part = [&](unsigned operand, unsigned lane, unsigned n) {
    return value_of(H{static_cast<u16>(warp.get<u32>(i.from[operand], lane) >> (16 * n))});
  };
  each_lane(lanes, [&](unsigned lane) {
    u32 results = 0;
    for (unsigned n = 0; n < i.count; ++n) {
      double result;
      if constexpr (operands == 1) result = Op::apply(part(0, lane, n));
      if constexpr (operands == 2) result = Op::apply(part(0, lane, n), part(1, lane, n), i.keep_nan);
      if constexpr (operands == 3) result = Op::apply(part(0, lane, n), part(1, lane, n), part(2, lane, n));
      const H number = rounded<H>(result);
      const bool subnormal = std::fabs(value_of(number)) < 0x1p-126;  // of bfloat16
      results |= u32{i.flush && subnormal ? u16{0} : number.bits} << (16 * n);
    }
    warp.put(i.to[0], lane, results);
  });
}

template <class Op, unsigned operands>
Handler calculation(Type type) {
  return is_brain(type) ? Handler(calculate<Brain, Op, operands>) : Handler(calculate<Half, Op, operands>);
}

}  // namespace

bool decode_half(Decoder& decoder, Statement& s, Instruction& i) {
  const std::string_view op = s.opcode();
  const Type type = s.type();
  if (!is_half(type)) return false;
  i.count = is_pair(type) ? 2 : 1;
  i.keep_nan = s.has("NaN");
  s.ignore({"rn"});
  std::size_t operands = 2;
  if (op == "fma") {
    operands = 3;
    i.execute = calculation<MultiplyAdd, 3>(type);
  } else if (op == "neg" || op == "abs" || op == "ex2" || op == "tanh") {
    operands = 1;
    if (op == "ex2" || op == "tanh") s.require(s.has("approx"));
    // Only ex2 of bfloat16 flushes subnormals, and it always does.
    i.flush = s.has("ftz");
    s.require(i.flush == (op == "ex2" && is_brain(type)));
    i.execute = op == "neg"   ? calculation<Negate, 1>(type)
                : op == "abs" ? calculation<Absolute, 1>(type)
                : op == "ex2" ? calculation<PowerOfTwo, 1>(type)
                              : calculation<HyperbolicTangent, 1>(type);
  } else {
    i.execute = op == "add"   ? calculation<Add, 2>(type)
                : op == "sub" ? calculation<Subtract, 2>(type)
                : op == "mul" ? calculation<Multiply, 2>(type)
                : op == "min" ? calculation<Least, 2>(type)
                : op == "max" ? calculation<Greatest, 2>(type)
                              : nullptr;
  }
  if (i.execute == nullptr) return false;
  read_operands(decoder, s, i, type, operands);
  return true;
}

}  // namespace ebb::ptx
