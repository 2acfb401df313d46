// Joins and views of one tensor at their edges: empty parts, mixed dtypes, dimensions from behind, wide
// steps.
#include "check.h"

using namespace op_tests;

TEST_CASE("cat and stack promote to the dtype that holds all, in whatever order") {
  const Variable wide = ebb::ones({2}, ebb::kDouble), narrow = ebb::ones({2}), whole = longs({1, 2});
  for (const auto& list : {ebb::variable_list{wide, narrow, whole}, ebb::variable_list{whole, wide, narrow},
                           ebb::variable_list{narrow, whole, wide}}) {
    CHECK(ebb::cat(list).dtype() == ebb::kDouble);
    CHECK(ebb::stack(list).dtype() == ebb::kDouble);
  }
  CHECK(ebb::cat({narrow, whole}).dtype() == ebb::kFloat);
}

TEST_CASE("a tensor of shape {0} in a cat of matrices counts as nothing, also on the way back") {
  const Variable nothing = ebb::zeros({0}, ebb::kDouble).set_requires_grad(true);
  const Variable a = ramp({2, 3}).set_requires_grad(true), b = ramp({2, 1}).set_requires_grad(true);
  const Variable wide = ebb::cat({a, nothing, b}, 1), seed = ramp({2, 4}, 0.7);
  CHECK(shape(wide) == Shape{2, 4});
  wide.backward(seed);
  CHECK(values(a.grad()) == values(seed.slice(1, 0, 3)));
  CHECK(values(b.grad()) == values(seed.slice(1, 3, 4)));
  const Variable c = ramp({2, 3}).set_requires_grad(true), tall = ebb::cat({nothing, c, c}, 0);
  CHECK(shape(tall) == Shape{4, 3});
  tall.backward(ramp({4, 3}, 0.7));
  CHECK(values(c.grad()) == values(ramp({4, 3}, 0.7).slice(0, 0, 2) + ramp({4, 3}, 0.7).slice(0, 2, 4)));
}

TEST_CASE("diagonal refuses one dimension named twice, also from behind") {
  const Variable x = ramp({3, 3});
  CHECK_THROWS_WITH(ebb::diagonal(x, 0, 1, 1), support::Contains("identical"));
  CHECK_THROWS_WITH(ebb::diagonal(x, 0, 0, -2), support::Contains("identical"));
  CHECK_THROWS_WITH(ebb::diagonal(x, 0, -1, 1), support::Contains("identical"));
}

TEST_CASE("unfold has a second derivative at every step") {
  for (const std::int64_t step : {1, 2, 3}) {
    INFO("step " << step);
    check_gradients([step](const ebb::variable_list& in) { return in[0].unfold(0, 2, step).pow(3); },
                    {ramp({7})});
  }
}

TEST_CASE("pieces are joined row by row whatever their strides") {
  using ebb::Tensor;
  const Tensor x = ebb::arange(3 * 40 * 5).view({3, 40, 5}), y = -x;
  const auto check = [](const std::vector<Tensor>& pieces, std::int64_t dim) {
    const Tensor joined = ebb::cat(pieces, dim);
    std::int64_t begin = 0;
    for (const Tensor& piece : pieces) {
      CHECK(ebb::equal(joined.narrow(dim, begin, piece.size(dim)), piece));
      begin += piece.size(dim);
    }
    CHECK(joined.size(dim) == begin);
    CHECK(joined.is_contiguous());
  };
  check({x, y}, 1);
  check({x.narrow(1, 3, 30), y.narrow(1, 0, 1), y}, 1);           // rows with gaps between them
  check({x.slice(0, 0, 3, 2), y.slice(0, 1, 3)}, 1);              // every other row
  check({x, y.transpose(0, 1).contiguous().transpose(0, 1)}, 1);  // rows in another order
  check({x, y.transpose(1, 2).contiguous().transpose(1, 2)}, 1);  // rows in pieces
  check({x, ebb::zeros({1, 40, 5}, ebb::kLong).expand({3, 40, 5})}, 1);
  check({x, y, x}, 2);
  check({x.to(ebb::kByte), y.to(ebb::kByte)}, 2);
  for (const std::int64_t shift : {0, 1, 7, 39, 40, 41, -3}) {
    const Tensor rolled = x.roll({shift}, {1}), twice = x.roll({shift, 1}, {1, 2});
    for (std::int64_t i = 0; i < 40; ++i) {
      const std::int64_t to = ((i + shift) % 40 + 40) % 40;
      CHECK(ebb::equal(rolled.select(1, to), x.select(1, i)));
      CHECK(twice[1][to][1].item<std::int64_t>() == x[1][i][0].item<std::int64_t>());
    }
  }
}
