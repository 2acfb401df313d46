// AMX instructions with bfloat16, computed in a SIGILL handler as Intel's manual (volume 2) defines them.
#include "amx_in_software.h"

#include <ebb/core/isa.h>

#include "core/isa.h"

#include <atomic>

#if defined(__x86_64__) && defined(__linux__)

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>

namespace {

constexpr int kTiles = 8, kMostRows = 16, kMostBytes = 64;

struct Tile {
  int rows = 0, bytes = 0;
  std::uint8_t data[kMostRows][kMostBytes] = {};
};
struct Tiles {
  bool shaped = false;
  Tile tile[kTiles];
};

thread_local Tiles tiles;
std::atomic<std::int64_t> computed_count{0}, refused_count{0}, shaped_count{0};
std::atomic<Formula> formula_now{Formula::intels};
struct sigaction before;

// An AMX instruction: a VEX prefix of three bytes, opcode, ModRM, and optionally SIB and a displacement.
struct Instruction {
  int prefix, opcode;        // prefix 0, 1, 2, 3: none, 66, F3, F2
  int first, second, third;  // registers: ModRM.reg, ModRM.rm, VEX.vvvv
  bool memory;
  std::uint8_t* base;
  std::int64_t index;
  std::int64_t length;
};

bool decode(const std::uint8_t* code, const greg_t* saved, Instruction& out) {
  constexpr int kOrder[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  const auto value = [&](int number) { return static_cast<std::int64_t>(saved[kOrder[number]]); };
  constexpr std::uint8_t kVex = 0xC4, kMap = 2;                                          // 0F 38
  if (code[0] != kVex || (code[1] & 31) != kMap || (code[2] & 0x84) != 0) return false;  // W0, 128 bits
  const int high_base = (~code[1] >> 5 & 1) * 8, high_index = (~code[1] >> 6 & 1) * 8;
  const int mode = code[4] >> 6, low = code[4] & 7;
  out = {code[2] & 3, code[3], code[4] >> 3 & 7, low, ~code[2] >> 3 & 15, mode != 3, nullptr, 0, 5};
  if (!out.memory) return true;
  bool wide = mode == 2;
  std::int64_t address = 0;
  if (low == 4) {
    const int sib = code[out.length++], index = (sib >> 3 & 7) + high_index;
    if (index != 4) out.index = value(index) << (sib >> 6);
    if ((sib & 7) == 5 && mode == 0)
      wide = true;
    else
      address = value((sib & 7) + high_base);
  } else if (low == 5 && mode == 0) {
    wide = true;
    address = reinterpret_cast<std::int64_t>(code) + out.length + 4;  // the address of the next instruction
  } else {
    address = value(low + high_base);
  }
  if (wide) {
    std::int32_t offset;
    std::memcpy(&offset, code + out.length, sizeof offset);
    address += offset;
    out.length += 4;
  } else if (mode == 1) {
    address += static_cast<std::int8_t>(code[out.length++]);
  }
  out.base = reinterpret_cast<std::uint8_t*>(address);
  return true;
}

bool shape(const std::uint8_t* from) {
  constexpr int kBytesAt = 16, kRowsAt = 48;
  for (int i = 0; i < 64; ++i) {
    const bool reserved =
        (i >= 2 && i < kBytesAt) || (i >= kBytesAt + 2 * kTiles && i < kRowsAt) || i >= kRowsAt + kTiles;
    if (reserved && from[i] != 0) return false;
  }
  if (from[0] != 1 || from[1] != 0) return false;
  for (int t = 0; t < kTiles; ++t) {
    const int rows = from[kRowsAt + t], bytes = from[kBytesAt + 2 * t] + 256 * from[kBytesAt + 2 * t + 1];
    if (rows > kMostRows || bytes > kMostBytes || (rows == 0) != (bytes == 0)) return false;
    tiles.tile[t] = Tile();
    tiles.tile[t].rows = rows;
    tiles.tile[t].bytes = bytes;
  }
  shaped_count += !tiles.shaped;
  tiles.shaped = true;
  return true;
}

// Denormal numbers count as 0 and become 0; results are rounded to nearest, ties to even. A double holds the
// sum of two floats, or of a float and a product of two bfloat16, so precisely that rounding it again gives
// the right float.
float flushed(double x) {
  const float rounded = static_cast<float>(x);
  return std::fabs(rounded) < std::numeric_limits<float>::min() ? std::copysign(0.f, rounded) : rounded;
}
float widened(const std::uint8_t* bfloat16) {
  return flushed(std::bit_cast<float>(bfloat16[0] << 16 | bfloat16[1] << 24));
}

bool multiply_add(Tile& sum, const Tile& left, const Tile& right, Formula formula) {
  if (left.bytes % 4 != 0 || left.rows != sum.rows || right.rows != left.bytes / 4 ||
      right.bytes != sum.bytes)
    return false;
  constexpr int kMost = kMostBytes / 4;
  const int pairs = left.bytes / 4, columns = sum.bytes / 4, swap = formula == Formula::swaps_pairs;
  float factors[kMost][2][kMost];
  for (int k = 0; k < pairs; ++k)
    for (int n = 0; n < columns; ++n)
      for (int h = 0; h < 2; ++h) factors[k][h ^ swap][n] = widened(right.data[k] + 4 * n + 2 * h);
  for (int m = 0; m < sum.rows; ++m) {
    float halves[2][kMost] = {}, row[kMost];
    const int last = formula == Formula::loses_last_pair ? pairs - 1 : pairs;
    for (int k = 0; k < last; ++k)
      for (int h = 0; h < 2; ++h) {
        const double factor = widened(left.data[m] + 4 * k + 2 * h);
        for (int n = 0; n < columns; ++n) halves[h][n] = flushed(halves[h][n] + factor * factors[k][h][n]);
      }
    const int to = formula == Formula::mixes_rows && m > 0 ? sum.rows - m : m;
    std::memcpy(row, sum.data[to], sizeof row);
    for (int n = 0; n < columns; ++n) {
      const double start = formula == Formula::forgets_sum ? 0 : flushed(row[n]);
      row[n] = flushed(start + flushed(double{halves[0][n]} + halves[1][n]));
    }
    std::memcpy(sum.data[to], row, static_cast<std::size_t>(sum.bytes));
  }
  return true;
}

bool copy_rows(Tile& tile, const Instruction& at, bool load) {
  for (int r = 0; r < tile.rows; ++r) {
    std::uint8_t* const row = at.base + r * at.index;
    std::memcpy(load ? tile.data[r] : row, load ? row : tile.data[r], static_cast<std::size_t>(tile.bytes));
  }
  return true;
}

bool clear(Tile& tile) {
  std::memset(tile.data, 0, sizeof tile.data);
  return true;
}

// Computes an instruction. Returns whether a processor would have executed it.
bool compute(const Instruction& it) {
  constexpr int kShape = 0x49, kMove = 0x4B, kMultiply = 0x5C;
  const bool shaping = it.opcode == kShape && it.prefix == 0;
  if (shaping && it.memory) return shape(it.base + it.index);
  if (shaping) {
    shaped_count -= tiles.shaped;
    tiles = Tiles();
    return true;
  }
  Tile& first = tiles.tile[it.first];
  if (!tiles.shaped || first.rows == 0) return false;
  if (it.opcode == kShape) return it.prefix == 3 && clear(first);
  if (it.opcode == kMove) return it.memory && copy_rows(first, it, it.prefix == 3);
  return it.opcode == kMultiply && it.prefix == 2 && it.third < kTiles && it.first != it.second &&
         it.first != it.third && it.second != it.third &&
         multiply_add(first, tiles.tile[it.second], tiles.tile[it.third], formula_now.load());
}

void handle(int signal, siginfo_t*, void* context) {
  greg_t* const saved = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  Instruction it;
  if (!decode(reinterpret_cast<const std::uint8_t*>(saved[REG_RIP]), saved, it)) {
    ::sigaction(signal, &before, nullptr);  // not an AMX instruction: the signal is raised again
    return;
  }
  ++computed_count;
  refused_count += !compute(it);
  saved[REG_RIP] += it.length;
}

}  // namespace

AmxInSoftware::AmxInSoftware(Formula formula) {
  formula_now = formula;
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGILL, &action, &before);
  // A processor with AMX lets every process configure tiles, but multiplies only for a process that has
  // requested permission.
  constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  ::syscall(SYS_arch_prctl, kRequest, kTileData);
  ebb::detail::amx = ebb::detail::Amx::granted;
}
AmxInSoftware::~AmxInSoftware() {
  ebb::detail::amx = ebb::detail::Amx::unasked;
  ::sigaction(SIGILL, &before, nullptr);
}

bool AmxInSoftware::is_used() {
  return ebb::cpu_isa() == "avx512" && ebb::detail::bfloat16_instructions.load();
}
std::int64_t AmxInSoftware::computed() { return computed_count; }
std::int64_t AmxInSoftware::refused() { return refused_count; }
std::int64_t AmxInSoftware::shaped() { return shaped_count; }

#else

AmxInSoftware::AmxInSoftware(Formula) {}
AmxInSoftware::~AmxInSoftware() = default;
bool AmxInSoftware::is_used() { return false; }
std::int64_t AmxInSoftware::computed() { return 0; }
std::int64_t AmxInSoftware::refused() { return 0; }
std::int64_t AmxInSoftware::shaped() { return 0; }

#endif
