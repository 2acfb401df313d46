// Tables and vocabularies built to need much time or memory: both must grow linearly with the text. An
// algorithm with a step per pair of columns exceeds the time limit.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/child.h"
#include "support/files.h"

using namespace ebb;
using namespace ebb::data;

namespace {

// Returns a table of one record whose columns are c0, c1, ... and whose cells are equal.
std::string wide(int columns, const std::string& cell) {
  std::string head, record;
  for (int i = 0; i < columns; ++i) {
    head += (i ? ",c" : "c") + std::to_string(i);
    record += (i ? "," : "") + cell;
  }
  return head + "\n" + record + "\n";
}

std::string times(std::size_t n, const std::string& what) {
  std::string all;
  while (n-- > 0) all += what;
  return all;
}

}  // namespace

TEST_CASE("parse_csv of very many columns needs time and memory linear in the text") {
  constexpr int columns = 500'000;
  const std::string numbers = wide(columns, "1"), words = wide(columns, "a");
  CHECK(support::takes_at_most(32 * numbers.size(), [&] {
    const CSV table = parse_csv(numbers);
    return table.values().size(1) == columns;
  }));
  CHECK(support::takes_at_most(128 * words.size(), [&] { return !parse_csv(words).is_numeric("c7"); }));
  // The features of a dataset, and columns by name.
  CHECK(support::takes_at_most(128 * numbers.size(), [&] {
    const CSV table = parse_csv(numbers);
    const datasets::CSVDataset set(table, "c" + std::to_string(columns - 1));
    return set.features().size(1) == columns - 1 && table.columns({"c3", "c1"}).size(1) == 2;
  }));
  CHECK(support::takes_at_most(256 * numbers.size(), [&] {
    const CSV table = parse_csv(numbers);
    return parse_csv(numbers, CSVOptions().text(table.column_names())).numeric_names().empty();
  }));
}

TEST_CASE("the memory of parse_csv is proportional to the text for every kind of cell") {
  const std::size_t n = 1'000'000;
  for (const std::string& text :
       {times(n, ","), times(n / 2, "1\n"), times(n / 2, "a\n"), times(n / 4, ",,1\n"),
        "a\n" + times(n / 7, "\"\"\"\"\"\"\n"), times(n, "\n") + "1"})
    for (const bool header : {false, true}) {
      INFO(text.substr(0, 8) << " with a header: " << header);
      CHECK(support::takes_at_most(192 * n, [&] {
        try {
          parse_csv(text, CSVOptions().header(header));
        } catch (const Error&) {
        }
        return true;
      }));
    }
}

TEST_CASE("columns are returned in the requested order and missing or text columns throw") {
  const CSV table = parse_csv("a,b,c\n1,x,3\n4,y,6\n");
  CHECK(equal(table.columns({"c", "a", "c"}), tensor({{3.F, 1.F, 3.F}, {6.F, 4.F, 6.F}})));
  CHECK_THROWS_WITH(table.columns({"a", "b"}), support::Contains("the column \"b\" is text"));
  CHECK_THROWS_WITH(table.columns({"a", "d"}), support::Contains("no column \"d\""));
  CHECK_THROWS_WITH(parse_csv("a,b,a\n1,2,3\n"), support::Contains("two columns have the name \"a\""));
  CHECK_THROWS_WITH(parse_csv("a\n1\n", CSVOptions().text({"a", "z"})),
                    support::Contains("has no column \"z\""));
}

TEST_CASE("the memory of Vocabulary::load is proportional to the file") {
  const FakeRoot root;
  std::string tokens = "vocabulary of words\n\n";
  for (int i = 0; i < 200'000; ++i) tokens += std::to_string(i) + "\n";
  root.write("/tokens", tokens);
  root.write("/lines", "vocabulary of words\n" + times(1'000'000, "\n"));
  CHECK(support::takes_at_most(64 * tokens.size(),
                               [&] { return Vocabulary::load(root.path() + "/tokens").size() == 200'000; }));
  CHECK(support::takes_at_most(64'000'000, [&] {
    try {
      Vocabulary::load(root.path() + "/lines");
    } catch (const Error&) {
      return true;
    }
    return false;
  }));
}
