// The PTX parser: declarations, comments, literals, and refused programs.
#include "support.h"

namespace ebb::ptx::testing {
namespace {

constexpr const char* kHead = ".version 9.0\n.target sm_90, debug\n.address_size 64\n.file 1 \"a{b;c\"\n";

/// The word in %r0 after a body that one thread executes.
u32 value(const std::string& body, const std::string& outside = "") {
  return words_of(body + " st.global.u32 [%out], %r0;", 1, {}, outside)[0];
}

}  // namespace

TEST_CASE("Kernel parameters are placed at multiples of their alignment", "[ptx]") {
  const auto module = load(std::string(kHead) +
                           ".visible .entry first(.param .u8 a, .param .u32 b, .param .align 8 .b8 c[12], "
                           ".param .u16 d, .param .u64 .ptr .global .align 32 e,\n"
                           ".param .f32 f, .param .align 16 .b8 g[3], .param .b8 h) { ret; }\n.entry second "
                           "{ ret; }\n.weak .entry third() { ret; }");
  CHECK(entry_names(*module) == std::vector<std::string>{"first", "second", "third"});
  CHECK(find_entry(*module, "fourth") == nullptr);
  CHECK((parameters(*find_entry(*module, "second")).empty() &&
         parameters(*find_entry(*module, "third")).empty()));
  const std::pair<unsigned, unsigned> places[] = {{0, 1},  {4, 4},  {8, 12}, {20, 2},
                                                  {24, 8}, {32, 4}, {48, 3}, {51, 1}};
  const auto& found = parameters(*find_entry(*module, "first"));
  REQUIRE(found.size() == std::size(places));
  for (std::size_t n = 0; n < found.size(); ++n)
    CHECK((found[n].offset == places[n].first && found[n].bytes == places[n].second));
}

TEST_CASE("Launch bounds limit the threads of a block", "[ptx]") {
  const auto most = [](const std::string& bounds) {
    const auto module = load(program("", "", bounds));
    return most_threads(*find_entry(*module, "kernel"));
  };
  CHECK(most("") == 1024);
  CHECK(most("\n.maxntid 256\n") == 256);
  CHECK(most("\n.maxntid 32, 4, 2\n.minnctapersm 3\n") == 256);
  CHECK(most(" .maxntid 32,\n 4 .maxnreg 64") == 128);
  CHECK(most("\n.reqntid 96, 1, 1\n") == 96);
  const auto module =
      load(program(".shared .align 16 .b8 area[1000]; st.shared.u32 [area], 1;", "", " .maxntid 64"));
  Entry& entry = *find_entry(*module, "kernel");
  CHECK(refusal(entry, {{1}, {64}, 231448}).empty());
  CHECK(refusal(entry, {{1}, {65}, 0}) == "the block has more threads than the kernel's launch bounds");
  CHECK(refusal(entry, {{1}, {64}, 231449}) == "the block asks for more shared memory than 227 KiB");
  CHECK(refusal(entry, {{0}, {64}, 0}) == "the grid is empty");
  CHECK_THAT(refusal(entry, {{1, 65536}, {64}, 0}), support::StartsWith("the grid has more blocks"));
  CHECK_THAT(refusal(entry, {{1}, {1, 1, 65}, 0}), support::Contains("more than 64 along z"));
}

TEST_CASE("The parser ignores comments and directives without effect", "[ptx]") {
  CHECK(value("/* } mov.u32 %r0, 1; { */ .loc 1 23 4, function_name $L__info, inlined_at 1 2 3\n; mov.u32 "
              "%r0, /* 9 */ 5; // mov.u32 %r0, 6; {\n.pragma \"nounroll\";",
              ".section .debug { .b8 1 }\n// .global .u32 x = ;\n.extern .func (.param .b32 r) "
              "vprintf(.param .b64 a);\n/* */.global .u32 y;") == 5);
}

TEST_CASE("Global variables get their initial values", "[ptx]") {
  const char* variables =
      ".visible .global .align 8 .u64 numbers[3] = {1, -2};\n.const .f32 half = 0f3F000000;\n.global .align "
      "4 .f32 two = 2.0;\n.global .b8 bytes[4] = {1, 0xff, -1, 'x'};\n";
  CHECK_THROWS_WITH(load(program("", variables)), support::Contains("'x' of bytes"));
  const std::string more =
      ".global .align 8 .u64 numbers[3] = {1, -2};\n.const .f32 half = 0f3F000000;\n.global .align 4 .f32 "
      "two = 2.0;\n.global .b8 bytes[4] = {1, 0xff, -1};\n"
      ".global .align 8 .u64 places[4] = {numbers, numbers+8, generic(numbers), "
      "generic(numbers)+16};\n.global .align 4 .s32 open[] = {3, -4, 5};\n.global .u32 grid[2][2] = {{1, 2}, "
      "{3, 4}};\n";
  CHECK(value("ld.global.u32 %r0, [numbers];", more) == 1);
  CHECK(value("ld.global.u32 %r0, [numbers+12];", more) == 0xffffffff);
  CHECK(value("ld.global.u32 %r0, [numbers+16];", more) == 0);
  CHECK(value("ld.const.u32 %r0, [half];", more) == 0x3f000000);
  CHECK(value("ld.global.u32 %r0, [two];", more) == 0x40000000);
  CHECK(value("ld.global.u32 %r0, [bytes];", more) == 0x00ffff01);
  CHECK(value("ld.global.u32 %r0, [open+8];", more) == 5);
  CHECK(value("ld.global.u32 %r0, [grid+12];", more) == 4);
  const u32 offsets[] = {0, 8, 0, 16};
  for (u32 n = 0; n < 4; ++n)
    CHECK(value("mov.u64 %x0, numbers; ld.global.u64 %x1, [places+" + std::to_string(8 * n) +
                    "]; sub.u64 %x1, %x1, %x0; cvt.u32.u64 %r0, %x1;",
                more) == offsets[n]);
  CHECK(value("mov.u64 %x0, open+4; ld.global.u32 %r0, [%x0];", more) == static_cast<u32>(-4));
  CHECK_THROWS_WITH(load(program("", ".global .u32 x[1] = {1, 2};")),
                    support::Contains("too many values of x"));
  CHECK_THROWS_WITH(load(program("", ".global .u64 x = nothing;")),
                    support::Contains("the value nothing of x"));
}

TEST_CASE("Static shared variables come first and dynamic ones follow", "[ptx]") {
  const std::string text = program(
      ".shared .align 4 .b8 first[6];\n.shared .align 16 .b8 second[8];\nmov.u32 %r0, first; mov.u32 %r1, "
      "second; mov.u32 %r2, outer; mov.u32 %r3, rest; mov.u32 %r4, %total_smem_size;"
      "st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3}; st.global.u32 [%out+16], %r4; st.shared.u32 [rest+60], "
      "1;",
      ".shared .align 8 .f64 outer;\n.extern .shared .align 16 .b8 rest[];");
  CHECK(static_shared_bytes(*find_entry(*load(text), "kernel")) == 32);
  Grid grid{{1}, {1}, 64};
  const Outcome ended = launch(text, std::vector<u32>(5), grid);
  CHECK(ended.memory == std::vector<u32>{0, 16, 24, 32, 96});
  grid.dynamic_shared = 60;
  CHECK(launch(text, std::vector<u32>(5), grid).status == Status::illegal_address);
}

TEST_CASE("The parser reads all forms of PTX literals", "[ptx]") {
  const std::pair<const char*, u32> numbers[] = {{"42", 42},
                                                 {"-1", 0xffffffff},
                                                 {"0x1F", 31},
                                                 {"0X1f", 31},
                                                 {"017", 15},
                                                 {"0b101", 5},
                                                 {"7U", 7},
                                                 {"0xffU", 255},
                                                 {"-0b11", static_cast<u32>(-3)},
                                                 {"0f3F800000", 0x3f800000},
                                                 {"WARP_SZ", 32},
                                                 {"4294967295", 0xffffffff}};
  for (const auto& [text, number] : numbers)
    CHECK(value(std::string("mov.u32 %r0, ") + text + ";") == number);
  CHECK(value("add.f32 %r0, 0f3F800000, 0f40000000;") == 0x40400000);
  CHECK(value("add.f32 %r0, 1.5, -0.25;") == 0x3fa00000);
  CHECK(value("add.f32 %r0, 1, 2;") == 0x40400000);
  CHECK(value("add.f32 %r0, 0d3FF0000000000000, 1.5e1;") == 0x41800000);
  CHECK(value("add.f64 %x0, 0f3F800000, 0d4000000000000000; cvt.rn.f32.f64 %r0, %x0;") == 0x40400000);
  for (const char* text : {"12x", "0x", "-0f3F800000", "0b2", "1.5.2", "08"})
    CHECK(refused(std::string("mov.b32 %r0, ") + text + ";") ==
          std::string("mov.b32 (the operand ") + text + ")\n");
}

TEST_CASE("Unknown instructions and modifiers are refused by name", "[ptx]") {
  const std::pair<const char*, const char*> cases[] = {
      {"frobnicate.u32 %r0, %r1", "frobnicate.u32 (this instruction)"},
      {"add.sat.s32 %r0, %r1, %r2", "add.sat.s32 (.sat)"},
      {"add.f32x2 %x0, %x1, %x2", "add.f32x2 (this instruction)"},
      {"fma.rn.relu.f16 %h0, %h1, %h2, %h3", "fma.rn.relu.f16 (.relu)"},
      {"min.xorsign.abs.f32 %r0, %r1, %r2", "min.xorsign.abs.f32 (.xorsign)"},
      {"ld.global.L2::cache_hint.u32 %r0, [%out], %x0", "ld.global.L2::cache_hint.u32 (.L2::cache_hint)"},
      {"prmt.b32.f4e %r0, %r1, %r2, %r3", "prmt.b32.f4e"},
      {"cvt.rna.tf32.f32 %r0, %r1", "cvt.rna.tf32.f32 (.rna)"},
      {"cvt.rn.satfinite.f16.f32 %h0, %r1", "cvt.rn.satfinite.f16.f32 (.satfinite)"},
      {"cvt.rn.relu.f32.f64 %r0, %x0", "cvt.rn.relu.f32.f64"},
      {"add.u32 %r0, %r1", "add.u32 (the number of operands)"},
      {"setp.eq.u32 %p0, %r0, %r1, %p1", "setp.eq.u32 (the number of operands)"},
      {"popc.b32 %r0, %r1, %r2", "popc.b32 (the number of operands)"},
      {"mov.u32 %r0, %nothing", "mov.u32 (the operand %nothing)"},
      {"mov.u32 %r0, %r30", "mov.u32 (the operand %r30)"},
      {"ld.global.u32 %r0, [nowhere]", "ld.global.u32 (the address [nowhere])"},
      {"shf.l.wrap.b64 %x0, %x1, %x2, %r0", "shf.l.wrap.b64 (this form)"},
      {"shfl.up.b32 %r0, %r1, 1, 0", "shfl.up.b32 (this form)"},
      {"bar.sync 0, 64", "bar.sync (a barrier for some of the threads)"},
      {"bar.arrive 0, 64", "bar.arrive (a barrier for some of the threads)"},
      {"ld.shared::cluster.u32 %r0, [%r1]", "ld.shared::cluster.u32 (.shared::cluster)"},
      {"ld.global.v8.b32 %r0, [%out]", "ld.global.v8.b32 (.v8)"},
      {"mov.b128 %x0, %x1", "mov.b128 (this form)"},
      {"lop3.b64 %x0, %x1, %x2, %x3, 1", "lop3.b64 (this form)"},
      {"match.any.sync.b16 %r0, %h0, -1", "match.any.sync.b16 (this form)"}};
  for (const auto& [text, reason] : cases) {
    CHECK_THAT(refused(std::string(text) + ";"), support::StartsWith(reason));
    const auto module = load(program(std::string("setp.eq.u32 %p0, %tid, 1; @%p0 ") + text + ";"));
    Entry& entry = *find_entry(*module, "kernel");
    CHECK(unknown_instructions(entry).size() == 1);
    // Only threads that reach the instruction fail.
    for (const unsigned threads : {1U, 2U}) {
      GlobalMemory memory;
      Interpreter interpreter(memory, {}, nullptr);
      const u64 none = 0;
      CHECK(interpreter.run(entry, {{1}, {threads}}, std::as_bytes(std::span(&none, 1))) ==
            (threads == 1 ? Status::success : Status::launch_failure));
    }
  }
  const auto module = load(program("frob.u32 %r0; frob.u32 %r1; add.u32 %r0, %r0, 1; glob;"));
  CHECK(unknown_instructions(*find_entry(*module, "kernel")) ==
        std::map<std::string, long>{{"frob.u32 (this instruction)", 2}, {"glob (this instruction)", 1}});
}

TEST_CASE("The parser refuses text that is not PTX", "[ptx]") {
  CHECK_THROWS_WITH(load("int main() {}"), support::Contains("begins with .version"));
  CHECK_THROWS_WITH(load(std::string(kHead) + ".entry x() { ret;"),
                    support::Contains("a bracket is not closed"));
  CHECK_THROWS_WITH(load(std::string(kHead) + "rubbish"), support::Contains("not a statement: rubbish"));
  CHECK(entry_names(*load(std::string(kHead) + ".entry x() { ret; }" + std::string(5, '\0'))).size() == 1);
}

}  // namespace ebb::ptx::testing
