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
  CHECK_THROWS_WITH(ebb::diagonal(x, 0, 1, 1), Catch::Contains("identical"));
  CHECK_THROWS_WITH(ebb::diagonal(x, 0, 0, -2), Catch::Contains("identical"));
  CHECK_THROWS_WITH(ebb::diagonal(x, 0, -1, 1), Catch::Contains("identical"));
}

TEST_CASE("unfold has a second derivative at every step") {
  for (const std::int64_t step : {1, 2, 3}) {
    INFO("step " << step);
    check_gradients([step](const ebb::variable_list& in) { return in[0].unfold(0, 2, step).pow(3); },
                    {ramp({7})});
  }
}
