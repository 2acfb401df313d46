// Tables of comma-separated values: parsing, options, errors, datasets.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/files.h"

#include <cmath>

using namespace ebb;
using namespace ebb::data;
using support::Contains;
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
                    Contains("/t.csv\", line 2, column 4") && Contains("\"London\" is no number"));
  CHECK_THROWS_WITH(table.text("age"), Contains("is numeric"));
  CHECK_THROWS_WITH(table.column("height"), Contains("no column \"height\"") && Contains("\"weight\""));
  CHECK_THROWS_WITH(read_csv("no/such.csv"), Contains("no/such.csv"));
}

TEST_CASE("parse_csv accepts quotes and line ends of RFC 4180 and a byte order mark") {
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
  CHECK_THROWS_WITH(zips.column("zip"), Contains("to be text"));
  CHECK_THROWS_WITH(parse_csv("a\n1\n", CSVOptions().text({"b"})), Contains("no column \"b\""));
  CHECK_THROWS_WITH(parse_csv("a\n1\n", CSVOptions().dtype(kHalf)), Contains("not Half"));
  CHECK_THROWS_WITH(parse_csv("a\n1\n", CSVOptions().separator('"')), Contains("cannot separate"));
}

TEST_CASE("missing numbers of a table are NaN or an error with line and column") {
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

TEST_CASE("a table becomes a dataset with features and a numeric or class target") {
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
