// Random programs give equal results in all ways of running them; and tests of the generator.
#include "optable/table.h"
#include "random_programs/derivatives.h"
#include "random_programs/export.h"
#include "random_programs/generate.h"
#include "random_programs/kinds.h"
#include "random_programs/ways.h"
#include "support/catch.h"

#include <chrono>
#include <iostream>
#include <set>
#include <sstream>

using namespace programs;

namespace {

constexpr int kParts = 10, kOfEach = 1000;
constexpr std::uint64_t kFixedSeed = 20261126;

/// The shrunk program as a test case, with its disagreement.
std::string described(const Program& program) {
  const Program small = shrink(program, [](const Program& p) { return !disagreement(p).empty(); });
  return disagreement(small) + "\n" + source(small, Language::cpp) + "\n" + to_text(small);
}

/// The first program with a disagreement that is not a known fault.
std::string first_failure(std::uint64_t seed, int count, Counts* counts = nullptr) {
  for (int i = 0; i < count; ++i) {
    Draw draw(seed + static_cast<std::uint64_t>(i));
    const Program program = generate(draw);
    if (disagreement(program, counts).empty() || known_fault(program)) continue;
    return "seed " + std::to_string(seed + static_cast<std::uint64_t>(i)) + ": " + described(program);
  }
  return "";
}

const bool registered = [] {
  for (int part = 0; part < kParts; ++part)
    support::add_case("programs of a fixed seed give the same in every way, part " + std::to_string(part),
                      "[programs]", [part] {
                        Counts counts;
                        const std::string failure = first_failure(
                            kFixedSeed + static_cast<std::uint64_t>(part) * kOfEach, kOfEach, &counts);
                        INFO(failure);
                        CHECK(failure.empty());
                        CHECK(counts.replays > 3 * kOfEach);
                        CHECK(counts.resumed > kOfEach / 5);
                      });
  return true;
}();

Program drawn(std::uint64_t seed) {
  Draw draw(seed);
  return generate(draw);
}

}  // namespace

TEST_CASE("random programs seeded by the current day print differences and never fail the test") {
  REQUIRE(registered);
  const auto days =
      std::chrono::duration_cast<std::chrono::hours>(std::chrono::system_clock::now().time_since_epoch()) /
      24;
  const std::string failure = first_failure(static_cast<std::uint64_t>(days.count()) * 1000000, kOfEach / 2);
  if (!failure.empty()) std::cout << "a program of today's seed disagrees:\n" << failure << std::endl;
}

TEST_CASE("first and second derivatives of 2000 random programs agree with finite differences") {
  Decided decided;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Draw draw(seed);
    const Program program = generate_smooth(draw);
    if (wrong_derivative(program, &decided).empty()) continue;
    const Program small = shrink(program, [](const Program& p) { return !wrong_derivative(p).empty(); });
    FAIL_CHECK("seed " << seed << ": " << wrong_derivative(small) << "\n" << source(small, Language::cpp));
  }
  CHECK(decided.first > 1500);
  CHECK(decided.second > 1500);
}

TEST_CASE("the derivative check reports a program that detaches a result") {
  const Program program = from_text(
      "program 2 1 1 arguments 0 ; results 1 ;\n"
      "setup make - 0 in ; out 0 ; numbers 7 1 0 0 3 ;\n"
      "body copy detach().clone 0 in 0 ; out 1 ; numbers ;\n");
  CHECK_THAT(wrong_derivative(program), support::Contains("the first derivative is"));
}

TEST_CASE("expression tables are sorted, and each entry names a row of the op table") {
  std::set<std::string> known;
  for (const optable::Row* row : optable::rows()) known.insert(row->name);
  for (const auto* rows : {&pointwise_rows(), &line_rows(), &place_rows(), &layer_rows(), &matrix_rows()}) {
    for (std::size_t i = 0; i < rows->size(); ++i) {
      INFO((*rows)[i].row);
      CHECK(known.contains((*rows)[i].row));
      if (i > 0) CHECK(std::string((*rows)[i - 1].row) < (*rows)[i].row);
    }
  }
  CHECK(torch_row("exp", false) == "torch.exp(*x)");
  CHECK(torch_row("exp", true) == "x[0].exp_(*x[1:])");
  CHECK(torch_row("all", false) == "torch.all(x[0] > -1, 1)");
}

TEST_CASE("an exported program contains its statements in Python and all their results") {
  std::ostringstream file;
  export_programs(file, 1, 5);
  const std::string text = file.str();
  CHECK(text.starts_with(python_prelude));
  CHECK(text.ends_with("])\nfinish()\n"));
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    CHECK_THAT(text, support::Contains("\nprogram(" + std::to_string(seed) + ", "));
  CHECK_THAT(text, support::Contains("'t0 = make(["));
  CHECK_THAT(text, support::Contains("(0, '', (), [('t0', '"));
}

TEST_CASE("a round trip through text preserves a random program") {
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    const Program program = drawn(seed);
    CHECK(from_text(to_text(program)) == program);
    CHECK(drawn(seed) == program);
  }
  CHECK_FALSE(drawn(1) == drawn(2));
  CHECK_THROWS_WITH(from_text("something"), support::Contains("from_text"));
  CHECK_THROWS_WITH(from_text("program 1 1 0 arguments ; results ; \nbody view - 0 out"),
                    support::Contains("expected in"));
}

TEST_CASE("every statement kind and pair of kinds occurs in 3000 random programs") {
  Coverage coverage;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) coverage.add(drawn(seed));
  std::string missing;
  for (const Kind& a : kinds()) {
    INFO(a.name);
    CHECK(coverage.programs_with(a.name) > 10);
    // In-place changes of geometry are a known fault, so few are generated.
    if (a.name == "geometry") continue;
    for (const Kind& b : kinds())
      if (a.name <= b.name && b.name != "geometry" && coverage.programs_with(a.name, b.name) == 0)
        missing += a.name + " and " + b.name + ", ";
  }
  CHECK(missing == "");
}

TEST_CASE("shrink reduces a failing program to the statements that make it fail") {
  const auto has = [](const Program& program, const std::string& kind) {
    return std::any_of(program.body.begin(), program.body.end(),
                       [&](const Statement& s) { return s.kind == kind; });
  };
  int found = 0;
  for (std::uint64_t seed = 1; found < 5; ++seed) {
    const Program program = drawn(seed);
    const auto fails = [&](const Program& p) { return has(p, "write") && has(p, "view"); };
    if (!fails(program)) continue;
    ++found;
    const Program small = shrink(program, fails);
    CHECK(small.size() == 2);
    CHECK(small.results.empty());
    CHECK(small.between.empty());
  }
}

TEST_CASE("a write without a version bump is detected and a write with one is not reported") {
  const Program program = from_text(
      "program 2 1 1 arguments 0 ; results 1 ;\n"
      "setup make - 0 in ; out 0 ; numbers 7 1 0 0 3 ;\n"
      "body write add_ 0 in 0 ; out ; numbers 8 ;\n"
      "body copy clone 0 in 0 ; out 1 ; numbers ;\n");
  State state = set_up(program);
  VersionWatch watch;
  for (const Statement& s : program.body) {
    run(state, s);
    watch.look(state, s);
  }
  state.tensor(0).data_ptr<double>()[2] += 1;
  CHECK_THROWS_WITH(watch.look(state, program.body[1]),
                    support::Contains("t1 = t0.clone()") && support::Contains("stays 1"));
}

TEST_CASE("a reported difference names the call and the tensor and both values") {
  const Program program = from_text(
      "program 2 1 1 arguments 0 ; results 1 ;\n"
      "setup make - 0 in ; out 0 ; numbers 7 1 0 0 3 ;\n"
      "body copy clone 0 in 0 ; out 1 ; numbers ;\n"
      "between act fresh 0 in 0 ; out ; numbers 2 0 ;\n"
      "call\n");
  Program other = program;
  other.between[0][0].numbers[0] = 3;
  const Trace expected = run(program, ways().front());
  CHECK(difference(expected, run(program, ways().front())).empty());
  CHECK_THAT(difference(expected, run(other, ways().front())),
             support::Contains("call 1, result t1: tensor([-0.8750"));
  CHECK(digest(expected) == digest(run(program, ways().back())));
  CHECK(digest(expected) != digest(run(other, ways().front())));
}
