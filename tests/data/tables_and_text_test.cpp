// Tables of comma-separated values, and text: parsing, vocabularies, datasets, and hostile input.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/child.h"
#include "support/files.h"

#include <cmath>

using namespace ebb;
using namespace ebb::data;
using support::Contains;

// Tables of comma-separated values: parsing, options, errors, datasets.

using Strings = std::vector<std::string>;

TEST_CASE("parse_csv reads numeric and text columns") {
  const FakeRoot root;
  root.write("/t.csv", "name,age,weight,city\nAda,36,55.5,London\nAlan,41, 70 ,Wilmslow\n");
  const CSV table = read_csv(root.path() + "/t.csv");
  CHECK(table.rows() == 2);
  CHECK(table.column_names() == Strings{"name", "age", "weight", "city"});
  CHECK(table.numeric_names() == Strings{"age", "weight"});
  CHECK(table.is_numeric("age"));
  CHECK_FALSE(table.is_numeric("city"));
  CHECK(equal(table.values(), tensor({{36.0F, 55.5F}, {41.0F, 70.0F}})));
  CHECK(equal(table.column("weight"), tensor({55.5F, 70.0F})));
  CHECK(equal(table.columns({"weight", "age"}), table.values().flip({1})));
  CHECK(table.text("name") == Strings{"Ada", "Alan"});
  CHECK_THROWS_WITH(table.column("city"),
                    Contains("/t.csv\", line 2, column 4") && Contains("\"London\" is not a number"));
  CHECK_THROWS_WITH(table.text("age"), Contains("is numeric"));
  CHECK_THROWS_WITH(table.column("height"), Contains("no column \"height\"") && Contains("\"weight\""));
  CHECK_THROWS_WITH(read_csv("no/such.csv"), Contains("no/such.csv"));
}

TEST_CASE("parse_csv accepts a byte order mark and the quotes and line ends of RFC 4180") {
  const CSV table = parse_csv(
      "\xef\xbb\xbf"
      "\"a\",\"b, c\",d\r\n\"say \"\"hi\"\"\",\"two\r\nlines\",1\r\n\r\n,\"\",\"2\"\r\nx\"y,z,+3");
  CHECK(table.column_names() == Strings{"a", "b, c", "d"});
  CHECK(table.text("a") == Strings{"say \"hi\"", "", "x\"y"});
  CHECK(table.text("b, c") == Strings{"two\r\nlines", "", "z"});
  CHECK(equal(table.column("d"), tensor({1.0F, 2.0F, 3.0F})));
  CHECK(parse_csv("a,b\n1,\n").rows() == 1);
  CHECK(parse_csv("a,b").rows() == 0);
  CHECK(parse_csv("a,b").values().sizes() == IntArrayRef({0, 2}));
}

TEST_CASE("CSVOptions set separator, header, dtype and text columns") {
  const CSV table = parse_csv("1;2\n3;4\n", CSVOptions().separator(';').header(false).dtype(kLong));
  CHECK(table.column_names() == Strings{"0", "1"});
  CHECK(equal(table.values(), tensor({{1, 2}, {3, 4}})));
  const CSV precise = parse_csv("x\n0.1\n9007199254740993\n", CSVOptions().dtype(kDouble));
  CHECK(precise.column("x")[0].item<double>() == 0.1);
  const CSV integers = parse_csv("x\n9007199254740993\n", CSVOptions().dtype(kLong));
  CHECK(integers.column("x").item<std::int64_t>() == 9007199254740993);
  CHECK_FALSE(parse_csv("x\n1.5\n", CSVOptions().dtype(kLong)).is_numeric("x"));
  const CSV zips = parse_csv("zip,n\n01234,1\n", CSVOptions().text({"zip"}));
  CHECK(zips.text("zip") == Strings{"01234"});
  CHECK_THROWS_WITH(zips.column("zip"), Contains("CSVOptions::text names it"));
  CHECK_THROWS_WITH(parse_csv("a\n1\n", CSVOptions().text({"b"})), Contains("no column \"b\""));
  CHECK_THROWS_WITH(parse_csv("a\n1\n", CSVOptions().dtype(kHalf)), Contains("not Half"));
  CHECK_THROWS_WITH(parse_csv("a\n1\n", CSVOptions().separator('"')), Contains("cannot separate"));
}

TEST_CASE("a missing number of a table is read as NaN or throws with line and column") {
  const std::string text = "a,b\n1,2\n,\"x\ny\"\nNA,3\n";
  const CSV table = parse_csv(text);
  CHECK(table.column("a")[0].item<float>() == 1);
  CHECK(std::isnan(table.column("a")[1].item<float>()));
  CHECK(std::isnan(table.column("a")[2].item<float>()));
  CHECK_THROWS_WITH(parse_csv(text, CSVOptions().allow_missing(false)),
                    Contains("line 3, column 1: a number is missing"));
  CHECK_THROWS_WITH(parse_csv("a,b\n1,2\n3,NA\n", CSVOptions().dtype(kLong)),
                    Contains("line 3, column 2") && Contains("Long has no NaN"));
  const CSV own = parse_csv("a\n-\n5\n", CSVOptions().missing({"-"}));
  CHECK(std::isnan(own.column("a")[0].item<float>()));
  for (const char* cell : {" NA", "NA ", "\tNA  ", "  ", " nan "}) {
    INFO('"' << cell << '"');
    const Tensor column = parse_csv("a,b\n1,0\n" + std::string(cell) + ",0\n 3 ,0\n").column("a");
    CHECK(column[0].item<float>() == 1);
    CHECK(std::isnan(column[1].item<float>()));
    CHECK(column[2].item<float>() == 3);
  }
  // The line number is that of the file, even if an earlier cell contains line ends.
  CHECK_THROWS_WITH(parse_csv("a,b\n1,\"x\ny\"\nz,3\n").column("a"), Contains("line 4, column 1: \"z\""));
}

TEST_CASE("parse_csv throws for a malformed table and names the line") {
  CHECK_THROWS_WITH(parse_csv(""), Contains("the text holds no records"));
  CHECK_THROWS_WITH(parse_csv("a,b\n1,2\n3\n"),
                    Contains("line 3: expected 2 cells, as in the first record, got 1"));
  CHECK_THROWS_WITH(parse_csv("a\n\"1\n2"), Contains("line 2: a quoted cell does not end"));
  CHECK_THROWS_WITH(parse_csv("a\n\"1\"2\n"), Contains("line 2: expected a separator"));
  CHECK_THROWS_WITH(parse_csv("a,a\n1,2\n"), Contains("two columns have the name \"a\""));
}

TEST_CASE("CSVDataset has columns of a table as features and a numeric or class target") {
  const CSV table = parse_csv("x,kind,y\n1,b,10\n2,a,20\n3,b,30\n4,c,40\n");
  datasets::CSVDataset classes(table, {"y", "x"}, "kind");
  CHECK(classes.classes() == Strings{"a", "b", "c"});
  CHECK(equal(classes.targets(), tensor({1, 0, 1, 2})));
  CHECK(equal(classes.get(1).data, tensor({20.0F, 2.0F})));
  CHECK(classes.get(3).target.item<std::int64_t>() == 2);
  datasets::CSVDataset numbers(table, "y");
  CHECK(*numbers.size() == 4);
  CHECK(equal(numbers.features(), tensor({{1.0F}, {2.0F}, {3.0F}, {4.0F}})));
  CHECK(numbers.classes().empty());
  auto loader = make_data_loader<samplers::SequentialSampler>(numbers.map(transforms::Stack<>()), 4);
  for (const auto& batch : *loader) CHECK(equal(batch.target, tensor({10.0F, 20.0F, 30.0F, 40.0F})));
  CHECK_THROWS_WITH(datasets::CSVDataset(table, {"kind"}, "y"), Contains("is text"));
}

// Text: vocabularies, windows of tokens, batches of sequences.

TEST_CASE("a character vocabulary counts UTF-8 characters") {
  const std::string text = "b\u00e4b\n\u20aca\U0001F600b\\";
  const Vocabulary vocabulary = Vocabulary::from_characters(text);
  CHECK(vocabulary.tokens() == Strings{"b", "\n", "\\", "a", "\u00e4", "\u20ac", "\U0001F600"});
  CHECK(equal(vocabulary.encode("b\u00e4a"), tensor({0, 4, 3})));
  CHECK(vocabulary.decode(vocabulary.encode(text)) == text);
  CHECK_THROWS_WITH(vocabulary.encode("c"), Contains("\"c\" is not in the vocabulary"));
  const std::string broken = "a\xe2\x82z\xff\xc3";  // bytes that belong to no character
  const Vocabulary bytes = Vocabulary::from_characters(broken);
  CHECK(bytes.size() == 6);
  CHECK(bytes.decode(bytes.encode(broken)) == broken);
  // The second byte is invalid, and in the last two it is followed by valid ones.
  const Vocabulary second = Vocabulary::from_characters("\xc3(\xe2(\xa1\xf0(\x8c\xbc");
  CHECK(second.tokens() == Strings{"(", "\x8c", "\xa1", "\xbc", "\xc3", "\xe2", "\xf0"});
}

TEST_CASE("a word vocabulary lists special tokens first and then words by frequency") {
  const std::string text = "the cat  and the dog\nand the <eos> bird";
  const auto options = VocabularyOptions().specials({"<unk>", "<eos>"}).unknown("<unk>").min_freq(2);
  const Vocabulary vocabulary = Vocabulary::from_words(text, options);
  CHECK(vocabulary.tokens() == Strings{"<unk>", "<eos>", "the", "and"});
  CHECK(vocabulary.size() == 4);
  CHECK(equal(vocabulary.encode("and the cow <eos>"), tensor({3, 2, 0, 1})));
  CHECK(vocabulary.decode(tensor({3, 2, 0})) == "and the <unk>");
  CHECK(vocabulary.token(2) == "the");
  CHECK(vocabulary.contains("the"));
  CHECK_FALSE(vocabulary.contains("dog"));
  CHECK(vocabulary.index("dog") == 0);
  CHECK(vocabulary.encode(" \n").numel() == 0);
  CHECK(Vocabulary::from_words("a b b", VocabularyOptions().unknown("?")).tokens() == Strings{"?", "b", "a"});
  CHECK_THROWS_MATCHES(vocabulary.token(4), IndexError,
                       support::Saying("Vocabulary: index 4 is out of range for 4 tokens"));
  CHECK_THROWS_MATCHES(vocabulary.decode(tensor({-1})), IndexError,
                       support::Saying("Vocabulary: index -1 is out of range for 4 tokens"));
  CHECK_THROWS_WITH(vocabulary.decode(zeros({2})), Contains("expected integers"));
  CHECK_THROWS_WITH(Vocabulary::from_words("a", VocabularyOptions().specials({"x", "x"})),
                    Contains("occurs twice"));
}

TEST_CASE("a vocabulary is unchanged by a round trip through a file") {
  const FakeRoot root;
  const std::string path = root.path() + "/v.txt";
  const Vocabulary characters = Vocabulary::from_characters("a\n\r\\n b");
  characters.save(path);
  CHECK(Vocabulary::load(path).tokens() == characters.tokens());
  CHECK(Vocabulary::load(path).unit() == Vocabulary::Unit::character);
  Vocabulary::from_words("x y", VocabularyOptions().unknown("<unk>")).save(path);
  const Vocabulary words = Vocabulary::load(path);
  CHECK(words.unit() == Vocabulary::Unit::word);
  CHECK(equal(words.encode("y z"), tensor({2, 0})));
  CHECK(read_text(path) == "vocabulary of words\n<unk>\n<unk>\nx\ny\n");
  root.write("/v.txt", "vocabulary of words\n\nx\ny");
  CHECK_THROWS_WITH(Vocabulary::load(path), Contains("is truncated"));
  root.write("/v.txt", "vocabulary of words\n\n\\x\n");
  CHECK_THROWS_WITH(Vocabulary::load(path), Contains("escape sequence"));
  root.write("/v.txt", "x\ny\nz\n");
  CHECK_THROWS_WITH(Vocabulary::load(path), Contains("v.txt"));
}

TEST_CASE("the target of a TextDataset window is the window shifted by one token") {
  datasets::TextDataset apart(arange(10), 3);
  REQUIRE(*apart.size() == 3);
  CHECK(equal(apart.get(2).data, tensor({6, 7, 8})));
  CHECK(equal(apart.get(2).target, tensor({7, 8, 9})));
  CHECK(apart.get(0).data.is_alias_of(apart.tokens()));
  CHECK(*datasets::TextDataset(arange(9), 3).size() == 2);  // the last target would be missing
  datasets::TextDataset sliding(arange(10), 3, 1);
  REQUIRE(*sliding.size() == 7);
  CHECK(equal(sliding.get(6).target, tensor({7, 8, 9})));
  CHECK_THROWS_WITH(apart.get(3), Contains("index 3 is out of range for 3 windows"));
  CHECK_THROWS_WITH(datasets::TextDataset(arange(3), 3), Contains("need 4 tokens"));
  CHECK_THROWS_WITH(datasets::TextDataset(zeros({5}), 3), Contains("kLong"));
  CHECK_THROWS_WITH(datasets::TextDataset(arange(9), 3, 0), Contains("positive"));
}

TEST_CASE("sequences of different lengths are padded in a batch") {
  transforms::PadSequence pad(-1);
  const Example<> tagged =
      pad.apply_batch({{tensor({1, 2, 3}), tensor({4, 5, 6})}, {tensor({7}), tensor({8})}});
  CHECK(equal(tagged.data, tensor({{1, 2, 3}, {7, -1, -1}})));
  CHECK(equal(tagged.target, tensor({{4, 5, 6}, {8, -100, -100}})));
  const Example<> labelled = pad.apply_batch({{ones({1, 2}), tensor(3)}, {ones({2, 2}), tensor(4)}});
  CHECK(labelled.data.sizes() == IntArrayRef({2, 2, 2}));
  CHECK(labelled.data[0][1].eq(-1).all().item<bool>());
  CHECK(equal(labelled.target, tensor({3, 4})));
}

// Tables and vocabularies built to need much time or memory: both must grow linearly with the text. An
// algorithm with a step per pair of columns exceeds the time limit.

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
