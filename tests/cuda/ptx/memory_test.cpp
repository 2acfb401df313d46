// PTX loads, stores and atomic operations of all types: their effect on memory and their results.
#include "support.h"

// Loads and stores of all types, in all state spaces.

namespace ebb::ptx::testing {
namespace {

std::vector<u32> pattern() {
  std::vector<u32> words(32);
  for (u32 n = 0; n < 32; ++n) words[n] = 0x83828180U + n * 0x04f40404U;
  return words;
}

/// The value in %x0 after a body that one thread executes.
u64 result_of(const std::string& body, const std::string& outside = "") {
  const auto left = words_of(body + " st.global.b64 [%out+120], %x0;", 1, pattern(), outside);
  return left[30] | u64{left[31]} << 32;
}
template <class T>
T at(std::size_t offset) {
  T value;
  std::memcpy(&value, reinterpret_cast<const char*>(pattern().data()) + offset, sizeof value);
  return value;
}
std::string text(std::size_t number) { return std::to_string(number); }

}  // namespace

TEST_CASE("Loads of signed types extend the sign, and other loads extend with zeros", "[ptx]") {
  for (std::size_t offset = 0; offset < 64; offset += 8) {
    const std::string end = " %x0, [%out+" + text(offset) + "];";
    for_types<u8, s8, u16, s16, u32, s32, u64, s64>([&]<class T>(T) {
      CHECK(result_of("ld.global." + name_of<T>() + end) == static_cast<u64>(s64(at<T>(offset))));
    });
    CHECK(result_of("ld.global.b8" + end) == at<u8>(offset));
    CHECK(result_of("ld.global.b16" + end) == at<u16>(offset));
    CHECK(result_of("ld.global.f32" + end) == at<u32>(offset));
    CHECK(result_of("ld.global.f64" + end) == at<u64>(offset));
  }
}

TEST_CASE("Addresses accept positive and negative offsets", "[ptx]") {
  CHECK(result_of("add.u64 %x1, %out, 16; ld.global.u32 %x0, [%x1+-4];") == at<u32>(12));
  CHECK(result_of("add.u64 %x1, %out, 16; ld.global.u32 %x0, [%x1 + 0x8];") == at<u32>(24));
  CHECK(result_of("add.u64 %x1, %out, 16; ld.global.u32 %x0, [%x1];") == at<u32>(16));
  CHECK(result_of("ld.param::entry.u64 %x1, [memory]; ld.global.u32 %x0, [%x1+16];") == at<u32>(16));
  // 32-bit addresses wrap around.
  CHECK(result_of(".shared .align 4 .b8 area[8];\nst.shared.u32 [area+4], 5; mov.u32 %r0, area; sub.u32 %r0, "
                  "%r0, 8; ld.shared.u32 %x0, [%r0+12];") == 5);
}

TEST_CASE("Vector loads and stores keep the order of elements", "[ptx]") {
  for (const char* type : {"v2.u8", "v2.u16", "v2.u32", "v2.b64", "v2.f32", "v2.f64", "v2.s16"}) {
    const std::string name = std::string(type).substr(4);
    const std::size_t bytes = static_cast<std::size_t>(std::stoi(name)) / 8;
    const auto left = words_of(std::string("ld.global.") + type + " {%x0, %x1}, [%out+16]; st.global." +
                                   type + " [%out+64], {%x1, %x0};",
                               1, pattern());
    const auto* in = reinterpret_cast<const char*>(left.data());
    CHECK(std::memcmp(in + 64, in + 16 + bytes, bytes) == 0);
    CHECK(std::memcmp(in + 64 + bytes, in + 16, bytes) == 0);
    CHECK(left[20] == pattern()[20]);
  }
  const auto left = words_of(
      "ld.global.nc.v4.u32 {%r0, %r1, %r2, %r3}, [%out+16]; st.global.v4.b32 [%out+32], {%r3, %r2, %r1, 7};"
      "ld.global.v4.s8 {%r4, _, %r5, _}, [%out]; st.global.v2.u32 [%out+48], {%r4, %r5};",
      1, pattern());
  CHECK(std::vector<u32>(left.begin() + 8, left.begin() + 14) ==
        std::vector<u32>{left[7], left[6], left[5], 7, 0xffffff80, 0xffffff82});
}

TEST_CASE("Stores do not change adjacent bytes", "[ptx]") {
  const std::string value = "mov.u64 %x0, 0x1122334455667788; ";
  const auto word = [&](const std::string& store) { return words_of(value + store, 1, pattern())[1]; };
  const u32 old = pattern()[1];
  CHECK(word("st.global.u8 [%out+5], %x0;") == ((old & 0xffff00ff) | 0x8800));
  CHECK(word("st.global.b16 [%out+6], %x0;") == ((old & 0xffff) | 0x77880000));
  CHECK(word("st.global.u32 [%out+4], %x0;") == 0x55667788);
  CHECK(word("st.global.u64 [%out], %x0;") == 0x11223344);
  CHECK(word("st.global.u32 [%out], %x0;") == old);
  CHECK(word("st.global.u32 [%out+4], -2;") == 0xfffffffe);
  CHECK(word("st.global.f32 [%out+4], 0f3F800000;") == 0x3f800000);
}

TEST_CASE("Each state space has its own memory and generic addresses access all", "[ptx]") {
  const auto left = words_of(
      ".shared .align 8 .b8 area[256];\n.local .align 8 .b8 own[16];\n"
      "mov.u32 %r0, area; shl.b32 %r1, %tid, 3; add.u32 %r0, %r0, %r1; st.shared.u32 [%r0], %tid; "
      "st.shared.u32 [%r0+4], 100;"
      "mov.u64 %x0, own; mul.lo.u32 %r2, %tid, 3; st.local.u32 [%x0+8], %r2; st.local.u32 [own+12], 1000;"
      "cvt.u64.u32 %x1, %r0; cvta.shared.u64 %x2, %x1; ld.v2.u32 {%r3, %r4}, [%x2]; cvta.local.u64 %x3, %x0; "
      "ld.u32 %r5, [%x3+8]; ld.u32 %r6, [%x3+12];"
      "ld.const.u32 %r7, [fixed+4]; mov.u64 %x4, fixed; ld.const.u32 %r8, [%x4]; ld.global.u32 %r9, [table];"
      "add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6; add.u32 %r3, %r3, %r7; add.u32 "
      "%r3, %r3, %r8; add.u32 %r3, %r3, %r9; st.u32 [%mine], %r3;",
      32, {}, ".const .align 4 .u32 fixed[2] = {20000, 30000};\n.global .align 4 .u32 table = 500000;");
  for (u32 n = 0; n < 32; ++n) CHECK(left[n] == 4 * n + 551100);
}

TEST_CASE("Each block has its own shared memory", "[ptx]") {
  const std::string body =
      ".shared .align 4 .b8 area[256];\nmov.u32 %r1, %ctaid.x; mov.u32 %r5, area; mad.lo.u32 %r2, %tid, 4, "
      "%r5; add.u32 %r3, %tid, %r1; "
      "st.shared.u32 [%r2], %r3; bar.sync 0;"
      "xor.b32 %r2, %r2, 4; ld.shared.u32 %r0, [%r2]; mad.lo.u32 %r4, %r1, 64, %tid; mul.wide.u32 %x0, %r4, "
      "4; add.u64 %x0, %x0, %out; st.global.u32 [%x0], %r0;";
  const Outcome ended = launch(program(body), std::vector<u32>(192), Grid{{3}, {64}});
  CHECK(ended.status == Status::success);
  CHECK(ended.findings == "");
  for (u32 n = 0; n < 192; ++n) CHECK(ended.memory[n] == (n % 64 ^ 1) + n / 64);
}

TEST_CASE("Cache hints and scopes and fences do not change values", "[ptx]") {
  for (const char* modifiers :
       {"volatile.global", "relaxed.gpu.global", "acquire.sys.global", "acquire.cta.global", "relaxed.cta",
        "weak.global", "global.nc", "global.ca", "global.cg", "global.cs", "global.cv", "global.lu",
        "global.L1::no_allocate", "global.L2::128B", "global.nc.L1::no_allocate.L2::256B",
        "global.L1::evict_last", "volatile"})
    CHECK(result_of(std::string("ld.") + modifiers + ".u32 %x0, [%out+8];") == at<u32>(8));
  for (const char* modifiers : {"volatile.global", "relaxed.sys.global", "release.gpu.global", "release.cta",
                                "weak", "global.wb", "global.wt", "global.cg", "global.cs"})
    CHECK(result_of(std::string("st.") + modifiers + ".u32 [%out+8], 77; ld.global.u32 %x0, [%out+8];") ==
          77);
  CHECK(
      result_of(
          "membar.cta; membar.gl; membar.sys; fence.sc.gpu; fence.acq_rel.sys; fence.acq_rel.cta; "
          "prefetch.global.L2 [%out]; prefetchu.L1 [%out]; nanosleep.u32 100; ld.global.u32 %x0, [%out];") ==
      at<u32>(0));
}

TEST_CASE("Misaligned and out-of-bounds accesses end the launch", "[ptx]") {
  const auto status = [](const std::string& body) {
    return launch(program(".shared .align 8 .b8 area[16];\n.local .align 8 .b8 own[16];\n" + body), pattern(),
                  1)
        .status;
  };
  CHECK(status("ld.global.u32 %r0, [%out+2];") == Status::misaligned_address);
  CHECK(status("ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%out+8];") == Status::misaligned_address);
  CHECK(status("st.shared.u64 [area+4], 1;") == Status::misaligned_address);
  CHECK(status("ld.global.u64 %x0, [%out+128];") == Status::illegal_address);
  CHECK(status("ld.global.u32 %r0, [%out+-4];") == Status::illegal_address);
  CHECK(status("st.shared.u32 [area+16], 1;") == Status::illegal_address);
  CHECK(status("st.local.u32 [own+16], 1;") == Status::illegal_address);
  CHECK(status("ld.param.u64 %x0, [memory+8];") == Status::illegal_address);
  CHECK(status("st.param.u64 [memory], %x0;") == Status::illegal_address);
  CHECK(status("ld.global.u64 %x0, [%out+120]; st.shared.u32 [area+12], 1; st.local.u32 [own+12], 1;") ==
        Status::success);
}

// Atomic operations: their effect on memory and their results.

namespace {

/// Text that puts the address of a separate cell for each lane into %x0, and %a into the cell. The result
/// column, after that many inputs, is the global memory.
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

/// Checks an operation such as "add.u32", with its result and its effect on memory, as atom and as red, in
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

TEST_CASE("Integer atomics return the old value and update memory", "[ptx]") {
  for_types<u32, s32, u64, s64>([]<class T>(T) {
    const auto v = integers<T>();
    const std::string type = "." + name_of<T>(), bits = ".b" + std::to_string(8 * sizeof(T));
    check<T>("add" + type, [](T a, T b) { return static_cast<T>(u128(a) + u128(b)); }, v, v);
    check<T>("min" + type, [](T a, T b) { return std::min(a, b); }, v, v);
    check<T>("max" + type, [](T a, T b) { return std::max(a, b); }, v, v);
    if constexpr (std::is_unsigned_v<T>) {
      check<T>("and" + bits, [](T a, T b) { return a & b; }, v, v);
      check<T>("or" + bits, [](T a, T b) { return a | b; }, v, v);
      check<T>("xor" + bits, [](T a, T b) { return a ^ b; }, v, v);
      check<T>("exch" + bits, [](T, T b) { return b; }, v, v);
      check<T>("cas" + bits, [](T a, T b, T c) { return a == b ? c : a; }, v, v, v);
    }
  });
  const auto h = integers<u16>();
  check<u16>("cas.b16", [](u16 a, u16 b, u16 c) { return a == b ? c : a; }, h, h, h);
}

TEST_CASE("atom.inc and atom.dec wrap at zero and at the bound", "[ptx]") {
  const auto v = integers<u32>();
  check<u32>("inc.u32", [](u32 a, u32 b) { return a >= b ? 0 : a + 1; }, v, v);
  check<u32>("dec.u32", [](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; }, v, v);
}

TEST_CASE("Atomic 32-bit float adds flush subnormals only in global memory", "[ptx]") {
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
  // A generic address of global memory flushes subnormals, too.
  agrees<float>(cell(".global", 4, 2) + "atom.add.f32 %w0, [%x0], %b; ld.b32 %d, [%x0];", v,
                [](float a, float b) { return flush(flush(a) + flush(b)); });
  const auto w = floats<double>();
  check<double>("add.f64", [](double a, double b) { return a + b; }, w, w);
}

TEST_CASE("16-bit atomic adds round once", "[ptx]") {
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

TEST_CASE("Atomic updates of one address by several lanes are all applied", "[ptx]") {
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
