// PTX comparisons of all types, and control flow: branches, loops, calls, barriers and exits.
#include "support.h"

// Comparisons of all types, and combinations with predicates.

namespace ebb::ptx::testing {
namespace {

// A comparison: its result for ordered values (less, equal, greater), and for NaN.
struct Comparison {
  const char* name;
  bool less, equal, greater, nan;
  bool of_floats;
};
constexpr Comparison kOrdered[] = {
    {"eq", false, true, false, false, false}, {"ne", true, false, true, false, false},
    {"lt", true, false, false, false, false}, {"le", true, true, false, false, false},
    {"gt", false, false, true, false, false}, {"ge", false, true, true, false, false}};
constexpr Comparison kOfFloats[] = {
    {"equ", false, true, false, true, true}, {"neu", true, false, true, true, true},
    {"ltu", true, false, false, true, true}, {"leu", true, true, false, true, true},
    {"gtu", false, false, true, true, true}, {"geu", false, true, true, true, true},
    {"num", true, true, true, false, true},  {"nan", false, false, false, true, true}};
constexpr Comparison kOfUnsigned[] = {{"lo", true, false, false, false, false},
                                      {"ls", true, true, false, false, false},
                                      {"hi", false, false, true, false, false},
                                      {"hs", false, true, true, false, false}};

template <class T>
bool holds(const Comparison& how, T a, T b) {
  if (a != a || b != b) return how.nan;
  return a < b ? how.less : b < a ? how.greater : how.equal;
}

/// Checks a comparison of a type. `value` computes the compared value.
template <class T, class Value>
void check(const Comparison& how, const std::string& type, const std::vector<T>& v, Value value) {
  const std::string set = "setp." + std::string(how.name) + type + " %p, %a, %b; selp.u32 %d, 1, 0, %p;";
  agrees<u32>(set, v, [&](T a, T b) { return holds(how, value(a), value(b)) ? 1 : 0; });
}

const auto itself = [](auto value) { return value; };

}  // namespace

TEST_CASE("Integers are compared as signed or unsigned by their type", "[ptx]") {
  for_types<u16, s16, u32, s32, u64, s64>([]<class T>(T) {
    const auto v = integers<T>();
    for (const Comparison& how : kOrdered) check(how, "." + name_of<T>(), v, itself);
    if (std::is_unsigned_v<T>) {
      for (const Comparison& how : kOfUnsigned) check(how, "." + name_of<T>(), v, itself);
      for (const Comparison& how : {kOrdered[0], kOrdered[1]})
        check(how, ".b" + std::to_string(8 * sizeof(T)), v, itself);
    }
  });
}

TEST_CASE("Ordered and unordered comparisons of floats handle NaN", "[ptx]") {
  const auto check_all = [](const std::string& type, const auto& v, auto value) {
    for (const Comparison& how : kOrdered) check(how, type, v, value);
    for (const Comparison& how : kOfFloats) check(how, type, v, value);
  };
  check_all(".f32", floats<float>(), itself);
  check_all(".ftz.f32", floats<float>(), [](float a) { return std::fpclassify(a) == FP_SUBNORMAL ? 0 : a; });
  check_all(".f64", floats<double>(), itself);
  for (const Format format : {kHalf, kBrain})
    check_all(std::string(".") + format.name, numbers_of(format), [=](u16 a) { return value_in(format, a); });
}

TEST_CASE("setp combines a comparison and its negation with a predicate and writes both results", "[ptx]") {
  const std::vector<u32> both{0, 1};
  const auto v = floats<float>(0);
  const auto joined = [](const std::string& join, bool a, bool b) {
    return join == "and" ? a && b : join == "or" ? a || b : a != b;
  };
  for (const std::string join : {"and", "or", "xor"})
    for (const bool negated : {false, true})
      for (const char* how : {"lt", "ltu"})
        agrees<u32>("setp.ne.u32 %s, %c, 0; setp." + std::string(how) + "." + join + ".f32 %p|%q, %a, %b, " +
                        (negated ? "!" : "") +
                        "%s; selp.u32 %d, 1, 0, %p; selp.u32 %w0, 2, 0, %q; or.b32 %d, %d, %w0;",
                    in(v, v, both), [&](float a, float b, u32 c) {
                      const bool less = std::string(how) == "lt" ? a < b : !(a >= b),
                                 other = (c != 0) != negated;
                      return (joined(join, less, other) ? 1 : 0) + (joined(join, !less, other) ? 2 : 0);
                    });
  const auto w = integers<s32>();
  agrees<u32>("setp.lt.s32 %p|%q, %a, %b; selp.u32 %d, 1, 0, %p; selp.u32 %w0, 2, 0, %q; or.b32 %d, %d, %w0;",
              w, [](s32 a, s32 b) { return a < b ? 1 : 2; });
  agrees<u32>("setp.lt.s32 _|%q, %a, %b; selp.u32 %d, 1, 0, %q;", w,
              [](s32 a, s32 b) { return a < b ? 0 : 1; });
}

TEST_CASE("Operands of comparisons may be literals", "[ptx]") {
  agrees<u32>("setp.gt.s32 %p, %a, -1; selp.u32 %d, 1, 0, %p;", integers<s32>(),
              [](s32 a) { return a > -1 ? 1 : 0; });
  agrees<u32>("setp.lt.f32 %p, %a, 0f40000000; selp.u32 %d, 1, 0, %p;", floats<float>(),
              [](float a) { return a < 2 ? 1 : 0; });
  agrees<u32>("setp.ge.f64 %p, %a, 0dBFF0000000000000; selp.u32 %d, 1, 0, %p;", floats<double>(),
              [](double a) { return a >= -1 ? 1 : 0; });
}

// Control flow: branches, loops, calls, barriers and exits.

namespace {

/// The words in %r0 of each thread at the end.
std::vector<u32> each(const std::string& body, unsigned threads = 32, const std::string& outside = "") {
  return words_of(body + "\nst.global.u32 [%mine], %r0;", threads, {}, outside);
}
template <class F>
void check(const std::vector<u32>& got, F expected) {
  for (u32 n = 0; n < got.size(); ++n) {
    INFO("thread " << n);
    CHECK(got[n] == static_cast<u32>(expected(n)));
  }
}
Status status_of(const std::string& body, unsigned threads = 32) {
  return launch(program(body), std::vector<u32>(threads), threads).status;
}

}  // namespace

TEST_CASE("Divergent branches reconverge", "[ptx]") {
  check(each("and.b32 %r1, %tid, 1; setp.eq.u32 %p0, %r1, 1; setp.gt.u32 %p1, %tid, 15; mov.u32 %r0, 0;\n"
             "@%p0 bra odd; add.u32 %r0, %r0, 10; @!%p1 bra meet; add.u32 %r0, %r0, 100; bra.uni meet;\n"
             "odd: add.u32 %r0, %r0, 20; @%p1 bra meet; add.u32 %r0, %r0, 200;\nmeet: vote.sync.ballot.b32 "
             "%r2, %p0, -1; add.u32 %r0, %r0, %r2;"),
        [](u32 n) { return 0xaaaaaaaa + (n % 2 == 0 ? (n > 15 ? 110 : 10) : (n > 15 ? 20 : 220)); });
}

TEST_CASE("Lanes may leave a loop after different numbers of iterations", "[ptx]") {
  const char* loop =
      "mov.u32 %r0, 0; mov.u32 %r1, 0;\nouter: mov.u32 %r2, 0;\ninner: setp.ge.u32 %p0, %r2, %r1; @%p0 bra "
      "done; add.u32 %r0, %r0, 1; add.u32 %r2, %r2, 1; bra inner;\n"
      "done: add.u32 %r1, %r1, 1; setp.le.u32 %p1, %r1, %tid; @%p1 bra outer;";
  check(each(loop, 70), [](u32 n) { return n * (n + 1) / 2; });
}

TEST_CASE("brx.idx sends each lane to its own target", "[ptx]") {
  const std::string jump =
      "table: .branchtargets zero, one,\n two, one;\nbrx.idx %r1, table;\nzero: mov.u32 %r0, 5; bra "
      "end;\none: mov.u32 %r0, 6; bra end;\ntwo: mov.u32 %r0, 7;\nend:";
  check(each("and.b32 %r1, %tid, 3;\n" + jump), [](u32 n) { return n % 4 == 3 ? 6 : 5 + n % 4; });
  CHECK(status_of("mov.u32 %r1, 4;\n" + jump) == Status::launch_failure);
}

TEST_CASE("Guard predicates select the lanes that execute an instruction", "[ptx]") {
  check(each("setp.lt.u32 %p0, %tid, 7; mov.u32 %r0, 1; @%p0 mov.u32 %r0, 2; @!%p0 add.u32 %r0, %r0, 10; "
             "setp.eq.u32 %p1, %tid, 99; @%p1 st.global.u32 [0], %r0; @%p1 trap;\n"
             "@%p0 bar.warp.sync 127;"),
        [](u32 n) { return n < 7 ? 2 : 11; });
}

TEST_CASE("Labels and registers are scoped by braces", "[ptx]") {
  const std::string block =
      "{ .reg .b32 %r1; .reg .pred done; mov.u32 %r1, 0;\nagain: add.u32 %r1, %r1, 1; add.u32 %r0, %r0, 1; "
      "setp.ge.u32 done, %r1, 3; @done bra out; bra again;\nout: }\n";
  check(each("mov.u32 %r0, 0; mov.u32 %r1, 50;\n" + block + block +
             "{ setp.gt.u32 %p0, %tid, 9; @%p0 bra out; }\nadd.u32 %r0, %r0, 1000;\nout: add.u32 %r0, %r0, "
             "%r1;"),
        [](u32 n) { return n > 9 ? 56 : 1056; });
}

TEST_CASE("Called functions receive parameters and return results", "[ptx]") {
  const char* functions =
      ".func (.param .b32 result) twice(.param .b32 number);\n"
      ".func (.param .b32 result) clamp(.param .b32 number, .param .align 8 .b8 bounds[16]) { .reg .b32 "
      "%r<4>; .reg .pred %p<2>; ld.param.u32 %r0, [number]; ld.param.u32 %r1, [bounds+8];\n"
      "setp.le.u32 %p0, %r0, %r1; @%p0 bra end; st.param.b32 [result], %r1; ret;\nend: st.param.b32 "
      "[result+0], %r0; ret; }\n"
      ".func (.param .b32 result) twice(.param .b32 number) { .reg .b32 %r<4>; .local .align 4 .b8 keep[8]; "
      "ld.param.u32 %r0, [number]; st.local.u32 [keep+4], %r0;\n"
      "{ .param .b32 in; .param .align 8 .b8 limits[16]; .param .b32 out; st.param.b32 [in], %r0; "
      "st.param.b32 [limits+8], 20; call.uni (out), clamp, (in, limits); ld.param.b32 %r1, [out]; }\n"
      "ld.local.u32 %r2, [keep+4]; add.u32 %r3, %r1, %r2; st.param.b32 [result], %r3; ret; }\n"
      ".func store(.param .b64 place, .param .b32 value) { .reg .b64 %x; .reg .b32 %r; ld.param.u64 %x, "
      "[place]; ld.param.u32 %r, [value]; st.global.u32 [%x], %r; ret; }";
  const char* call =
      "{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r0; call (out), twice, (in); ld.param.b32 %r0, "
      "[out]; }\n";
  check(each(std::string("mov.u32 %r0, %tid;\n") + call + call, 32, functions), [](u32 n) {
    const u32 once = n + std::min(n, 20U);
    return once + std::min(once, 20U);
  });
  check(words_of("{ .param .b64 a; .param .b32 b; st.param.b64 [a], %mine; st.param.b32 [b], 77; call.uni "
                 "store, (a, b); }",
                 32, {}, functions),
        [](u32) { return 77; });
  CHECK_THAT(refused("call.uni unknown, (%r0);"), support::StartsWith("call unknown"));
  CHECK(refused("call.uni loop;", ".func loop() { call.uni loop; ret; }") == "call loop\n");
  CHECK(refused("@%p0 call.uni plain;", ".func plain() { ret; }") == "call plain\n");
  CHECK(refused("call.uni plain; call __assertfail, ();", ".func plain() { ret; }") == "");
}

TEST_CASE("Barriers order writes of a warp before reads of another", "[ptx]") {
  for (const char* barrier : {"bar.sync 0;", "barrier.sync 1;", "barrier.sync.aligned 0;", "bar.cta.sync 0;"})
    check(
        each(
            std::string(
                ".shared .align 4 .b8 area[400];\nshl.b32 %r1, %tid, 2; st.shared.u32 [%r1], %tid; ") +
                barrier +
                " sub.u32 %r2, 396, %r1; ld.shared.u32 %r0, [%r2]; mov.u32 %r3, area; add.u32 %r0, %r0, %r3;",
            100),
        [](u32 n) { return 99 - n; });
}

TEST_CASE("bar.red reduces the predicates of all threads", "[ptx]") {
  for (const u32 limit : {0U, 1U, 40U, 100U, 200U}) {
    const std::string head = "setp.lt.u32 %p0, %tid, " + std::to_string(limit) + "; ",
                      pick = " selp.u32 %r0, 1, 0, %p1;";
    const u32 count = std::min(limit, 100U);
    const auto value = [&](const std::string& text) {
      const auto got = each(head + text, 100);
      for (const u32 word : got) CHECK(word == got[0]);
      return got[0];
    };
    CHECK(value("bar.red.popc.u32 %r0, 0, %p0;") == count);
    CHECK(value("barrier.red.popc.u32 %r0, 1, !%p0;") == 100 - count);
    CHECK(value("bar.red.and.pred %p1, 0, %p0;" + pick) == (count == 100 ? 1 : 0));
    CHECK(value("bar.cta.red.or.pred %p1, 0, %p0;" + pick) == (count > 0 ? 1 : 0));
    CHECK(value("bar.red.or.pred %p1, 0, !%p0;" + pick) == (count < 100 ? 1 : 0));
  }
}

TEST_CASE("Barriers do not wait for threads that have exited", "[ptx]") {
  check(each("mov.u32 %r0, 0; setp.ge.u32 %p0, %tid, 40; setp.lt.u32 %p1, %tid, 3; @%p1 ret; @%p0 exit; "
             "bar.red.popc.u32 %r0, 0, %p9; setp.ne.u32 %p2, %tid, 99;\n"
             "bar.red.popc.u32 %r0, 0, %p2; vote.sync.ballot.b32 %r1, %p2, -1; popc.b32 %r1, %r1; shl.b32 "
             "%r1, %r1, 8; or.b32 %r0, %r0, %r1;",
             70),
        [](u32 n) { return n < 3 || n >= 40 ? 0
                           : n < 32         ? 37 | 29 << 8
                                            : 37 | 8 << 8; });
}

TEST_CASE("A trap or a barrier mismatch ends a launch with an error", "[ptx]") {
  CHECK(status_of("trap;") == Status::launch_failure);
  CHECK(status_of("setp.gt.u32 %p0, %tid, 31; @%p0 bra other; bar.sync 0; bra end;\nother: bar.sync 1;\nend:",
                  64) == Status::deadlock);
  CHECK_THROWS_WITH(load(program("bra nowhere;")) && each("bra nowhere;").empty(),
                    support::Contains("no label nowhere"));
}

TEST_CASE("Special registers give the thread and block index in three dimensions", "[ptx]") {
  const char* names[] = {"tid.x",    "tid.y",    "tid.z",   "ntid.x",  "ntid.y",
                         "ntid.z",   "ctaid.x",  "ctaid.y", "ctaid.z", "nctaid.x",
                         "nctaid.y", "nctaid.z", "warpid",  "nwarpid", "dynamic_smem_size"};
  constexpr u32 kEach = 16;
  Grid grid{{3, 2, 2}, {5, 3, 4}, 512};
  std::string body =
      "mov.u32 %r1, %ctaid.z; mad.lo.u32 %r1, %r1, 2, %ctaid.y; mad.lo.u32 %r1, %r1, 3, %ctaid.x; mad.lo.u32 "
      "%r1, %r1, 4, %tid.z; mad.lo.u32 %r1, %r1, 3, %tid.y;"
      "mad.lo.u32 %r1, %r1, 5, %tid.x; mul.wide.u32 %x0, %r1, 64; add.u64 %x0, %x0, %out;\n";
  for (std::size_t n = 0; n < std::size(names); ++n)
    body += std::string("mov.u32 %r2, %") + names[n] + "; st.global.u32 [%x0+" + std::to_string(4 * n) +
            "], %r2;\n";
  const Outcome ended = launch(program(body), std::vector<u32>(12 * 60 * kEach), grid);
  CHECK((ended.status == Status::success && ended.findings.empty()));
  for (u32 n = 0; n < 720; ++n) {
    const u32 block = n / 60, thread = n % 60;
    const u32 wanted[] = {
        thread % 5, thread / 5 % 3, thread / 15, 5,  3, 4, block % 3, block / 3 % 2, block / 6, 3, 2,
        2,          thread / 32,    2,           512};
    CHECK(std::equal(std::begin(wanted), std::end(wanted), ended.memory.begin() + n * kEach));
  }
}

}  // namespace ebb::ptx::testing
