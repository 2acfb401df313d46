// Matrices in the registers of a warp against plain loops.
#include "support.h"

namespace ebb::ptx::testing {
namespace {

/// Element (row, column) of matrix m that ldmatrix reads below.
u16 element(u32 m, u32 row, u32 column) { return static_cast<u16>(m << 12 | row << 8 | column); }

/// The registers of each lane, 10 words, for d = a b + c: a of 16 x 16, b of 16 x 8, c of 16 x 8.
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

/// The product by mma, by row and column.
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

TEST_CASE("Matrices of shared memory are loaded by rows, or by columns where they are transposed", "[ptx]") {
  for (const u32 count : {1U, 2U, 4U})
    for (const bool transposed : {false, true}) {
      // Rows lie 48 bytes apart in shared memory, in reverse order; each lane writes one of them.
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

TEST_CASE("Products of matrices are those of plain loops", "[ptx]") {
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

TEST_CASE("Products of matrices keep NaN and infinities to their rows and columns", "[ptx]") {
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

TEST_CASE("Other shapes of matrices are refused by name", "[ptx]") {
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
