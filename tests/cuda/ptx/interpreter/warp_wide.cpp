// Warp-wide PTX instructions: shuffles, votes, matches, reductions, matrices.
#include "handlers.h"
#include "rounding.h"

#include <string>

// Warp-wide instructions: shuffles, votes, matches, reductions, and the warp barrier.

namespace ebb::ptx {
namespace {

void barrier(Warp& warp, const Instruction&, Lanes) { ++warp.interval; }

// shfl.sync: each lane reads the register of another lane in its segment of the warp. Source: PTX ISA,
// shfl.sync.
void shuffle(Warp& warp, const Instruction& i, Lanes lanes) {
  std::array<u32, 32> values{};
  each_lane(lanes, [&](unsigned lane) { values[lane] = warp.get<u32>(i.from[0], lane); });
  each_lane(lanes, [&](unsigned lane) {
    const u32 b = warp.get<u32>(i.from[1], lane) & 31, c = warp.get<u32>(i.from[2], lane);
    const u32 clamp = c & 31, segment = c >> 8 & 31;
    const int last = static_cast<int>((lane & segment) | (clamp & ~segment)), me = static_cast<int>(lane);
    int other = me;
    switch (i.shuffle) {
      case Shuffle::up:
        other = me - static_cast<int>(b);
        break;
      case Shuffle::down:
        other = me + static_cast<int>(b);
        break;
      case Shuffle::butterfly:
        other = me ^ static_cast<int>(b);
        break;
      case Shuffle::index:
        other = static_cast<int>((lane & segment) | (b & ~segment));
        break;
    }
    const bool inside = i.shuffle == Shuffle::up ? other >= last : other <= last;
    if (!inside) other = me;
    if ((lanes >> other & 1) == 0)
      warp.block->find("A shuffle reads lane " + std::to_string(other) + ", which is inactive.", lane);
    else
      warp.put(i.to[0], lane, values[static_cast<unsigned>(other)]);
    if (i.to[1] != kNone) warp.put(i.to[1], lane, u8{inside});
  });
}

void vote(Warp& warp, const Instruction& i, Lanes lanes) {
  Lanes votes = 0;
  each_lane(lanes, [&](unsigned lane) {
    if ((warp.get<u8>(i.from[0], lane) != 0) != i.negated) votes |= Lanes{1} << lane;
  });
  const u32 result = i.vote == Vote::ballot ? votes
                     : i.vote == Vote::all  ? votes == lanes
                     : i.vote == Vote::any  ? votes != 0
                                            : votes == 0 || votes == lanes;
  each_lane(lanes, [&](unsigned lane) { warp.put(i.to[0], lane, result); });
}

template <class T>
void match(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    Lanes equal = 0;
    each_lane(lanes, [&](unsigned other) {
      if (warp.get<T>(i.from[0], other) == warp.get<T>(i.from[0], lane)) equal |= Lanes{1} << other;
    });
    const bool all = equal == lanes;
    warp.put(i.to[0], lane, i.vote == Vote::any || all ? equal : 0);
    if (i.to[1] != kNone) warp.put(i.to[1], lane, u8{all});
  });
}

template <class T>
void reduce(Warp& warp, const Instruction& i, Lanes lanes) {
  T result = warp.get<T>(i.from[0], static_cast<unsigned>(std::countr_zero(lanes)));
  each_lane(lanes & (lanes - 1), [&](unsigned lane) {
    const T value = warp.get<T>(i.from[0], lane);
    switch (i.atomic) {
      case AtomicOp::add:
        result = static_cast<T>(u32(result) + u32(value));
        break;
      case AtomicOp::min:
        result = std::min(result, value);
        break;
      case AtomicOp::max:
        result = std::max(result, value);
        break;
      case AtomicOp::conjunction:
        result &= value;
        break;
      case AtomicOp::disjunction:
        result |= value;
        break;
      default:
        result ^= value;
    }
  });
  each_lane(lanes, [&](unsigned lane) { warp.put(i.to[0], lane, result); });
}

void active_mask(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) { warp.put(i.to[0], lane, lanes); });
}

void decode_shuffle(Decoder& decoder, Statement& s, Instruction& i) {
  s.require(s.has("sync") && s.operands().size() == 5);
  const bool up = s.has("up"), down = s.has("down"), butterfly = s.has("bfly");
  s.require(up || down || butterfly || s.has("idx"));
  i.shuffle = up ? Shuffle::up : down ? Shuffle::down : butterfly ? Shuffle::butterfly : Shuffle::index;
  s.require(s.type() == Type::b32);
  decoder.results(i, s.operand(0), Type::b32, Type::pred);
  for (std::size_t n = 0; n < 3; ++n) i.from[n] = decoder.operand(s.operand(n + 1), Type::u32);
  i.members = decoder.operand(s.operand(4), Type::u32);
  i.execute = shuffle;
}

void decode_vote(Decoder& decoder, Statement& s, Instruction& i) {
  s.require(s.has("sync"));
  const bool ballot = s.has("ballot"), all = s.has("all"), any = s.has("any");
  s.require(ballot || all || any || s.has("uni"));
  i.vote = ballot ? Vote::ballot : all ? Vote::all : any ? Vote::any : Vote::uniform;
  i.to[0] = decoder.operand(s.operand(0), s.type());
  i.from[0] = decoder.predicate(s.operand(1), i.negated);
  i.members = decoder.operand(s.operand(2), Type::u32);
  i.execute = vote;
}

void decode_match(Decoder& decoder, Statement& s, Instruction& i) {
  s.require(s.has("sync"));
  const bool any = s.has("any");
  s.require(any || s.has("all"));
  i.vote = any ? Vote::any : Vote::all;
  const Type type = s.type();
  s.require(type == Type::b32 || type == Type::b64);
  decoder.results(i, s.operand(0), Type::b32, Type::pred);
  i.from[0] = decoder.operand(s.operand(1), type);
  i.members = decoder.operand(s.operand(2), Type::u32);
  i.execute = size_of(type) == 4 ? match<u32> : match<u64>;
}

void decode_reduction(Decoder& decoder, Statement& s, Instruction& i) {
  s.require(s.has("sync"));
  i.atomic = s.has("add")   ? AtomicOp::add
             : s.has("min") ? AtomicOp::min
             : s.has("max") ? AtomicOp::max
             : s.has("and") ? AtomicOp::conjunction
             : s.has("or")  ? AtomicOp::disjunction
                            : AtomicOp::exclusive;
  s.require(i.atomic != AtomicOp::exclusive || s.has("xor"));
  const Type type = s.type();
  i.to[0] = decoder.operand(s.operand(0), type);
  i.from[0] = decoder.operand(s.operand(1), type);
  i.members = decoder.operand(s.operand(2), Type::u32);
  s.require(size_of(type) == 4 && !is_float(type));
  i.execute = is_signed(type) ? reduce<s32> : reduce<u32>;
}

}  // namespace

bool decode_warp(Decoder& decoder, Statement& s, Instruction& i) {
  const std::string_view op = s.opcode();
  if (op == "activemask") {
    i.to[0] = decoder.operand(s.operand(0), s.type());
    i.execute = active_mask;
    return true;
  }
  if (op == "bar") {
    s.require(s.has("warp") && s.has("sync"));
    i.members = decoder.operand(s.operand(0), Type::u32);
    i.execute = barrier;
  } else if (op == "shfl") {
    decode_shuffle(decoder, s, i);
  } else if (op == "vote") {
    decode_vote(decoder, s, i);
  } else if (op == "match") {
    decode_match(decoder, s, i);
  } else if (op == "redux") {
    decode_reduction(decoder, s, i);
  } else {
    return false;
  }
  i.flow = Flow::converge;
  return true;
}

// Matrices in the registers of a warp: ldmatrix, and mma.m16n8k16 of 16-bit floats with float accumulators.

namespace {

// ldmatrix: lane 8 m + r gives the address of row r of matrix m; each lane then gets two adjacent elements of
// a row, or of a column with .trans.
void load_matrices(Warp& warp, const Instruction& i, Lanes lanes) {
  u16 elements[4][8][8];
  for (unsigned m = 0; m < i.count; ++m) {
    count_request(warp, i, Lanes{255} << (8 * m), 16);
    for (unsigned r = 0; r < 8; ++r) {
      const unsigned lane = 8 * m + r;
      std::memcpy(elements[m][r],
                  resolve(warp, Space::shared, address_of(warp, i, lane), 16, lane, Access::read), 16);
    }
  }
  each_lane(lanes, [&](unsigned lane) {
    const unsigned line = lane / 4, first = lane % 4 * 2;
    for (unsigned m = 0; m < i.count; ++m) {
      const auto& e = elements[m];
      const u32 lower = i.transposed ? e[first][line] : e[line][first];
      const u32 upper = i.transposed ? e[first + 1][line] : e[line][first + 1];
      warp.put(i.to[m], lane, upper << 16 | lower);
    }
  });
}

// d = a b + c. The positions of elements are those of PTX ISA, "Matrix fragments for mma.m16n8k16 with
// floating point".
template <class H>
void multiply(Warp& warp, const Instruction& i, Lanes lanes) {
  double a[16][16], b[16][8];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned group = lane / 4, first = lane % 4 * 2;
    for (unsigned half = 0; half < 2; ++half) {
      const auto element = [&](unsigned operand) {
        return value_of(H{static_cast<u16>(warp.get<u32>(i.from[operand], lane) >> (16 * half))});
      };
      for (unsigned part = 0; part < 4; ++part)
        a[group + part % 2 * 8][first + part / 2 * 8 + half] = element(part);
      for (unsigned part = 0; part < 2; ++part) b[first + part * 8 + half][group] = element(4 + part);
    }
  }
  each_lane(lanes, [&](unsigned lane) {
    std::array<double, 4> sums;
    for (unsigned part = 0; part < 4; ++part) {
      const unsigned row = lane / 4 + part / 2 * 8, column = lane % 4 * 2 + part % 2;
      sums[part] = warp.get<float>(i.from[6 + part], lane);
      for (unsigned k = 0; k < 16; ++k) sums[part] += a[row][k] * b[k][column];
    }
    for (unsigned part = 0; part < 4; ++part) warp.put(i.to[part], lane, static_cast<float>(sums[part]));
  });
}

void decode_load(Decoder& decoder, Statement& s, Instruction& i) {
  s.require(s.has("sync") && s.has("aligned") && s.has("m8n8") && s.type() == Type::b16);
  read_space(s, i);
  s.require(i.space == Space::shared);
  i.count = s.has("x4") ? 4 : s.has("x2") ? 2 : 1;
  s.ignore({"x1"});
  i.transposed = s.has("trans");
  const auto to = decoder.operands(s.operand(0), Type::b32);
  s.require(to.size() == i.count);
  std::copy(to.begin(), to.end(), i.to.begin());
  decoder.address(i, s.operand(1));
  i.execute = load_matrices;
}

void decode_multiply(Decoder& decoder, Statement& s, Instruction& i) {
  s.require(s.has("sync") && s.has("aligned") && s.has("m16n8k16") && s.has("row") && s.has("col"));
  const Type c = s.type(), b = s.type(1), a = s.type(2), d = s.type(3);
  s.require(c == Type::f32 && d == Type::f32 && a == b && (a == Type::f16 || a == Type::bf16));
  const auto to = decoder.operands(s.operand(0), d);
  s.require(to.size() == 4);
  std::copy(to.begin(), to.end(), i.to.begin());
  std::size_t place = 0;
  for (std::size_t n = 0; n < 3; ++n)
    for (const int reg : decoder.operands(s.operand(n + 1), n == 2 ? Type::f32 : Type::b32))
      i.from.at(place++) = reg;
  s.require(place == 10);
  i.execute = is_brain(a) ? multiply<Brain> : multiply<Half>;
}

}  // namespace

bool decode_matrix(Decoder& decoder, Statement& s, Instruction& i) {
  if (s.opcode() == "ldmatrix")
    decode_load(decoder, s, i);
  else if (s.opcode() == "mma")
    decode_multiply(decoder, s, i);
  else
    return false;
  i.flow = Flow::converge;
  return true;
}

}  // namespace ebb::ptx
