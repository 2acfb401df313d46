// Loads and stores.
#include "handlers.h"

namespace ebb::ptx {
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

// Fences order memory between threads that run at once; here they run in turns. Prefetches change nothing.
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
  // Scopes and caches: threads take turns, and there is no cache.
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

}  // namespace ebb::ptx
