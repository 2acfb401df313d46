// Atomic operations.
#include "handlers.h"
#include "rounding.h"

namespace ebb::ptx {
namespace {

constexpr std::pair<std::string_view, AtomicOp> kOps[] = {
    {"add", AtomicOp::add},        {"exch", AtomicOp::exchange}, {"cas", AtomicOp::compare_exchange},
    {"min", AtomicOp::min},        {"max", AtomicOp::max},       {"and", AtomicOp::conjunction},
    {"or", AtomicOp::disjunction}, {"xor", AtomicOp::exclusive}, {"inc", AtomicOp::increment},
    {"dec", AtomicOp::decrement},
};

template <class T>
T combined(AtomicOp op, T old, T a, T b) {
  switch (op) {
    case AtomicOp::add:
      if constexpr (std::is_floating_point_v<T>)
        return old + a;
      else
        return static_cast<T>(Wrapping<T>(old) + Wrapping<T>(a));
    case AtomicOp::exchange:
      return a;
    case AtomicOp::compare_exchange:
      return old == a ? b : old;
    case AtomicOp::min:
      return a < old ? a : old;
    case AtomicOp::max:
      return old < a ? a : old;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case AtomicOp::conjunction:
        return static_cast<T>(old & a);
      case AtomicOp::disjunction:
        return static_cast<T>(old | a);
      case AtomicOp::exclusive:
        return static_cast<T>(old ^ a);
      case AtomicOp::increment:
        return old >= a ? T{0} : static_cast<T>(old + 1);
      case AtomicOp::decrement:
        return old == 0 || old > a ? a : static_cast<T>(old - 1);
      default:
        break;
    }
  }
  return old;
}

// Sums of 32 bits in global memory take and give no subnormal numbers.
bool flushes(const Warp& warp, const Instruction& i, unsigned lane) {
  u64 address = address_of(warp, i, lane);
  return i.atomic == AtomicOp::add &&
         (i.space == Space::generic ? space_of(address) : i.space) == Space::global;
}

template <class T>
void update(Warp& warp, const Instruction& i, Lanes lanes) {
  if (warp.block->counts != nullptr) warp.block->counts->atomics += static_cast<u64>(std::popcount(lanes));
  each_lane(lanes, [&](unsigned lane) {
    unsigned char* at = resolve(warp, i.space, address_of(warp, i, lane), sizeof(T), lane, Access::update);
    T old;
    std::memcpy(&old, at, sizeof old);
    const T a = warp.get<T>(i.from[1], lane), b = i.from[2] == kNone ? T{} : warp.get<T>(i.from[2], lane);
    T next = combined(i.atomic, old, a, b);
    if constexpr (std::is_same_v<T, float>)
      if (flushes(warp, i, lane)) next = flushed(flushed(old) + flushed(a));
    std::memcpy(at, &next, sizeof next);
    if (i.to[0] != kNone) warp.put(i.to[0], lane, old);
  });
}

// Sums of 16-bit floats, single or in pairs.
template <class H>
void add_halves(Warp& warp, const Instruction& i, Lanes lanes) {
  if (warp.block->counts != nullptr) warp.block->counts->atomics += static_cast<u64>(std::popcount(lanes));
  each_lane(lanes, [&](unsigned lane) {
    unsigned char* at = resolve(warp, i.space, address_of(warp, i, lane), 2U * i.count, lane, Access::update);
    u32 old = 0;
    std::memcpy(&old, at, 2U * i.count);
    const u32 more = warp.get<u32>(i.from[1], lane);
    for (unsigned n = 0; n < i.count; ++n) {
      const H a{static_cast<u16>(old >> (16 * n))}, b{static_cast<u16>(more >> (16 * n))};
      const H sum = rounded<H>(sum_to_odd(value_of(a), value_of(b)));
      std::memcpy(at + 2 * n, &sum.bits, 2);
    }
    if (i.to[0] != kNone) warp.put(i.to[0], lane, old);
  });
}

}  // namespace

bool decode_atomic(Decoder& decoder, Statement& s, Instruction& i) {
  const bool returns = s.opcode() == "atom";
  if (!returns && s.opcode() != "red") return false;
  const Type type = s.type();
  read_space(s, i);
  s.ignore({"relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys", "noftz"});
  bool found = false;
  for (const auto& [name, op] : kOps)
    if (s.has(name)) found = true, i.atomic = op;
  s.require(found);
  const std::size_t first = returns ? 1 : 0;
  if (returns) i.to[0] = decoder.operand(s.operand(0), type);
  decoder.address(i, s.operand(first));
  i.from[1] = decoder.operand(s.operand(first + 1), type);
  const bool exchanges = i.atomic == AtomicOp::compare_exchange;
  if (exchanges) i.from[2] = decoder.operand(s.operand(first + 2), type);
  s.require(s.operands().size() == first + (exchanges ? 3 : 2));
  if (is_half(type)) {
    s.require(i.atomic == AtomicOp::add);
    i.count = is_pair(type) ? 2 : 1;
    i.execute = is_brain(type) ? add_halves<Brain> : add_halves<Half>;
  } else if (is_float(type)) {
    s.require(i.atomic == AtomicOp::add || i.atomic == AtomicOp::exchange);
    i.execute = for_float(type, []<class T>(T) { return Handler(update<T>); });
  } else {
    i.execute = for_integer(type, []<class T>(T) { return Handler(update<T>); });
  }
  return true;
}

}  // namespace ebb::ptx
