// Warp-wide PTX instructions: shuffles, votes, matches, reductions, matrices.
#include "support.h"

#include <bit>

// Shuffles, votes, matches and reductions of a warp.

namespace ebb::ptx::testing {
namespace {

std::vector<u32> lanes() {
  std::vector<u32> made(32);
  for (u32 n = 0; n < 32; ++n) made[n] = n;
  return made;
}
/// A value for each lane, some of them equal.
template <class T>
std::vector<T> values() {
  std::vector<T> made(32);
  for (u32 n = 0; n < 32; ++n)
    made[n] = n % 5 == 0 ? T(7) : n % 7 == 0 ? static_cast<T>(-1) : static_cast<T>(random_bits());
  return made;
}
const std::vector<u32> kMasks{0xffffffff, 0xffff, 0xffff0000, 1, 0x80000000, 0x55555555, 0xf00ff00f};

/// Executes an instruction that writes %r0, only for the lanes of a mask; their input words are in memory
/// after the results. Other lanes return 99.
std::vector<u32> by_lanes_of(u32 mask, const std::string& text, const std::vector<u32>& words) {
  std::vector<u32> memory(96);
  std::copy(words.begin(), words.end(), memory.begin() + 32);
  auto left = words_of("ld.global.u32 %r1, [%mine+128]; mov.u32 %r9, " + std::to_string(mask) +
                           "; shr.u32 %r2, %r9, %tid; and.b32 %r2, %r2, 1; setp.eq.u32 %p9, %r2, 0; mov.u32 "
                           "%r0, 99; setp.ne.u32 %p0, %r1, 7;\n"
                           "@%p9 bra skip;\n" +
                           text + "\nskip: st.global.u32 [%mine], %r0;",
                       32, memory);
  left.resize(32);
  return left;
}
bool has(u32 mask, u32 lane) { return (mask >> lane & 1) != 0; }

/// Compares the results of the lanes of each mask with a function of all values and the mask.
template <class F>
void check_masks(const std::string& text, const std::vector<u32>& words, F expected) {
  for (const u32 mask : kMasks) {
    const auto got = by_lanes_of(mask, text, words);
    for (u32 lane = 0; lane < 32; ++lane) {
      INFO(text << " lane " << lane << " of " << mask);
      CHECK(got[lane] == (has(mask, lane) ? expected(mask, lane) : 99));
    }
  }
}

}  // namespace

TEST_CASE("Shuffles read only lanes of their segment, except that bfly may read lower segments", "[ptx]") {
  struct Case {
    const char* mode;
    int (*other)(int lane, int n, int width);
  };
  const Case cases[] = {{"up", [](int lane, int n, int) { return lane - n; }},
                        {"down", [](int lane, int n, int) { return lane + n; }},
                        {"bfly", [](int lane, int n, int) { return lane ^ n; }},
                        {"idx", [](int lane, int n, int width) { return lane / width * width + n % width; }}};
  const auto v = values<u32>();
  for (const Case& c : cases)
    for (const int width : {32, 16, 8, 4, 2, 1})
      for (const int n : {0, 1, 2, 3, 5, 8, 15, 16, 17, 30, 31}) {
        const bool up = c.mode == std::string("up");
        const std::string control = std::to_string((32 - width) << 8 | (up ? 0 : 31));
        const auto moved =
            evaluate<u32>("shfl.sync." + std::string(c.mode) + ".b32 %d|%p, %a, " + std::to_string(n) + ", " +
                              control + ", -1; @!%p not.b32 %d, %d;",
                          v);
        for (int lane = 0; lane < 32; ++lane) {
          const int first = lane / width * width, other = c.other(lane, n, width);
          // A butterfly may read lower segments.
          const bool inside = other < first + width && (!up || other >= first);
          INFO(c.mode << " of " << width << " by " << n << " in lane " << lane);
          CHECK(moved[static_cast<std::size_t>(lane)] ==
                (inside ? v[static_cast<std::size_t>(other)] : ~v[static_cast<std::size_t>(lane)]));
        }
      }
}

TEST_CASE("The clamp of a shuffle limits the source lanes within a segment", "[ptx]") {
  const auto v = values<u32>();
  // Segments of 8 lanes, of which 6 give values; for up, the lanes from the third on.
  const auto down = evaluate<u32>("shfl.sync.down.b32 %d|%p, %a, 2, 0x1805, -1; selp.u32 %d, %d, 0, %p;", v);
  const auto up = evaluate<u32>("shfl.sync.up.b32 %d|%p, %a, 1, 0x1802, -1; selp.u32 %d, %d, 0, %p;", v);
  const auto index =
      evaluate<u32>("shfl.sync.idx.b32 %d|%p, %a, %laneid, 0x1805, -1; selp.u32 %d, %d, 0, %p;", v);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    CHECK(down[lane] == (lane % 8 + 2 <= 5 ? v[lane + 2] : 0));
    CHECK(up[lane] == (lane % 8 >= 3 ? v[lane - 1] : 0));
    CHECK(index[lane] == (lane % 8 <= 5 ? v[lane] : 0));
  }
}

TEST_CASE("Each lane has its own shuffle source, taken modulo 32, and the predicate is optional", "[ptx]") {
  const auto v = values<u32>(), b = integers<u32>();
  std::vector<u32> sources(32);
  for (std::size_t n = 0; n < 32; ++n) sources[n] = b[n % b.size()];
  const auto got = evaluate<u32>("shfl.sync.idx.b32 %d, %a, %b, 31, 0xffffffff;", v, sources);
  for (std::size_t lane = 0; lane < 32; ++lane) CHECK(got[lane] == v[sources[lane] % 32]);
}

TEST_CASE("A shuffle that reads an inactive lane is reported", "[ptx]") {
  const auto v = values<u32>();
  const auto first = [&](u32 mask, u32) { return v[static_cast<std::size_t>(std::countr_zero(mask))]; };
  check_masks("brev.b32 %r3, %r9; clz.b32 %r3, %r3; shfl.sync.idx.b32 %r0, %r1, %r3, 31, %r9;", v, first);
  const Outcome ended = launch(program("setp.gt.u32 %p0, %tid, 3;\n@%p0 bra end;\nshfl.sync.down.b32 %r0, "
                                       "%tid, 1, 31, 15;\nst.global.u32 [%mine], %r0;\nend:"),
                               std::vector<u32>(32, 5));
  CHECK_THAT(ended.findings, support::Contains("lane 4, which is inactive"));
  CHECK((ended.memory[0] == 1 && ended.memory[2] == 3 && ended.memory[4] == 5));
}

TEST_CASE("Votes use only the lanes of their mask", "[ptx]") {
  auto v = values<u32>();
  for (int round = 0; round < 3; ++round) {
    const auto votes = [&](u32 mask) {
      u32 made = 0;
      for (u32 n = 0; n < 32; ++n)
        if (has(mask, n) && v[n] != 7) made |= u32{1} << n;
      return made;
    };
    const std::string pick = " selp.u32 %r0, 1, 0, %p1;";
    check_masks("vote.sync.ballot.b32 %r0, %p0, %r9;", v, [&](u32 mask, u32) { return votes(mask); });
    check_masks("vote.sync.ballot.b32 %r0, !%p0, %r9;", v,
                [&](u32 mask, u32) { return mask & ~votes(mask); });
    check_masks("vote.sync.any.pred %p1, %p0, %r9;" + pick, v,
                [&](u32 mask, u32) { return votes(mask) != 0 ? 1U : 0U; });
    check_masks("vote.sync.all.pred %p1, %p0, %r9;" + pick, v,
                [&](u32 mask, u32) { return votes(mask) == mask ? 1U : 0U; });
    check_masks("vote.sync.all.pred %p1, !%p0, %r9;" + pick, v,
                [&](u32 mask, u32) { return votes(mask) == 0 ? 1U : 0U; });
    check_masks("vote.sync.uni.pred %p1, %p0, %r9;" + pick, v,
                [&](u32 mask, u32) { return votes(mask) == 0 || votes(mask) == mask ? 1U : 0U; });
    v.assign(32, round == 0 ? 7 : 8);  // first all predicates are false, then all are true
  }
}

TEST_CASE("match finds the lanes with the same value", "[ptx]") {
  auto v = values<u32>();
  for (int round = 0; round < 2; ++round) {
    const auto equal = [&](u32 mask, u32 lane) {
      u32 made = 0;
      for (u32 n = 0; n < 32; ++n)
        if (has(mask, n) && v[n] == v[lane]) made |= u32{1} << n;
      return made;
    };
    const std::string wide = "cvt.u64.u32 %x0, %r1; shl.b64 %x0, %x0, 32; or.b64 %x0, %x0, 5; ",
                      all = " selp.u32 %r3, 1, 0, %p1; xor.b32 %r0, %r0, %r3;";
    const auto all_equal = [&](u32 mask, u32 lane) { return equal(mask, lane) == mask ? mask ^ 1 : 0; };
    check_masks("match.any.sync.b32 %r0, %r1, %r9;", v, equal);
    check_masks(wide + "match.any.sync.b64 %r0, %x0, %r9;", v, equal);
    check_masks("match.all.sync.b32 %r0|%p1, %r1, %r9;" + all, v, all_equal);
    check_masks(wide + "match.all.sync.b64 %r0|%p1, %x0, %r9;" + all, v, all_equal);
    v.assign(32, 7);
  }
}

TEST_CASE("redux reduces over the lanes of its mask", "[ptx]") {
  const auto v = values<u32>();
  const auto check = [&](const std::string& op, auto combine) {
    check_masks("redux.sync." + op + " %r0, %r1, %r9;", v, [&](u32 mask, u32) {
      u32 result = v[static_cast<std::size_t>(std::countr_zero(mask))];
      for (u32 n = static_cast<u32>(std::countr_zero(mask)) + 1; n < 32; ++n)
        if (has(mask, n)) result = static_cast<u32>(combine(result, v[n]));
      return result;
    });
  };
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  const auto most = [](auto a, auto b) { return std::max(a, b); };
  for (const char* type : {"add.u32", "add.s32"}) check(type, [](u32 a, u32 b) { return a + b; });
  check("min.u32", least);
  check("max.u32", most);
  check("min.s32", [&](u32 a, u32 b) { return least(static_cast<s32>(a), static_cast<s32>(b)); });
  check("max.s32", [&](u32 a, u32 b) { return most(static_cast<s32>(a), static_cast<s32>(b)); });
  check("and.b32", [](u32 a, u32 b) { return a & b; });
  check("or.b32", [](u32 a, u32 b) { return a | b; });
  check("xor.b32", [](u32 a, u32 b) { return a ^ b; });
  CHECK_THAT(refused("redux.sync.b32 %r0, %r1, -1;"), support::StartsWith("redux.sync.b32"));
  CHECK_THAT(refused("redux.sync.min.f32 %r0, %r1, -1;"), support::StartsWith("redux.sync.min.f32"));
}

TEST_CASE("Special registers give lane numbers and lane masks", "[ptx]") {
  const auto v = lanes();
  const auto read = [&](const std::string& name) { return evaluate<u32>("mov.u32 %d, %" + name + ";", v); };
  const auto eq = read("lanemask_eq"), lt = read("lanemask_lt"), le = read("lanemask_le"),
             gt = read("lanemask_gt"), ge = read("lanemask_ge");
  CHECK(read("laneid") == v);
  for (u32 n = 0; n < 32; ++n)
    for (u32 other = 0; other < 32; ++other) {
      CHECK(has(eq[n], other) == (other == n));
      CHECK((has(lt[n], other) == (other < n) && has(le[n], other) == (other <= n) &&
             has(gt[n], other) == (other > n) && has(ge[n], other) == (other >= n)));
    }
  check_masks("activemask.b32 %r0;", v, [](u32 mask, u32) { return mask; });
}

TEST_CASE("Two parts of a warp may execute the same instruction with separate masks", "[ptx]") {
  const auto got = words_of(
      "setp.lt.u32 %p0, %tid, 12; selp.b32 %r0, 0xfff, 0xfffff000, %p0; vote.sync.ballot.b32 %r1, 1, %r0; "
      "@%p0 bra low; bar.warp.sync 0xfffff000; bra end;\n"
      "low: bar.warp.sync 0xfff;\nend: shfl.sync.idx.b32 %r2, %tid, 12, 31, -1; add.u32 %r1, %r1, %r2; "
      "st.global.u32 [%mine], %r1;");
  for (u32 n = 0; n < 32; ++n) CHECK(got[n] == (n < 12 ? 0xfff : 0xfffff000) + 12);
}

TEST_CASE("Writes are visible to other lanes after bar.warp.sync", "[ptx]") {
  const auto findings = [](const std::string& barrier) {
    const Outcome ended = launch(
        program(".shared .align 4 .b8 area[128];\nmov.u32 %r0, area; mad.lo.u32 %r0, %tid, 4, %r0; "
                "st.shared.u32 [%r0], %tid; " +
                barrier + "xor.b32 %r0, %r0, 4; ld.shared.u32 %r1, [%r0]; st.global.u32 [%mine], %r1;"),
        std::vector<u32>(32));
    for (u32 n = 0; n < 32; ++n) CHECK(ended.memory[n] == (n ^ 1));
    return ended.findings;
  };
  CHECK(findings("bar.warp.sync -1; ") == "");
  CHECK_THAT(findings(""), support::Contains("A hazard inside a warp"));
}

// Matrices in the registers of a warp, compared with plain loops.

namespace {

/// Element (row, column) of matrix m that ldmatrix reads below.
u16 element(u32 m, u32 row, u32 column) { return static_cast<u16>(m << 12 | row << 8 | column); }

/// The registers of each lane, 10 words, for d = a b + c: a is 16 x 16, b is 16 x 8, c is 16 x 8.
template <class A, class B, class C>
std::vector<u32> fragments(A a, B b, C c) {
  std::vector<u32> words;
  for (u32 lane = 0; lane < 32; ++lane) {
    const u32 group = lane / 4, place = lane % 4 * 2;
    const auto pair = [&](u16 low, u16 high) { words.push_back(u32{high} << 16 | low); };
    for (const u32 column : {place, place + 8})
      for (const u32 row : {group, group + 8}) pair(a(row, column), a(row, column + 1));
    for (const u32 row : {place, place + 8}) pair(b(row, group), b(row + 1, group));
    for (const u32 row : {group, group + 8})
      for (const u32 column : {place, place + 1}) words.push_back(std::bit_cast<u32>(c(row, column)));
  }
  return words;
}

/// The result of mma by row and column.
std::vector<float> product(const std::string& type, std::vector<u32> words) {
  words.resize(320 + 128);
  const auto left = words_of(
      "mad.lo.u32 %r20, %tid, 36, 0; cvt.u64.u32 %x0, %r20; add.u64 %x0, %x0, %mine; ld.global.u32 %r0, "
      "[%x0]; ld.global.u32 %r1, [%x0+4]; ld.global.u32 %r2, [%x0+8];"
      "ld.global.u32 %r3, [%x0+12]; ld.global.u32 %r4, [%x0+16]; ld.global.u32 %r5, [%x0+20]; ld.global.u32 "
      "%r6, [%x0+24]; ld.global.u32 %r7, [%x0+28];"
      "ld.global.u32 %r8, [%x0+32]; ld.global.u32 %r9, [%x0+36]; mma.sync.aligned.m16n8k16.row.col.f32." +
          type + "." + type +
          ".f32 {%r10, %r11, %r12, %r13},"
          "{%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6, %r7, %r8, %r9}; mul.wide.u32 %x1, %tid, 16; add.u64 %x1, "
          "%x1, %out; st.global.v4.u32 [%x1+1280], {%r10, %r11, %r12, %r13};",
      32, words);
  std::vector<float> d(128);
  for (std::size_t lane = 0; lane < 32; ++lane)
    for (std::size_t n = 0; n < 4; ++n)
      d[(lane / 4 + n / 2 * 8) * 8 + lane % 4 * 2 + n % 2] = std::bit_cast<float>(left[320 + 4 * lane + n]);
  return d;
}

}  // namespace

TEST_CASE("ldmatrix loads rows, or columns with the modifier .trans", "[ptx]") {
  for (const u32 count : {1U, 2U, 4U})
    for (const bool transposed : {false, true}) {
      // Rows are 48 bytes apart in shared memory, in reverse order; each lane writes one of them.
      const std::string registers = count == 1 ? "{%r0}" : count == 2 ? "{%r0, %r1}" : "{%r0, %r1, %r2, %r3}";
      const auto left = words_of(
          ".shared .align 16 .b8 rows[1536]; mov.u32 %r9, rows; sub.u32 %r8, 31, %tid; mad.lo.u32 %r8, %r8, "
          "48, %r9; shr.u32 %r4, %tid, 3; shl.b32 %r4, %r4, 12;"
          "and.b32 %r5, %tid, 7; shl.b32 %r5, %r5, 8; or.b32 %r4, %r4, %r5; mov.u32 %r6, 0;\nfill: add.u32 "
          "%r7, %r4, %r6; shl.b32 %r10, %r6, 1; add.u32 %r10, %r10, %r8;"
          "st.shared.u16 [%r10], %r7; add.u32 %r6, %r6, 1; setp.lt.u32 %p0, %r6, 8; @%p0 bra fill; bar.sync "
          "0;\n"
          "ldmatrix.sync.aligned.m8n8.x" +
              std::to_string(count) + (transposed ? ".trans" : "") + ".shared.b16 " + registers +
              ", [%r8];"
              "mul.wide.u32 %x0, %tid, 16; add.u64 %x0, %x0, %out; st.global.v4.u32 [%x0], {%r0, %r1, %r2, "
              "%r3};",
          32, std::vector<u32>(128));
      for (u32 lane = 0; lane < 32; ++lane)
        for (u32 m = 0; m < count; ++m) {
          const u32 line = lane / 4, place = lane % 4 * 2;
          const u32 low = transposed ? element(m, place, line) : element(m, line, place),
                    high = transposed ? element(m, place + 1, line) : element(m, line, place + 1);
          CHECK(left[4 * lane + m] == (high << 16 | low));
        }
    }
}

TEST_CASE("mma is equal to a product in plain loops", "[ptx]") {
  for (const Format format : {kHalf, kBrain}) {
    const auto a = [](u32 row, u32 column) { return static_cast<double>((row * 5 + column * 3) % 17) - 8; };
    const auto b = [](u32 row, u32 column) {
      return (static_cast<double>((row * 7 + column * 11) % 13) - 6) / 4;
    };
    const auto c = [](u32 row, u32 column) { return static_cast<float>(row * 100 + column) + 0.125F; };
    const auto d = product(format.name, fragments([&](u32 r, u32 k) { return nearest(format, a(r, k)); },
                                                  [&](u32 k, u32 n) { return nearest(format, b(k, n)); }, c));
    for (u32 row = 0; row < 16; ++row)
      for (u32 column = 0; column < 8; ++column) {
        double sum = c(row, column);
        for (u32 k = 0; k < 16; ++k) sum += a(row, k) * b(k, column);
        CHECK(d[row * 8 + column] == sum);
      }
  }
}

TEST_CASE("mma propagates NaN and infinities only to the rows and columns that contain them", "[ptx]") {
  const auto a = [](u32 row, u32 column) {
    return row == 3 && column == 9 ? u16{0x7f80} : row == 5 && column == 0 ? u16{0x7fff} : u16{0x3f80};
  };
  const auto b = [](u32 row, u32 column) { return row == 9 && column == 2 ? u16{0} : u16{0xbf80}; };
  const auto d = product("bf16", fragments(a, b, [](u32, u32) { return 0.0F; }));
  for (u32 row = 0; row < 16; ++row)
    for (u32 column = 0; column < 8; ++column)
      CHECK(same(d[row * 8 + column], row == 5 || (row == 3 && column == 2) ? NAN
                                      : row == 3                            ? -INFINITY
                                      : column == 2                         ? -15.0F
                                                                            : -16.0F));
}

TEST_CASE("Unsupported mma shapes are refused by name", "[ptx]") {
  for (const char* text : {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
                           "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
                           "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
                           "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
                           "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32"})
    CHECK_THAT(refused(std::string(text) +
                       " {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r0, %r1, %r2, %r3};"),
               support::StartsWith(text));
  for (const char* text :
       {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", "ldmatrix.sync.aligned.m8n8.x2.shared.b16",
        "ldmatrix.sync.aligned.m8n8.x1.global.b16"})
    CHECK_THAT(refused(std::string(text) + " {%r0}, [%out];"), support::StartsWith(text));
}

}  // namespace ebb::ptx::testing
