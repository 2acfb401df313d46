// Bags of rows of a table: results and gradients of torch 2.15.
#include <ebb/ebb.h>

#include "support/catch.h"

using namespace ebb;

namespace {

const TensorOptions kNumbers(kDouble);

Tensor table() {
  return tensor({1.0, -2.0, 3.0, 5.0, -4.0, 0.5, 2.0, 2.0, 3.0, -1.0}, kNumbers)
      .view({5, 2})
      .requires_grad_();
}
Tensor indices() { return tensor({1, 4, 0, 3, 3, 1, 2}, kLong); }

/// The gradient of the sum of the bags' numbers, each times its place.
Tensor slope(const Tensor& bags, const Tensor& weight) {
  const Tensor places = arange(1, static_cast<double>(bags.numel()) + 1, kNumbers).view(bags.sizes());
  return autograd::grad({(bags * places).sum()}, {weight})[0];
}

struct Case {
  std::int64_t mode;
  optional<std::int64_t> padding;
  std::vector<double> bags, slope;
};

}  // namespace

TEST_CASE("bags of rows have torch's values and gradients") {
  const Case wanted =
      GENERATE(Case{0, 4, {4, 3, 0, 0, 4, 4, -1, 5.5}, {1, 2, 8, 10, 7, 8, 10, 12, 0, 0}},
               Case{0, 3, {7, 2, 0, 0, 0, 0, -1, 5.5}, {1, 2, 8, 10, 7, 8, 0, 0, 1, 2}},
               Case{1, -1, {2, 1.5, 0, 0, 2, 2, -0.5, 2.75}, {0.5, 1, 4, 5, 3.5, 4, 5, 6, 0, 0}},
               Case{1,
                    3,
                    {7.0 / 3, 2.0 / 3, 0, 0, 0, 0, -0.5, 2.75},
                    {1.0 / 3, 2.0 / 3, 23.0 / 6, 14.0 / 3, 3.5, 4, 0, 0, 1.0 / 3, 2.0 / 3}},
               Case{2, 4, {3, 5, 0, 0, 2, 2, 3, 5}, {0, 0, 8, 10, 0, 0, 5, 6, 0, 0}},
               Case{2, 3, {3, 5, 0, 0, 0, 0, 3, 5}, {0, 0, 8, 10, 0, 0, 0, 0, 0, 0}});
  const Tensor weight = table();
  const auto [bags, bag, sizes, largest] =
      embedding_bag(weight, indices(), tensor({0, 3, 3, 5}, kLong), false, wanted.mode, false, nullopt, false,
                    wanted.padding);
  CHECK(allclose(bags, tensor(wanted.bags, kNumbers).view({4, 2})));
  CHECK(allclose(slope(bags, weight), tensor(wanted.slope, kNumbers).view({5, 2})));
  CHECK(equal(bag, tensor({0, 0, 0, 2, 2, 3, 3}, kLong)));
  if (wanted.padding == 3) CHECK(equal(sizes, tensor({3, 0, 0, 2}, kLong)));
  if (wanted.mode == 2 && wanted.padding == 3)
    CHECK(equal(largest, tensor({1, 1, 0, 0, 0, 0, 1, 1}, kLong).view({4, 2})));
}

TEST_CASE("bags of rows with factors, a last offset and gradients by frequency") {
  const Tensor weight = table();
  const Tensor factors = tensor({0.5, 1.0, 2.0, -1.0, 1.0, 3.0, 1.0}, kNumbers);
  const Tensor bags =
      std::get<0>(embedding_bag(weight, indices(), tensor({0, 2, 7}, kLong), true, 0, false, factors, true));
  CHECK(allclose(bags, tensor({4.5, 1.5, 7.0, 11.5}, kNumbers).view({2, 2})));
  CHECK(allclose(slope(bags, weight),
                 tensor({6.0, 8.0, 4.75, 6.5, 3.0, 4.0, 0.0, 0.0, 1.0, 2.0}, kNumbers).view({5, 2})));
}

TEST_CASE("the rows of a matrix are its bags, whatever is said of a last offset") {
  namespace F = nn::functional;
  const Tensor weight = table(), matrix = tensor({1, 4, 0, 3, 3, 2}, kLong).view({3, 2});
  for (const bool last : {false, true}) {
    const Tensor bags =
        F::embedding_bag(matrix, weight, F::EmbeddingBagFuncOptions().mode(kSum).include_last_offset(last));
    CHECK(equal(bags, weight.index_select(0, matrix.flatten()).view({3, 2, 2}).sum(1)));
    nn::EmbeddingBag module(
        nn::EmbeddingBagOptions(5, 2).mode(kMax).include_last_offset(last)._weight(weight));
    CHECK(equal(module->forward(matrix), weight.index_select(0, matrix.flatten()).view({3, 2, 2}).amax(1)));
  }
}

TEST_CASE("a bag of nothing but padding is zero in every mode, and gives the padding no gradient") {
  for (const std::int64_t mode : {0, 1, 2}) {
    INFO("mode " << mode);
    const Tensor weight = table();  // of all columns of row 3 one number is above 0
    const Tensor bags =
        std::get<0>(embedding_bag(weight, tensor({3, 3, 1, 3}, kLong), tensor({0, 2, 3}, kLong), false, mode,
                                  false, nullopt, false, 3));
    CHECK(equal(bags, stack({zeros({2}, kNumbers), weight.detach()[1], zeros({2}, kNumbers)})));
    bags.pow(2).sum().backward();
    CHECK(equal(weight.grad()[3], zeros({2}, kNumbers)));
    CHECK(equal(weight.grad()[1], weight.detach()[1] * 2));
  }
}

TEST_CASE("bags of rows have second derivatives") {
  // Without equal numbers, between which a maximum has a kink.
  const Tensor weight = (table() + arange(10, kNumbers).view({5, 2}) / 8).detach().requires_grad_();
  const Tensor factors = tensor({0.5, 1.0, 2.0, -1.0, 1.0, 3.0, 1.0}, kNumbers);
  const auto mode = GENERATE(0, 1, 2);
  const auto bags = [mode](const autograd::variable_list& x) -> autograd::variable_list {
    const optional<Tensor> by = mode == 0 ? optional<Tensor>(x[1]) : nullopt;
    return {std::get<0>(embedding_bag(x[0], indices(), tensor({0, 3, 3, 5}, kLong), false, mode, false, by))
                .pow(2)};
  };
  CHECK(gradgradcheck(bags, {weight, factors.clone().requires_grad_(mode == 0)}));
}

TEST_CASE("bags of many rows take the memory of their rows") {
  // As a matrix of bags by indices this would be 40 GB.
  const std::int64_t n = 100000;
  const Tensor weight = ones({10, 2}), index = arange(n, kLong).remainder(10);
  const Tensor offsets = arange(n, kLong);
  CHECK(std::get<0>(embedding_bag(weight, index, offsets, false, 2)).sum().item<double>() == 2.0 * n);
}

TEST_CASE("bags of rows that do not fit are refused") {
  const Tensor weight = ones({5, 2}), index = indices();
  CHECK_THROWS_WITH(embedding_bag(weight, index, tensor({1, 2}, kLong)),
                    support::Contains("offsets[0] has to be 0"));
  CHECK_THROWS_WITH(embedding_bag(weight, index, tensor({0, 9}, kLong)),
                    support::Contains("can not be greater than the number of indices, 7, got 9"));
  CHECK_THROWS_WITH(embedding_bag(weight, index, tensor({0}, kLong), false, 1, false, ones(7)),
                    support::Contains("per_sample_weights"));
  CHECK_THROWS_WITH(embedding_bag(weight, index.view({1, 7}), tensor({0}, kLong)),
                    support::Contains("one dimension"));
  CHECK_THROWS_WITH(embedding_bag(weight, index, tensor({0}, kLong), false, 3), support::Contains("mode"));
}
