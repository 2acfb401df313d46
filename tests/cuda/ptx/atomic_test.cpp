// Atomic operations: what they leave in memory, and what they return.
#include "support.h"

namespace ebb::ptx::testing {
namespace {

/// Text that puts the address of a cell of the lane's own into %x0, and %a into the cell. The result's
/// column, behind so many inputs, is the global memory.
std::string cell(const std::string& space, unsigned bytes, int inputs) {
  const std::string each = std::to_string(bytes), width = std::to_string(8 * bytes);
  const std::string store = " st" + space + ".b" + width + " [%x0], %a; ";
  if (space == ".global")
    return "ld.param.u64 %x0, [column" + std::to_string(inputs) + "]; mad.wide.u32 %x0, %row, " + each +
           ", %x0;" + store;
  const std::string shared =
      ".shared .align 8 .b8 cells[256]; mov.u64 %x0, cells; mad.wide.u32 %x0, %laneid, 8, %x0;";
  return shared + (space.empty() ? " cvta.shared.u64 %x0, %x0;" : "") + store;
}

/// Checks the operation, "add.u32" for one, by what it returns and by what it leaves, as atom and as red, in
/// three spaces.
template <class T, class F, class... Tables>
void check(const std::string& operation, F expected, const Tables&... tables) {
  const bool exchanges = sizeof...(tables) == 3;
  const std::string operands = exchanges ? ", [%x0], %b, %c;" : ", [%x0], %b;",
                    width = std::to_string(8 * sizeof(T));
  for (const std::string space : {".global", ".shared", ""}) {
    const std::string start = cell(space, sizeof(T), sizeof...(tables)),
                      load = " ld" + space + ".b" + width + " %d, [%x0];";
    agrees<T>(start + "atom" + space + "." + operation + " %d" + operands, in(tables...),
              [](T old, auto...) { return old; });
    agrees<T>(start + "atom.relaxed.gpu" + space + "." + operation + " %d" + operands + load, in(tables...),
              expected);
    if (!exchanges && operation.find("exch") != 0)
      agrees<T>(start + "red" + space + "." + operation + operands.substr(1) + load, in(tables...), expected);
  }
}

float flush(float number) {
  return std::fpclassify(number) == FP_SUBNORMAL ? std::copysign(0.0F, number) : number;
}

}  // namespace

TEST_CASE("Integers are added, compared and exchanged atomically", "[ptx]") {
  for_types<u32, s32, u64, s64>([]<class T>(T) {
    const auto v = integers<T>();
    const std::string type = "." + name_of<T>(), bits = ".b" + std::to_string(8 * sizeof(T));
    check<T>(
        "add" + type, [](T a, T b) { return static_cast<T>(u128(a) + u128(b)); }, v, v);
    check<T>(
        "min" + type, [](T a, T b) { return std::min(a, b); }, v, v);
    check<T>(
        "max" + type, [](T a, T b) { return std::max(a, b); }, v, v);
    if constexpr (std::is_unsigned_v<T>) {
      check<T>(
          "and" + bits, [](T a, T b) { return a & b; }, v, v);
      check<T>(
          "or" + bits, [](T a, T b) { return a | b; }, v, v);
      check<T>(
          "xor" + bits, [](T a, T b) { return a ^ b; }, v, v);
      check<T>(
          "exch" + bits, [](T, T b) { return b; }, v, v);
      check<T>(
          "cas" + bits, [](T a, T b, T c) { return a == b ? c : a; }, v, v, v);
    }
  });
  const auto h = integers<u16>();
  check<u16>(
      "cas.b16", [](u16 a, u16 b, u16 c) { return a == b ? c : a; }, h, h, h);
}

TEST_CASE("Counters go round between zero and their bound", "[ptx]") {
  const auto v = integers<u32>();
  check<u32>(
      "inc.u32", [](u32 a, u32 b) { return a >= b ? 0 : a + 1; }, v, v);
  check<u32>(
      "dec.u32", [](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; }, v, v);
}

TEST_CASE("Floating numbers are added atomically, and flushed in global memory if they have 32 bits",
          "[ptx]") {
  const auto v = floats<float>();
  for (const std::string space : {".global", ".shared", ""}) {
    const std::string start = cell(space, 4, 2), load = " ld" + space + ".b32 %d, [%x0];";
    const auto sum = [&](float a, float b) {
      return space == ".global" ? flush(flush(a) + flush(b)) : a + b;
    };
    agrees<float>(start + "atom" + space + ".add.f32 %d, [%x0], %b;" + load, v, sum);
    agrees<float>(start + "red" + space + ".add.f32 [%x0], %b;" + load, v, sum);
    agrees<float>(start + "atom" + space + ".add.f32 %d, [%x0], %b;", v, [](float a, float) { return a; });
  }
  // A generic address of global memory is flushed, too.
  agrees<float>(cell(".global", 4, 2) + "atom.add.f32 %w0, [%x0], %b; ld.b32 %d, [%x0];", v,
                [](float a, float b) { return flush(flush(a) + flush(b)); });
  const auto w = floats<double>();
  check<double>(
      "add.f64", [](double a, double b) { return a + b; }, w, w);
}

TEST_CASE("Numbers of 16 bits are added atomically with one rounding", "[ptx]") {
  for (const Format format : {kHalf, kBrain}) {
    const auto sum = [=](u16 a, u16 b) { return nearest(format, value_in(format, a), value_in(format, b)); };
    const auto v = numbers_of(format);
    check<u16>(std::string("add.noftz.") + format.name, sum, v, v);
    std::vector<u32> pairs;
    for (std::size_t n = 0; n < v.size(); ++n) pairs.push_back(u32{v[n]} << 16 | v[(n * 5 + 1) % v.size()]);
    const auto both = [&](u32 a, u32 b) {
      return u32{sum(static_cast<u16>(a >> 16), static_cast<u16>(b >> 16))} << 16 |
             sum(static_cast<u16>(a), static_cast<u16>(b));
    };
    check<u32>(std::string("add.noftz.") + format.name + "x2", both, pairs, pairs);
  }
}

TEST_CASE("Lanes that update one cell take turns", "[ptx]") {
  const auto left = words_of(
      "atom.global.add.u32 %r0, [%out+128], %tid; st.global.u32 [%mine], %r0; red.global.inc.u32 [%out+132], "
      "9; red.global.max.s32 [%out+136], %tid;",
      32, std::vector<u32>(35));
  u32 sum = 0;
  for (u32 n = 0; n < 32; ++n) {
    CHECK(left[n] == sum);
    sum += n;
  }
  CHECK((left[32] == sum && left[33] == 2 && left[34] == 31));
  for (const char* op : {"atom.global.min.f32 %r0,", "atom.global.add.pred %r0,", "red.global.add.v2.f32",
                         "red.global.min.f16", "atom.global.or.f64 %x0,", "red.global.f32"})
    CHECK_THAT(refused(std::string(op) + " [%out], %r1;"),
               support::StartsWith(std::string(op).substr(0, std::string(op).find(' '))));
}

}  // namespace ebb::ptx::testing
