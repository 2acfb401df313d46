// The types of PTX, and a decoded instruction.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ebb::ptx {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

enum class Type : u8 {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  bf16,
  f32,
  f64,
  f16x2,
  bf16x2
};

/// Returns the type of that name (without the leading dot), or Type::none.
Type type_named(std::string_view name);
/// The size of a value in bytes.
unsigned size_of(Type type);
bool is_signed(Type type);
inline bool is_float(Type type) { return type == Type::f32 || type == Type::f64; }
inline bool is_half(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2;
}
inline bool is_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }
/// Whether a 16-bit type is bfloat16.
inline bool is_brain(Type type) { return type == Type::bf16 || type == Type::bf16x2; }

// A decoded instruction.

struct Warp;
struct Instruction;

/// A set of lanes of a warp, one bit for each.
using Lanes = u32;
constexpr Lanes kAllLanes = ~Lanes{0};

/// Executes an instruction for some lanes of a warp.
using Handler = void (*)(Warp& warp, const Instruction& instruction, Lanes lanes);

/// The effect of an instruction on control flow.
enum class Flow : u8 {
  next,      // continues with the next instruction
  branch,    // branches to `target` for lanes whose guard is true
  table,     // branches to an entry of the table `target`
  exit,      // the lane exits
  barrier,   // waits for the threads of the block
  converge,  // waits for the lanes of its member mask, and is then executed once for all of them
};

/// State spaces of memory. Parameters of called functions are in local memory.
enum class Space : u8 { generic, global, shared, local, parameter, constant };

/// Rounding modes of floats, and of conversions to integers.
enum class Rounding : u8 { nearest, zero, down, up };
enum class Integral : u8 { no, nearest, zero, down, up };

/// Comparisons. The `u` forms are true for NaN too; `number` and `nan` test only for NaN.
enum class Comparison : u8 { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, number, nan };
/// How setp combines its comparison with a predicate, and what a barrier reduces.
enum class Join : u8 { none, conjunction, disjunction, exclusive, population };

enum class AtomicOp : u8 {
  add,
  exchange,
  compare_exchange,
  min,
  max,
  conjunction,
  disjunction,
  exclusive,
  increment,
  decrement
};
enum class Shuffle : u8 { up, down, butterfly, index };
enum class Vote : u8 { ballot, all, any, uniform };

/// No register.
constexpr int kNone = -1;

struct Instruction {
  Handler execute = nullptr;
  std::array<int, 4> to{kNone, kNone, kNone, kNone};  // registers
  std::array<int, 10> from{kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone};
  int guard = kNone;    // a predicate
  int members = kNone;  // for Flow::converge: the register with the mask; kNone for all 32 lanes
  bool guard_negated = false;
  Flow flow = Flow::next;
  Space space = Space::generic;
  u8 bytes = 0;  // of an element
  u8 count = 1;  // number of elements in vectors, pairs and matrices
  bool sign_extend = false;
  bool strong = false;         // may be concurrent with accesses of other threads
  bool address_is_32 = false;  // addresses of shared memory may be in 32-bit registers
  bool negated = false;        // a predicate among the sources is negated
  bool flush = false;          // subnormals are 0 (.ftz)
  bool saturate = false;
  bool keep_nan = false;  // min and max of a NaN are NaN (.NaN)
  bool relu = false;      // negative results are 0
  bool carry_in = false, carry_out = false;
  bool high = false;      // returns the upper half of a product
  bool wrap = false;      // shifts count modulo the width
  bool from_top = false;  // bfind counts from the highest bit
  bool signed_a = false, signed_b = false;
  bool transposed = false;
  bool to_generic = false;  // cvta: the result is a generic address
  Rounding rounding = Rounding::nearest;
  Integral integral = Integral::no;
  Comparison comparison = Comparison::eq;
  Join join = Join::none;
  AtomicOp atomic = AtomicOp::add;
  Shuffle shuffle = Shuffle::up;
  Vote vote = Vote::ballot;
  int target = kNone;  // of a branch: an instruction; of a table: its number
  s64 immediate = 0;   // added to addresses; the table of lop3
  int text = kNone;    // index of its text
};

}  // namespace ebb::ptx
