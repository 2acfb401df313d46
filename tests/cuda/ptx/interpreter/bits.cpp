// PTX moves and bit operations.
#include "handlers.h"

#include <bit>

namespace ebb::ptx {
namespace {

struct Same {
  template <class T>
  static T apply(T a) {
    return a;
  }
};
struct And {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
  static u8 apply(u8 predicate) { return predicate == 0 ? 1 : 0; }
};
struct CountOnes {
  template <class T>
  static u32 apply(T a) {
    return static_cast<u32>(std::popcount(a));
  }
};
struct CountLeadingZeros {
  template <class T>
  static u32 apply(T a) {
    return static_cast<u32>(std::countl_zero(a));
  }
};
struct Reverse {
  template <class T>
  static T apply(T a) {
    T reversed = 0;
    for (unsigned n = 0; n < 8 * sizeof(T); ++n)
      reversed |= static_cast<T>((a >> n & 1) << (8 * sizeof(T) - 1 - n));
    return reversed;
  }
};

// Shifts by the width or more give zeros, or copies of the sign.
template <class T>
void shift_left(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    const T a = warp.get<T>(i.from[0], lane);
    const u32 n = warp.get<u32>(i.from[1], lane);
    warp.put(i.to[0], lane, n >= 8 * sizeof(T) ? T{0} : static_cast<T>(Wrapping<T>(a) << n));
  });
}
template <class T>
void shift_right(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    const T a = warp.get<T>(i.from[0], lane);
    const u32 n = warp.get<u32>(i.from[1], lane);
    warp.put(i.to[0], lane, n >= 8 * sizeof(T) ? static_cast<T>(a < 0 ? -1 : 0) : static_cast<T>(a >> n));
  });
}

// shf: shifts a pair of words and returns the upper word (left) or the lower one (right).
template <bool right>
void funnel_shift(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    const u64 pair = u64{warp.get<u32>(i.from[1], lane)} << 32 | warp.get<u32>(i.from[0], lane);
    const u32 asked = warp.get<u32>(i.from[2], lane), n = i.wrap ? asked & 31 : std::min<u32>(asked, 32);
    warp.put(i.to[0], lane, static_cast<u32>(right ? pair >> n : (pair << n) >> 32));
  });
}

// bfind: the position of the highest bit that differs from the sign; all ones if there is none.
template <class T>
void find_highest(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    const T a = warp.get<T>(i.from[0], lane);
    const auto bits = static_cast<std::make_unsigned_t<T>>(a < 0 ? ~a : a);
    const u32 zeros = static_cast<u32>(std::countl_zero(bits));
    warp.put(i.to[0], lane,
             bits == 0    ? ~u32{0}
             : i.from_top ? zeros
                          : static_cast<u32>(8 * sizeof(T)) - 1 - zeros);
  });
}

// bfe: `length` bits from `start`, extended with zeros or with the highest existing bit of them.
template <class T>
void extract(Warp& warp, const Instruction& i, Lanes lanes) {
  constexpr u32 kWidth = 8 * sizeof(T);
  each_lane(lanes, [&](unsigned lane) {
    const T a = warp.get<T>(i.from[0], lane);
    const u32 start = warp.get<u32>(i.from[1], lane) & 255, length = warp.get<u32>(i.from[2], lane) & 255;
    T field = 0;
    if (length > 0) {
      const u32 top = std::min(start + length - 1, kWidth - 1);
      const bool fill = std::is_signed_v<T> && (a >> top & 1) != 0;
      for (u32 n = 0; n < kWidth; ++n) {
        const bool bit = n < length && start + n < kWidth ? (a >> (start + n) & 1) != 0 : fill;
        if (bit) field = static_cast<T>(field | static_cast<T>(std::make_unsigned_t<T>{1} << n));
      }
    }
    warp.put(i.to[0], lane, field);
  });
}

// bfi: inserts `length` bits of a into b at `start`.
template <class T>
void insert(Warp& warp, const Instruction& i, Lanes lanes) {
  constexpr u32 kWidth = 8 * sizeof(T);
  each_lane(lanes, [&](unsigned lane) {
    const T a = warp.get<T>(i.from[0], lane), b = warp.get<T>(i.from[1], lane);
    const u32 start = warp.get<u32>(i.from[2], lane) & 255, length = warp.get<u32>(i.from[3], lane) & 255;
    const T ones = length >= kWidth ? ~T{0} : static_cast<T>((T{1} << length) - 1);
    const T mask = start >= kWidth ? T{0} : static_cast<T>(ones << start);
    const T moved = start >= kWidth ? T{0} : static_cast<T>(a << start);
    warp.put(i.to[0], lane, static_cast<T>((b & ~mask) | (moved & mask)));
  });
}

// prmt: four of eight bytes; bit 3 of a selector replicates the sign of the byte.
void permute(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    const u64 pair = u64{warp.get<u32>(i.from[1], lane)} << 32 | warp.get<u32>(i.from[0], lane);
    const u32 selectors = warp.get<u32>(i.from[2], lane);
    u32 word = 0;
    for (unsigned n = 0; n < 4; ++n) {
      const u32 selector = selectors >> (4 * n) & 15;
      u32 byte = static_cast<u32>(pair >> (8 * (selector & 7))) & 255;
      if ((selector & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
      word |= byte << (8 * n);
    }
    warp.put(i.to[0], lane, word);
  });
}

// lop3: any function of three bits, given by its truth table.
void logic(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    const u32 a = warp.get<u32>(i.from[0], lane), b = warp.get<u32>(i.from[1], lane),
              c = warp.get<u32>(i.from[2], lane);
    u32 word = 0;
    for (unsigned row = 0; row < 8; ++row)
      if ((i.immediate >> row & 1) != 0)
        word |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
    warp.put(i.to[0], lane, word);
  });
}

template <class T>
void select(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    const bool first = warp.get<u8>(i.from[2], lane) != 0;
    warp.put(i.to[0], lane, first ? warp.get<T>(i.from[0], lane) : warp.get<T>(i.from[1], lane));
  });
}

// mov d, {a, b}
void pack(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    u64 bits = 0;
    for (unsigned n = 0; n < i.count; ++n) {
      const u64 part = warp.get<u64>(i.from[n], lane) & ((u64{1} << (8 * i.bytes)) - 1);
      bits |= part << (8 * i.bytes * n);
    }
    warp.put(i.to[0], lane, bits);
  });
}
// mov {a, b}, d
void unpack(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    const u64 bits = warp.get<u64>(i.from[0], lane);
    for (unsigned n = 0; n < i.count; ++n)
      if (i.to[n] != kNone)
        warp.put(i.to[n], lane, bits >> (8 * i.bytes * n) & ((u64{1} << (8 * i.bytes)) - 1));
  });
}

void decode_move(Decoder& decoder, Statement& s, Instruction& i) {
  const Type type = s.type();
  s.require(s.operands().size() == 2 && size_of(type) <= 8);
  const bool packs = s.operand(1).starts_with('{'), unpacks = s.operand(0).starts_with('{');
  const auto to = decoder.operands(s.operand(0), type), from = decoder.operands(s.operand(1), type);
  const std::size_t parts = std::max(to.size(), from.size());
  s.require(parts <= 4 && (packs || unpacks) == (parts > 1));
  std::copy(to.begin(), to.end(), i.to.begin());
  std::copy(from.begin(), from.end(), i.from.begin());
  i.count = static_cast<u8>(parts);
  i.bytes = static_cast<u8>(size_of(type) / parts);
  i.execute = packs     ? pack
              : unpacks ? unpack
                        : for_bits(type, []<class T>(T) { return Handler(unary<T, Same>); });
}

bool decode_shift(Decoder& decoder, Statement& s, Instruction& i) {
  const std::string_view op = s.opcode();
  if (op == "shl" || op == "shr") {
    const Type type = s.type();
    i.to[0] = decoder.operand(s.operand(0), type);
    i.from[0] = decoder.operand(s.operand(1), type);
    i.from[1] = decoder.operand(s.operand(2), Type::u32);
    i.execute = op == "shr" ? for_integer(type, []<class T>(T) { return Handler(shift_right<T>); })
                            : for_bits(type, []<class T>(T) { return Handler(shift_left<T>); });
    return true;
  }
  if (op != "shf") return false;
  const bool right = s.has("r");
  s.require(right || s.has("l"));
  i.wrap = s.has("wrap");
  s.require(i.wrap || s.has("clamp"));
  s.require(s.type() == Type::b32);
  read_operands(decoder, s, i, Type::b32, 3);
  i.execute = right ? funnel_shift<true> : funnel_shift<false>;
  return true;
}

// Bit counts are 32-bit integers.
bool decode_count(Decoder& decoder, Statement& s, Instruction& i) {
  const std::string_view op = s.opcode();
  if (op != "popc" && op != "clz" && op != "bfind") return false;
  const Type type = s.type();
  i.to[0] = decoder.operand(s.operand(0), Type::u32);
  i.from[0] = decoder.operand(s.operand(1), type);
  i.from_top = s.has("shiftamt");
  i.execute = op == "popc"  ? for_bits(type, []<class T>(T) { return Handler(unary<T, CountOnes>); })
              : op == "clz" ? for_bits(type, []<class T>(T) { return Handler(unary<T, CountLeadingZeros>); })
                            : for_integer(type, []<class T>(T) { return Handler(find_highest<T>); });
  return true;
}

// bfe, bfi: positions and lengths are 32-bit integers.
bool decode_field(Decoder& decoder, Statement& s, Instruction& i) {
  const std::string_view op = s.opcode();
  if (op != "bfe" && op != "bfi") return false;
  const Type type = s.type();
  const std::size_t values = op == "bfe" ? 1 : 2;
  i.to[0] = decoder.operand(s.operand(0), type);
  for (std::size_t n = 0; n < values + 2; ++n)
    i.from[n] = decoder.operand(s.operand(n + 1), n < values ? type : Type::u32);
  i.execute = op == "bfe" ? for_integer(type, []<class T>(T) { return Handler(extract<T>); })
                          : for_bits(type, []<class T>(T) { return Handler(insert<T>); });
  return true;
}

void decode_select(Decoder& decoder, Statement& s, Instruction& i) {
  const Type type = s.type();
  i.to[0] = decoder.operand(s.operand(0), type);
  i.from[0] = decoder.operand(s.operand(1), type);
  i.from[1] = decoder.operand(s.operand(2), type);
  i.from[2] = decoder.operand(s.operand(3), Type::pred);
  i.execute = for_bits(type, []<class T>(T) { return Handler(select<T>); });
}

}  // namespace

bool decode_bits(Decoder& decoder, Statement& s, Instruction& i) {
  const std::string_view op = s.opcode();
  if (op == "mov") {
    decode_move(decoder, s, i);
    return true;
  }
  if (op == "selp") {
    decode_select(decoder, s, i);
    return true;
  }
  if (op == "and" || op == "or" || op == "xor") {
    const Type type = s.type();
    read_operands(decoder, s, i, type, 2);
    i.execute = for_bits(type, [&]<class T>(T) {
      return op == "and"  ? Handler(binary<T, And>)
             : op == "or" ? Handler(binary<T, Or>)
                          : Handler(binary<T, Xor>);
    });
    return true;
  }
  if (op == "not" || op == "brev") {
    const Type type = s.type();
    read_operands(decoder, s, i, type, 1);
    i.execute = for_bits(
        type, [&]<class T>(T) { return op == "not" ? Handler(unary<T, Not>) : Handler(unary<T, Reverse>); });
    return true;
  }
  if (op == "prmt" || op == "lop3") {
    const bool permutes = op == "prmt";
    s.require(s.type() == Type::b32);
    s.require(s.operands().size() == (permutes ? 4U : 5U));
    i.to[0] = decoder.operand(s.operand(0), Type::b32);
    for (std::size_t n = 0; n < 3; ++n) i.from[n] = decoder.operand(s.operand(n + 1), Type::b32);
    if (!permutes) {
      const auto table = literal(s.operand(4), Type::u32);
      s.require(table.has_value());
      i.immediate = static_cast<s64>(*table);
    }
    i.execute = permutes ? permute : logic;
    return true;
  }
  return decode_shift(decoder, s, i) || decode_count(decoder, s, i) || decode_field(decoder, s, i);
}

}  // namespace ebb::ptx
