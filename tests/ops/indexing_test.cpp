// x.index({...}): a table of expected results, views, writes, gradients, errors.
#include "check.h"

using namespace op_tests;
using namespace ebb::indexing;

namespace {

struct Row {
  const char* name;
  std::vector<TensorIndex> index;
  Shape shape;
  Values values;
};

}  // namespace

TEST_CASE("index returns the selected elements for every kind of index") {
  const Variable x = count({3, 4, 2});  // x[i][j][k] = 8 i + 2 j + k
  const Variable rows = longs({2, 0}), columns = longs({1, 3}), mask = bools({1, 0, 1}, {3});
  const std::vector<Row> table = {
      {"int", {1, 2, 1}, {}, {13}},
      {"negative", {-1, -2}, {2}, {20, 21}},
      {"slice", {Slice(1), 0, 0}, {2}, {8, 16}},
      {"step", {Slice(None, None, 2), 0, 0}, {2}, {0, 16}},
      {"stop", {0, Slice(None, -2), 0}, {2}, {0, 2}},
      {"beyond", {Slice(0, 100), 3, 1}, {3}, {7, 15, 23}},
      {"nothing", {Slice(2, 1)}, {0, 4, 2}, {}},
      {"ellipsis", {"...", 3, 1}, {3}, {7, 15, 23}},
      {"ellipsis type", {0, Ellipsis, 1}, {4}, {1, 3, 5, 7}},
      {"none", {0, None, 0}, {1, 2}, {0, 1}},
      {"none at the end", {0, 0, "...", None}, {2, 1}, {0, 1}},
      {"true", {true, 0, 0, 0}, {1}, {0}},
      {"false", {false, 0, 0, 0}, {0}, {}},
      {"tensor", {rows, 0, 0}, {2}, {16, 0}},
      {"tensors", {rows, columns, 0}, {2}, {18, 6}},
      {"tensors broadcast", {rows.unsqueeze(1), columns, 0}, {2, 2}, {18, 22, 2, 6}},
      {"tensors apart come first", {rows, Slice(0, 3), longs({1, 0})}, {2, 3}, {17, 19, 21, 0, 2, 4}},
      {"tensors in the middle stay", {Slice(0, 2), columns, longs({0, 1})}, {2, 2}, {2, 7, 10, 15}},
      {"two dimensions of indices", {longs({0, 1, 2, 2}, {2, 2}), 0, 0}, {2, 2}, {0, 8, 16, 16}},
      {"negative entries", {longs({-1, -3}), 0, 0}, {2}, {16, 0}},
      {"int beside a tensor", {1, columns, 1}, {2}, {11, 15}},
      {"int between tensors", {rows, 1, longs({0, 1})}, {2}, {18, 3}},
      {"0-d tensor", {longs({2}, {}), 0, 0}, {}, {16}},
      {"mask", {mask, 0, 0}, {2}, {0, 16}},
      {"mask of two",
       {mask.unsqueeze(1).expand({3, 4}).logical_and(longs({0, 0, 1, 0}).eq(1))},
       {2, 2},
       {4, 5, 20, 21}},
      {"mask and tensor", {mask, columns, 1}, {2}, {3, 23}},
      {"byte mask", {ebb::to(mask, ebb::kByte), 0, 0}, {2}, {0, 16}},
      {"empty tensor", {longs({})}, {0, 4, 2}, {}},
      {"all at once", {Slice(1), "...", None, longs({1, 0}), 0}, {2, 1, 2}, {10, 8, 18, 16}},
  };
  for (const Row& row : table) {
    INFO(row.name);
    const Variable y = x.index(row.index);
    CHECK(shape(y) == row.shape);
    CHECK(values(y) == row.values);
  }
  CHECK(values(x.index({Slice(1), "...", None, bools({0, 1, 0, 0}, {4}), 0})) == Values{10, 18});
  CHECK((Slice(None, None, 2).start() == 0 && Slice(1).stop() == ebb::indexing::INDEX_MAX));
  CHECK(values(x[1][2]) == Values{12, 13});
  CHECK(values(x[longs({2, 2})].select(1, 0).select(1, 0)) == Values{16, 16});
  CHECK(values(x.index({x.gt(21)})) == Values{22, 23});
  CHECK(values(ebb::index(x.select(2, 0), {rows, columns})) == Values{18, 6});
}

TEST_CASE("basic indexing returns views and tensor indexing returns copies") {
  const Variable x = count({3, 4});
  CHECK(x.index({1, Slice(1)}).data_ptr<double>() == x.data_ptr<double>() + 5);
  CHECK(x.index({"..."}).is_view());
  CHECK(x.index({Slice()}).is_view());
  CHECK_FALSE(x.index({longs({0})}).is_view());
  Variable leaf = count({3, 4}).set_requires_grad(true);
  CHECK(node_name(leaf.index({longs({0})})) == "IndexBackward0");
  CHECK(node_name(leaf.index({0})) == "SelectBackward0");
  CHECK(node_name(leaf.index({Slice()})) == "SliceBackward0");
  CHECK(node_name(leaf.index({None})) == "UnsqueezeBackward0");
  CHECK(node_name(leaf.index({"..."})) == "AliasBackward0");
}

TEST_CASE("index_put_ writes through every kind of index") {
  Variable x = count({3, 2});
  x.index_put_({1, 0}, 9);
  CHECK(values(x) == Values{0, 1, 9, 3, 4, 5});
  x.index_put_({Slice(), 1}, longs({7, 8, 6}));
  CHECK(values(x) == Values{0, 7, 9, 8, 4, 6});
  x.index_put_({longs({2, 0})}, -1);
  CHECK(values(x) == Values{-1, -1, 9, 8, -1, -1});
  x.index_put_({x.lt(0)}, 2.5);
  CHECK(values(x) == Values{2.5, 2.5, 9, 8, 2.5, 2.5});
  x.index_put_({longs({0, 0}), longs({1, 1})}, ebb::ones({2}, ebb::kDouble), true);
  CHECK(values(x) == Values{2.5, 4.5, 9, 8, 2.5, 2.5});
  x[0] = 1;
  x[1] = ebb::zeros({2}, ebb::kDouble);
  x[2][1] = count({});
  x.index({2, Slice(0, 1)}) = 5;
  CHECK(values(x) == Values{1, 1, 0, 0, 5, 0});
  x.t().index_put_({longs({1}), longs({0, 2})}, count({1, 2}).add(3));
  CHECK(values(x) == Values{1, 3, 0, 0, 5, 4});
  x.index_put_({"..."}, 0);
  x.index_put_({false}, 3);
  CHECK(values(x) == Values{0, 0, 0, 0, 0, 0});
  CHECK(x._version() > 8);
}

TEST_CASE("indexing and index_put_ have the right gradients") {
  const Variable x = ramp({3, 4, 2}), rows = longs({2, 0}), columns = longs({1, 3});
  check_gradients([](const Variable& t) { return t.index({longs({2, 2, 0})}).pow(3); }, {x});
  check_gradients([&](const Variable& t) { return t.index({rows, Slice(), longs({1, 0})}).pow(3); }, {x});
  check_gradients([&](const Variable& t) { return t.permute({2, 1, 0}).index({"...", rows}).pow(3); }, {x});
  check_gradients([](const Variable& t) { return t.index({bools({1, 0, 1}, {3}), 1}).pow(3); }, {x});
  check_gradients(
      [&](const Variable& t, const Variable& v) { return t.index_put({rows, columns}, v).pow(3); },
      {x, ramp({2}, 1)});
  check_gradients(
      [&](const Variable& t, const Variable& v) { return t.index_put({longs({0, 0})}, v, true).pow(3); },
      {x, ramp({4, 2}, 1)});
  check_gradients(
      [](const Variable& t, const Variable& v) {
        Variable y = t.mul(t);
        y.index_put_({Slice(1), 0}, v);
        y[0][0] = v.mul(2);
        return y;
      },
      {x, ramp({2}, 1)});
  check_gradients(
      [&](const Variable& t, const Variable& v) {
        Variable y = t.mul(t);
        y.select(2, 0).index_put_({rows, columns}, v);
        return y;
      },
      {x, ramp({}, 1)});
  check_gradients(
      [](const Variable& t) {
        Variable y = ebb::zeros({3, 2}, ebb::kDouble);
        y[1] = t.mul(t);
        y[2][0] = t[1];
        return y;
      },
      {ramp({2})});
}

TEST_CASE("index throws for invalid indices") {
  const Variable x = count({3, 4, 2});
  CHECK_THROWS_MATCHES(x.index({3}), ebb::IndexError,
                       support::Saying("index: index 3 is out of bounds for dimension 0 with size"));
  CHECK_THROWS_MATCHES(x.index({0, 0, 0, 0}), ebb::IndexError,
                       support::Saying("index: too many indices for tensor of dimension 3 (got 4"));
  CHECK_THROWS_WITH(x.index({longs({3})}),
                    support::Contains("index 3 is out of bounds for dimension 0 with size 3"));
  const auto names = [](const char* place) { return support::Contains(place); };
  CHECK_THROWS_WITH(x.index({0, 4}), names("index 4 is out of bounds for dimension 1 with size 4"));
  CHECK_THROWS_WITH(x.index({0, 0, 2}), names("index 2 is out of bounds for dimension 2 with size 2"));
  CHECK_THROWS_WITH(x.index({None, 3}), names("index 3 is out of bounds for dimension 0 with size 3"));
  CHECK_THROWS_WITH(x.index({true, 3}), names("index 3 is out of bounds for dimension 0 with size 3"));
  CHECK_THROWS_WITH(x.index({"...", -3}), names("index -3 is out of bounds for dimension 2 with size 2"));
  CHECK_THROWS_WITH(x.index({0, ebb::tensor(4)}),
                    names("index 4 is out of bounds for dimension 1 with size 4"));
  CHECK_THROWS_WITH(x.index({0, longs({4})}), names("index 4 is out of bounds for dimension 1 with size 4"));
  CHECK_THROWS_WITH(x.index({0, Slice(), longs({2})}),
                    names("index 2 is out of bounds for dimension 2 with size 2"));
  CHECK_THROWS_WITH(x.index({None, longs({0}), longs({4})}),
                    names("index 4 is out of bounds for dimension 1 with size 4"));
  CHECK_THROWS_WITH(x.clone().index_put_({0, longs({4})}, 1),
                    names("index 4 is out of bounds for dimension 1 with size 4"));
  CHECK_THROWS_MATCHES(x.index({Slice(), longs({-5})}), ebb::IndexError,
                       support::Saying("index: index -5 is out of bounds for dimension 1 with"));
  CHECK_THROWS_MATCHES(x.index({bools({1, 0}, {2})}), ebb::IndexError,
                       support::Saying("index: the shape of the mask [2] at index 0 does not"));
  CHECK_THROWS_MATCHES(x.index({ebb::ones({1})}), ebb::IndexError,
                       support::Saying("index: tensors used as indices must be long, int, byte or bool"));
  CHECK_THROWS_MATCHES(x.index({longs({0, 1}), longs({0, 1, 2})}), ebb::IndexError,
                       support::Saying("index: shape mismatch: indexing tensors could not be"));
  CHECK_THROWS_MATCHES(x.index({"...", 0, "..."}), ebb::IndexError,
                       support::Saying("index: an index can only have a single ellipsis (\"...\")"));
  CHECK_THROWS_WITH(x.index({"abc"}),
                    support::Contains("TensorIndex: expected \"...\" to represent an ellipsis"));
  const auto empty = support::Contains("empty index list");
  CHECK_THROWS_WITH(x.index({}), empty);
  CHECK_THROWS_WITH(x.clone().index_put_({}, 1), empty);
  CHECK_THROWS_WITH(x.index_put({}, x), empty);
  CHECK_THROWS_WITH(Slice(None, None, -1),
                    support::Contains("Slice: step must be greater than zero, got -1"));
  CHECK_THROWS_WITH(Slice(None, None, 0), support::Contains("Slice: step must be greater than zero, got 0"));
  CHECK_THROWS_WITH(count({})[0],
                    support::Contains("select: cannot be applied to a 0-dim tensor. Use item()"));
  CHECK_THROWS_WITH(x.clone().index_put_({longs({2, 0})}, count({3, 4, 2})),
                    support::Contains("index_put: shape mismatch: value tensor of shape [3, 4"));
  CHECK_THROWS_WITH(x.clone().index_put_({longs({2, 0})}, ebb::ones({4, 2}, ebb::kLong)),
                    support::Contains("index_put: requires the source and destination dtypes"));
  Variable leaf = count({3}).set_requires_grad(true);
  CHECK_THROWS_WITH(leaf.index_put_({0}, 1),
                    support::Contains("copy_: a view of a leaf Variable that requires grad is"));
  CHECK_THROWS_WITH(leaf.index_put_({longs({0})}, 1),
                    support::Contains("index_put_: a leaf Variable that requires grad is being"));
}
