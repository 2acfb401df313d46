// The lists fit the sources, and what is written into a source is what the list says.
#include "mutants.h"

#include <map>
#include <set>

#include "support/catch.h"
#include "support/source_dir.h"

namespace fs = std::filesystem;
using mutate::Mutant;
using support::Contains;

namespace {

const std::vector<Mutant>& lists() {
  static const std::vector<Mutant> all = mutate::read_lists(fs::path(source_dir()) / "tests/mutate");
  return all;
}

// A source with the mutants of a list, without the two lines that every one begins with.
std::string rewritten(const std::string& source, const std::string& list, std::vector<int>* lines = nullptr) {
  const std::vector<Mutant> all = mutate::parse(list, "sample.mutants");
  std::vector<const Mutant*> mutants;
  for (const Mutant& m : all) mutants.push_back(&m);
  std::vector<int> found;
  std::string text = mutate::rewrite(source, mutants, lines ? *lines : found);
  const std::string start = "#include \"ebb/mutate.h\"\n#line 1\n";
  REQUIRE(text.substr(0, start.size()) == start);
  text.erase(0, start.size());
  for (std::size_t i = 0; i < all.size(); ++i) {  // numbers are nothing to compare with
    const std::string call = "::ebb::mutate::chosen(0x" + all[i].id() + "u)";
    for (std::size_t at; (at = text.find(call)) != std::string::npos;)
      text.replace(at, call.size(), "M" + std::to_string(i + 1));
  }
  return text;
}

std::string rewritten_line(const std::string& before, const std::string& after) {
  return rewritten(before, "f.cpp: t\n- " + before + "\n+ " + after + "\n");
}

}  // namespace

TEST_CASE("every mutant of the lists fits the sources") {
  std::map<std::string, std::vector<const Mutant*>> by_file;
  for (const Mutant& m : lists()) by_file[m.file].push_back(&m);
  std::vector<int> lines;
  for (const auto& [file, mutants] : by_file) {
    INFO(file);
    CHECK_NOTHROW(mutate::rewrite(mutate::read_file(fs::path(source_dir()) / file), mutants, lines));
  }
}

TEST_CASE("the lists are long, without doubles, and leave no part of the library out") {
  CHECK(lists().size() >= 150);
  std::set<std::string> ids;
  for (const Mutant& m : lists()) {
    INFO(m.place);
    CHECK(ids.insert(m.id()).second);
    CHECK_FALSE(m.programs.empty());
  }
  std::vector<std::string> parts;
  const fs::path src = fs::path(source_dir()) / "src";
  for (const fs::path& folder : {src, src / "ops"})
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_directory() && name != "ops" && name != "cuda") parts.push_back("/" + name + "/");
    }
  CHECK(parts.size() >= 20);
  for (const std::string& part : parts) {
    INFO(part);
    bool has_some = false;
    for (const Mutant& m : lists()) has_some |= m.file.find(part) != std::string::npos;
    CHECK(has_some);
  }
}

TEST_CASE("a list is read") {
  const std::vector<Mutant> all = mutate::parse(
      "# comment\nsrc/a.cpp: optim, optable:op a*,op b\n- x = 1;\n-   y = 2;\n+ y = 2;\n\n- z();\n+\n",
      "sample.mutants");
  REQUIRE(all.size() == 2);
  CHECK(all[0].file == "src/a.cpp");
  CHECK(all[0].programs == std::vector<std::string>{"optim", "optable:op a*,op b"});
  CHECK(all[0].before == "x = 1;\n  y = 2;");
  CHECK(all[0].after == "y = 2;");
  CHECK(all[0].place == "sample.mutants:3");
  CHECK(all[1].before == "z();");
  CHECK(all[1].after.empty());
  CHECK(all[0].id().size() == 8);
  CHECK(all[0].id() != all[1].id());

  CHECK_THROWS_WITH(mutate::parse("- x\n+ y\n", "l"), "l:1: a mutant before the first file");
  CHECK_THROWS_WITH(mutate::parse("f.cpp: t\n- x\n\n", "l"), "l:3: a - without its +");
  CHECK_THROWS_WITH(mutate::parse("f.cpp: t\n- x\n", "l"), "l: ends after a -");
  CHECK_THROWS_WITH(mutate::parse("f.cpp: t\n+ x\n", "l"), "l:2: a + without its -");
  CHECK_THROWS_WITH(mutate::parse("what is this\n", "l"), Contains("l:1: neither a mutant"));
}

TEST_CASE("what differs is written as a choice of expressions") {
  CHECK(rewritten_line("return a - b;", "return a + b;") == "return (M1 ? (a + b) : (a - b));");
  CHECK(rewritten_line("const T x = a < b;", "const T x = a <= b;") ==
        "const T x = (M1 ? (a <= b) : (a < b));");
  CHECK(rewritten_line("if (i < n) f(i);", "if (i <= n) f(i);") == "if ((M1 ? (i <= n) : (i < n))) f(i);");
  CHECK(rewritten_line("for (int i = 0; i < n; ++i) {", "for (int i = 1; i < n; ++i) {") ==
        "for (int i = (M1 ? (1) : (0)); i < n; ++i) {");
  CHECK(rewritten_line("f(a, b + c);", "f(a, b - c);") == "f(a, (M1 ? (b - c) : (b + c)));");
  CHECK(rewritten_line("x = i >= a && i < b;", "x = i >= a && i <= b;") ==
        "x = (M1 ? (i >= a && i <= b) : (i >= a && i < b));");
  // A list of arguments is no expression: the call is.
  CHECK(rewritten_line("x = f(a, b) + 1;", "x = f(b, a) + 1;") ==
        "x = (M1 ? (f(b, a) + 1) : (f(a, b) + 1));");
  CHECK(rewritten_line("x = f();", "x = f(1);") == "x = (M1 ? (f(1)) : (f()));");
  CHECK(rewritten_line("x = (a + b) * c;", "x = a + (b * c);") ==
        "x = (M1 ? (a + (b * c)) : ((a + b) * c));");
}

TEST_CASE("statements are left out or replaced as such") {
  CHECK(rewritten_line("f(a);", "") == "{ if (M1) {  } else { f(a); } }");
  CHECK(rewritten_line("if (a) return b;", "if (a) f();") ==
        "{ if (M1) { if (a) f(); } else { if (a) return b; } }");
  CHECK(rewritten("void g() { f(a); }", "f.cpp: t\n- f(a);\n+ h(a);\n") ==
        "void g() { { if (M1) { h(a); } else { f(a); } } }");
  CHECK(rewritten("  a = 1;\n  b = 2;\n  c = 3;\n", "f.cpp: t\n- a = 1;\n-   b = 2;\n+ a = 1;\n+\n") ==
        "  a = 1;\n{ if (M1) {  } else {   b = 2; } }\n  c = 3;\n");
}

TEST_CASE("several mutants share a line, and all lines keep their numbers") {
  std::vector<int> lines;
  CHECK(
      rewritten(
          "one\nif (a < b &&\n    c) f(a);\n",
          "f.cpp: t\n- if (a < b &&\n-     c) f(a);\n+ if (a < b) f(a);\n\n- a < b\n+ a > b\n\n- f(a);\n+\n",
          &lines) ==
      "one\nif ((M1 ? (a < b) : ((M2 ? (a > b) : (a < b)) &&\n    c))) { if (M3) {  } else { f(a); } }\n");
  CHECK(lines == std::vector<int>{2, 2, 3});
}

TEST_CASE("a mutant that does not fit is named with its list and file") {
  const auto misfit = [](const std::string& before, const std::string& after) {
    return rewritten("x = 1;\nx = 2;\n", "f.cpp: t\n- " + before + "\n+ " + after + "\n");
  };
  CHECK_THROWS_WITH(misfit("y = 1;", "y = 2;"), "sample.mutants:2: f.cpp: does not have this:\ny = 1;");
  CHECK_THROWS_WITH(misfit("x =", "y ="), Contains("has this more than once"));
  CHECK_THROWS_WITH(misfit("x = 1;", "x = 1;"), Contains("the mutant is the original"));
  CHECK_THROWS_WITH(misfit("1;\n- x", "2;"), Contains("neither an expression nor a statement"));
  CHECK_THROWS_WITH(rewritten("x = a + b + c;", "f.cpp: t\n- a + b\n+ a\n\n- b + c\n+ c\n"),
                    Contains("overlaps"));
}
