// PTX comparisons and control flow: branches, exits, and block barriers.
#include "decoder.h"
#include "handlers.h"
#include "machine.h"
#include "rounding.h"

#include <cmath>
#include <utility>

namespace ebb::ptx {
namespace {

constexpr std::pair<std::string_view, Comparison> kComparisons[] = {
    {"eq", Comparison::eq},      {"ne", Comparison::ne},   {"lt", Comparison::lt},   {"le", Comparison::le},
    {"gt", Comparison::gt},      {"ge", Comparison::ge},   {"lo", Comparison::lt},   {"ls", Comparison::le},
    {"hi", Comparison::gt},      {"hs", Comparison::ge},   {"equ", Comparison::equ}, {"neu", Comparison::neu},
    {"ltu", Comparison::ltu},    {"leu", Comparison::leu}, {"gtu", Comparison::gtu}, {"geu", Comparison::geu},
    {"num", Comparison::number}, {"nan", Comparison::nan},
};

// Comparisons with NaN are false, except those with a u, which are true.
template <class T>
bool compare(Comparison how, T a, T b) {
  switch (how) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return a < b || a > b;
    case Comparison::lt:
      return a < b;
    case Comparison::le:
      return a <= b;
    case Comparison::gt:
      return a > b;
    case Comparison::ge:
      return a >= b;
    case Comparison::equ:
      return !(a < b || a > b);
    case Comparison::neu:
      return !(a == b);
    case Comparison::ltu:
      return !(a >= b);
    case Comparison::leu:
      return !(a > b);
    case Comparison::gtu:
      return !(a <= b);
    case Comparison::geu:
      return !(a < b);
    case Comparison::number:
      return a == a && b == b;
    case Comparison::nan:
      return a != a || b != b;
  }
  return false;
}

bool joined(Join how, bool a, bool b) {
  switch (how) {
    case Join::conjunction:
      return a && b;
    case Join::disjunction:
      return a || b;
    case Join::exclusive:
      return a != b;
    default:
      return a;
  }
}

// The compared value: 16-bit floats are converted.
template <class T>
auto comparable(T value, bool flush) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Brain>)
    return value_of(value);
  else if constexpr (std::is_floating_point_v<T>)
    return flush ? flushed(value) : value;
  else
    return value;
}

template <class T>
void set_predicate(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    const bool holds = compare(i.comparison, comparable(warp.get<T>(i.from[0], lane), i.flush),
                               comparable(warp.get<T>(i.from[1], lane), i.flush));
    const bool other = i.join != Join::none && (warp.get<u8>(i.from[2], lane) != 0) != i.negated;
    if (i.to[0] != kNone) warp.put(i.to[0], lane, u8{joined(i.join, holds, other)});
    if (i.to[1] != kNone) warp.put(i.to[1], lane, u8{joined(i.join, !holds, other)});
  });
}

}  // namespace

bool decode_compare(Decoder& decoder, Statement& s, Instruction& i) {
  if (s.opcode() != "setp") return false;
  bool found = false;
  for (const auto& [name, comparison] : kComparisons)
    if (s.has(name)) found = true, i.comparison = comparison;
  s.require(found);
  const Type type = s.type();
  i.flush = s.has("ftz");
  i.join = s.has("and")   ? Join::conjunction
           : s.has("or")  ? Join::disjunction
           : s.has("xor") ? Join::exclusive
                          : Join::none;
  decoder.results(i, s.operand(0), Type::pred, Type::pred);
  i.from[0] = decoder.operand(s.operand(1), type);
  i.from[1] = decoder.operand(s.operand(2), type);
  if (i.join != Join::none) i.from[2] = decoder.predicate(s.operand(3), i.negated);
  i.execute = type == Type::f16    ? set_predicate<Half>
              : type == Type::bf16 ? set_predicate<Brain>
              : is_float(type)     ? for_float(type, []<class T>(T) { return Handler(set_predicate<T>); })
                                   : for_integer(type, []<class T>(T) { return Handler(set_predicate<T>); });
  return true;
}

// Control flow: branches, exits, and block barriers.

namespace {

void trap(Warp& warp, const Instruction&, Lanes lanes) {
  warp.block->fail(Status::launch_failure, "The kernel traps.",
                   static_cast<unsigned>(std::countr_zero(lanes)));
}

// bar.sync n; bar.red.popc.u32 d, n, p;
void decode_barrier(Decoder& decoder, Statement& s, Instruction& i) {
  i.flow = Flow::barrier;
  s.ignore({"sync", "red", "cta", "aligned", "arrive"});
  const bool reduces = s.operands().size() == 3;
  i.join = s.has("popc")  ? Join::population
           : s.has("and") ? Join::conjunction
           : s.has("or")  ? Join::disjunction
                          : Join::none;
  s.require(!s.has("arrive") && reduces == (i.join != Join::none) && (reduces || s.operands().size() == 1),
            "a barrier for some of the threads");
  const std::size_t first = reduces ? 1 : 0;
  if (reduces) {
    i.to[0] = decoder.operand(s.operand(0), s.type());
    i.from[1] = decoder.predicate(s.operand(2), i.negated);
  }
  i.from[0] = decoder.operand(s.operand(first), Type::u32);
}

}  // namespace

bool decode_control(Decoder& decoder, Statement& s, Instruction& i) {
  const std::string_view op = s.opcode();
  if (op == "bra") {
    s.ignore({"uni"});
    i.flow = Flow::branch;
    decoder.jump(s.operand(0));
  } else if (op == "brx") {
    s.ignore({"idx", "uni"});
    i.flow = Flow::table;
    i.from[0] = decoder.operand(s.operand(0), Type::u32);
    i.target = decoder.table(s.operand(1));
  } else if (op == "ret") {
    s.ignore({"uni"});
    decoder.leave(i);
  } else if (op == "exit") {
    i.flow = Flow::exit;
  } else if (op == "trap") {
    i.execute = trap;
  } else if ((op == "bar" || op == "barrier") && !s.has("warp")) {
    decode_barrier(decoder, s, i);
  } else {
    return false;
  }
  return true;
}

}  // namespace ebb::ptx
