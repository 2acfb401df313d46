// PTX memory accesses and their checks; loads, stores and atomic operations.
#include "handlers.h"
#include "machine.h"
#include "rounding.h"

#include <algorithm>
#include <cstdio>

// Memory accesses and their checks.

namespace ebb::ptx {
namespace {

std::string place_in(u64 offset, u64 bytes) {
  return "byte " + std::to_string(offset) + " of " + std::to_string(bytes);
}

std::string hexadecimal(u64 address) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%#llx", static_cast<unsigned long long>(address));
  return text.data();
}

void report_clash(const Warp& warp, const Found& found, Access access, const char* space, unsigned lane) {
  const char* const kind = found.conflict == Conflict::warp    ? "A hazard inside a warp (no __syncwarp)"
                           : found.conflict == Conflict::block ? "A race inside a block (no barrier)"
                                                               : "A race between blocks";
  warp.block->find(std::string(kind) + " in " + space + " memory: a " + (writes(access) ? "write" : "read") +
                       " after the " + (found.with_read ? "read" : "write") + " of thread " +
                       std::to_string(found.with.thread()) + ".",
                   lane);
}

unsigned char* shared_bytes(Warp& warp, u64 address, unsigned bytes, unsigned lane, Access access) {
  Block& block = *warp.block;
  if (address > block.shared.size() || bytes > block.shared.size() - address)
    block.fail(Status::illegal_address,
               "An access of shared memory out of bounds: " + place_in(address, block.shared.size()) + ".",
               lane);
  Moment now = block.moment(warp, lane);
  now.launch_start = block.start;  // each block has its own shared memory
  const auto is_written = [&](unsigned n) {
    return block.shadow[address + n].writer.interval() >= block.start;
  };
  for (unsigned n = 0; n < bytes; ++n) {
    ShadowByte& byte = block.shadow[address + n];
    if (reads(access) && !is_written(n)) {
      if (block.padded && (is_written(0) || is_written(bytes - 1))) continue;
      block.find("A read of unwritten shared memory: " + place_in(address + n, block.shared.size()) + ".",
                 lane);
      byte.writer = AccessRecord(block.start, now.thread, false, 0);
      continue;
    }
    const Found found = check_access(byte, now, access);
    if (found.conflict != Conflict::none && block.run.settings.shared_races)
      report_clash(warp, found, access, "shared", lane);
  }
  return block.shared.data() + address;
}

Allocation* allocation_around(Block& block, u64 address) {
  for (std::size_t n = 0; n < block.recent.size(); ++n) {
    Allocation* const known = block.recent[n];
    if (known != nullptr && address - known->first < known->last - known->first) return known;
  }
  Allocation* const found = block.run.memory->around(address);
  if (found != nullptr) {
    std::copy_backward(block.recent.begin(), block.recent.end() - 1, block.recent.end());
    block.recent.front() = found;
  }
  return found;
}

bool is_variable(const Block& block, u64 address, unsigned bytes) {
  for (const auto& [name, variable] : block.entry.module->variables)
    if (address >= variable.address && address + bytes <= variable.address + variable.bytes) return true;
  return false;
}

void check_global(Warp& warp, Allocation& memory, u64 offset, unsigned bytes, unsigned lane, Access access) {
  Block& block = *warp.block;
  if (memory.written) {
    unsigned char* const written = memory.written.get() + offset;
    if (reads(access)) {
      const unsigned char* const hole = std::find(written, written + bytes, 0);
      // Updates of single bytes use the word around them; the other bytes may be unwritten.
      const bool is_partly_written = std::find(written, written + bytes, 1) != written + bytes;
      if (hole != written + bytes && !(is_strong(access) && is_partly_written))
        block.find("A read of unwritten global memory: " +
                       place_in(offset + static_cast<u64>(hole - written), memory.last - memory.first) + ".",
                   lane);
    }
    std::memset(written, 1, bytes);
  }
  if (ShadowByte* const shadow = block.global_races ? memory.shadow.at(offset) : nullptr) {
    const Moment now = block.moment(warp, lane);
    for (unsigned n = 0; n < bytes; ++n)
      if (const Found found = check_access(shadow[n], now, access); found.conflict != Conflict::none)
        report_clash(warp, found, access, "global", lane);
  }
}

[[noreturn]] void report_outside(Block& block, u64 address, unsigned bytes, unsigned lane, Access access) {
  std::string text = std::string("A ") + (writes(access) ? "write" : "read") + " of " +
                     std::to_string(bytes) + " bytes outside of any allocation (" + hexadecimal(address) +
                     ")";
  if (const Allocation* const near = block.run.memory->before(address))
    text += ", at " + place_in(address - near->first, near->last - near->first) + " of the one before";
  block.fail(Status::illegal_address, text + ".", lane);
}

}  // namespace

unsigned char* resolve(Warp& warp, Space space, u64 address, unsigned bytes, unsigned lane, Access access) {
  Block& block = *warp.block;
  if (address % bytes != 0)
    block.fail(Status::misaligned_address, "A misaligned access of " + std::to_string(bytes) + " bytes.",
               lane);
  if (space == Space::generic) space = space_of(address);
  if (space == Space::shared) return shared_bytes(warp, address, bytes, lane, access);
  if (space == Space::local) {
    const std::size_t all = block.entry.local_bytes;
    if (address > all || bytes > all - address)
      block.fail(Status::illegal_address,
                 "An access of local memory out of bounds: " + place_in(address, all) + ".", lane);
    return warp.local.data() + lane * all + address;
  }
  if (space == Space::parameter) {
    const std::size_t all = block.parameters.size();
    if (writes(access) || address > all || bytes > all - address)
      block.fail(Status::illegal_address,
                 "An access of parameters out of bounds, or a write: " + place_in(address, all) + ".", lane);
    return const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(block.parameters.data())) +
           address;
  }
  if (Allocation* const memory = allocation_around(block, address);
      memory != nullptr && address + bytes <= memory->last)
    check_global(warp, *memory, address - memory->first, bytes, lane, access);
  else if (!is_variable(block, address, bytes))
    report_outside(block, address, bytes, lane, access);
  return reinterpret_cast<unsigned char*>(address);
}

void count_request(const Warp& warp, const Instruction& i, Lanes lanes, unsigned bytes) {
  Counts* const counts = warp.block->counts;
  if (counts == nullptr || lanes == 0) return;
  std::array<u64, 32> addresses{};
  each_lane(lanes, [&](unsigned lane) { addresses[lane] = address_of(warp, i, lane); });
  Space space = i.space;
  if (space == Space::generic) {
    u64 first = addresses[static_cast<std::size_t>(std::countr_zero(lanes))];
    space = space_of(first);
  }
  if (space == Space::global) count_global(*counts, addresses.data(), lanes, bytes);
  if (space == Space::shared) count_shared(*counts, addresses.data(), lanes, bytes);
  if (space == Space::local) ++counts->local_requests;
}

// Loads and stores.

namespace {

void load_from(Warp& warp, const Instruction& i, Lanes lanes) {
  const unsigned bytes = i.bytes * i.count, shift = 64 - 8U * i.bytes;
  count_request(warp, i, lanes, bytes);
  each_lane(lanes, [&](unsigned lane) {
    const unsigned char* at = resolve(warp, i.space, address_of(warp, i, lane), bytes, lane,
                                      i.strong ? Access::strong_read : Access::read);
    for (unsigned n = 0; n < i.count; ++n) {
      u64 bits = 0;
      std::memcpy(&bits, at + n * i.bytes, i.bytes);
      if (i.sign_extend) bits = static_cast<u64>(static_cast<s64>(bits << shift) >> shift);
      if (i.to[n] != kNone) warp.put(i.to[n], lane, bits);
    }
  });
}

void store_to(Warp& warp, const Instruction& i, Lanes lanes) {
  const unsigned bytes = i.bytes * i.count;
  count_request(warp, i, lanes, bytes);
  each_lane(lanes, [&](unsigned lane) {
    unsigned char* at = resolve(warp, i.space, address_of(warp, i, lane), bytes, lane,
                                i.strong ? Access::strong_write : Access::write);
    for (unsigned n = 0; n < i.count; ++n) {
      const u64 bits = warp.get<u64>(i.from[n + 1], lane);
      std::memcpy(at + n * i.bytes, &bits, i.bytes);
    }
  });
}

void nothing(Warp&, const Instruction&, Lanes) {}

// Fences order memory between concurrent threads; here threads run in turns. Prefetches have no effect.
bool decode_hint(Statement& s, Instruction& i) {
  const std::string_view op = s.opcode();
  if (op != "membar" && op != "fence" && op != "prefetch" && op != "prefetchu" && op != "nanosleep")
    return false;
  s.ignore({"cta", "gl", "sys", "sc", "acq_rel", "gpu", "global", "L1", "L2", "u32"});
  if (!s.operands().empty()) s.operand(s.operands().size() - 1);
  i.execute = nothing;
  return true;
}

}  // namespace

bool decode_memory(Decoder& decoder, Statement& s, Instruction& i) {
  if (decode_hint(s, i)) return true;
  const bool loads = s.opcode() == "ld";
  if (!loads && s.opcode() != "st") return false;
  const Type type = s.type();
  read_space(s, i);
  const bool volatile_access = s.has("volatile"), relaxed = s.has("relaxed"), acquires = s.has("acquire");
  i.strong = s.has("release") || volatile_access || relaxed || acquires;
  // Scopes and caches: threads run in turns, and there is no cache.
  s.ignore({"nc", "weak", "cta", "gpu", "sys", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "L1::no_allocate",
            "L1::evict_last", "L2::64B", "L2::128B", "L2::256B"});
  i.count = s.has("v2") ? 2 : s.has("v4") ? 4 : 1;
  i.bytes = static_cast<u8>(size_of(type));
  s.require(i.bytes <= 8 && i.bytes * i.count <= 16);
  i.sign_extend = loads && is_signed(type);
  const auto values = decoder.operands(s.operand(loads ? 0 : 1), type);
  s.require(values.size() == i.count, "the number of elements");
  std::copy(values.begin(), values.end(), loads ? i.to.begin() : i.from.begin() + 1);
  decoder.address(i, s.operand(loads ? 1 : 0));
  i.execute = loads ? load_from : store_to;
  return true;
}

// Atomic operations.

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

// 32-bit sums in global memory flush subnormal inputs and results.
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
