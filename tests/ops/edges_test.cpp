// Making, filling and copying at the edges of what they take.
#include <ebb/ebb.h>

#include <catch2/catch.hpp>

using namespace ebb;
using Catch::Matchers::Contains;

TEST_CASE("a copy into integers is part of no graph") {
  const Variable x = ebb::ones({2}).requires_grad_(), whole = ebb::zeros({2}, kLong);
  whole.copy_(x * 3);
  CHECK_FALSE(whole.grad_fn());
  CHECK(whole.eq(3).all().item<bool>());
}

TEST_CASE("only a tensor without dimensions fills, and numbers must fit") {
  const Variable x = ebb::zeros({2});
  CHECK_THROWS_WITH(x.fill_(ebb::ones({1})), Contains("only a 0-dimensional value tensor"));
  CHECK_THROWS_WITH(ebb::full({1}, -200, kChar), Contains("without overflow"));
  CHECK(ebb::full({1}, -128, kChar).item<int>() == -128);
}

TEST_CASE("what is like an expanded tensor has the order of its true strides") {
  const Variable rows = ebb::ones({3}).expand({2, 3});
  CHECK(ebb::empty_like(rows).strides() == IntArrayRef({3, 1}));
  const Variable between = ebb::ones({4, 2}).t().unsqueeze(1).expand({2, 3, 4});
  CHECK(ebb::empty_like(between).strides() == IntArrayRef({1, 2, 6}));
}

TEST_CASE("from_blob spans what its strides reach, and nothing needs no address") {
  float numbers[6] = {};
  const Variable x = ebb::from_blob(numbers, {2, 2}, {3, 2});
  CHECK(x.array().storage()->bytes() == 6 * sizeof(float));
  CHECK(ebb::from_blob(nullptr, {0, 3}).numel() == 0);
}

TEST_CASE("indices of triangles begin at the first column") {
  CHECK(ebb::triu_indices(3, 3, -2).sizes() == IntArrayRef({2, 9}));
  CHECK(ebb::triu_indices(3, 3, -2).min().item<int>() == 0);
}
