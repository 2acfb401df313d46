// gather, scatter, index_*, masks, embedding and embedding_bag.
#include <ebb/ebb.h>

#include "check.h"
#include "support/catch.h"

using namespace op_tests;

TEST_CASE("gather and scatter use the index along one dimension") {
  const Variable x = count({3, 4}), index = longs({0, 2, 1, 1, 1, 0}, {2, 3});
  CHECK(values(x.gather(1, index)) == Values{0, 2, 1, 5, 5, 4});
  CHECK(values(x.gather(0, index)) == Values{0, 9, 6, 4, 5, 2});
  CHECK(values(x.t().gather(0, index.t())) == Values{0, 5, 2, 5, 1, 4});
  CHECK(values(ebb::zeros({2, 3}).scatter(1, index, 5)) == Values{5, 5, 5, 5, 5, 0});
  CHECK(values(ebb::zeros({2, 3}, ebb::kDouble).scatter_add(1, index, count({2, 3}))) ==
        Values{0, 2, 1, 5, 7, 0});
  CHECK(values(ebb::ones({2, 3}, ebb::kDouble).scatter(1, index, count({2, 3}), "multiply")) ==
        Values{0, 2, 1, 5, 12, 1});
  CHECK(values(count({}).gather(0, longs({0, 0, 0}))) == Values{0, 0, 0});
  CHECK(x.gather(1, longs({}, {3, 0})).numel() == 0);
  CHECK_THROWS_MATCHES(x.gather(1, longs({4}, {1, 1})), ebb::IndexError,
                       support::Saying("gather: index 4 is out of bounds for dimension 1 with"));
  CHECK_THROWS_MATCHES(x.gather(1, longs({-1}, {1, 1})), ebb::IndexError,
                       support::Saying("gather: index -1 is out of bounds for dimension 1 with"));
  CHECK_THROWS_WITH(x.gather(1, longs({1})),
                    support::Contains("gather: index tensor must have the same number of"));
  CHECK_THROWS_WITH(x.gather(1, ebb::zeros({4, 1}, ebb::kLong)),
                    support::Contains("gather: size does not match at dimension 0: expected"));
  CHECK_THROWS_WITH(x.scatter(1, index, ebb::ones({2, 3})),
                    support::Contains("scatter: expected both tensors in one dtype, got Double"));
  check_gradients([&](const Variable& t) { return t.gather(1, index).pow(3); }, {ramp({3, 4})});
  check_gradients([&](const Variable& t, const Variable& s) { return t.scatter_add(1, index, s).pow(3); },
                  {ramp({3, 4}), ramp({3, 3}, 1)});
  const Variable distinct = longs({0, 2, 1, 1, 0, 2}, {2, 3});
  check_gradients([&](const Variable& t, const Variable& s) { return t.scatter(0, distinct, s).pow(3); },
                  {ramp({3, 3}), ramp({2, 3}, 1)});
  check_gradients([&](const Variable& t) { return t.scatter(1, index, 2.0).pow(3); }, {ramp({3, 4})});
}

TEST_CASE("gather and scatter accept Long and Int indices and any dtype for an empty index") {
  const Variable x = count({3, 4}), source = count({2, 3});
  for (const ebb::DType dtype : {ebb::kByte, ebb::kBool, ebb::kShort, ebb::kFloat}) {
    INFO(ebb::to_string(dtype));
    const Variable none = ebb::zeros({2, 0}, dtype), some = ebb::zeros({2, 3}, dtype);
    CHECK(shape(x.gather(1, none)) == Shape{2, 0});
    CHECK(values(x.scatter(1, none, 5)) == values(x));
    CHECK(values(x.clone().scatter_(1, none, source)) == values(x));
    CHECK(values(x.scatter_add(1, none, source)) == values(x));
    CHECK(values(x.clone().scatter_reduce_(1, none, source, "amax")) == values(x));
    CHECK_THROWS_WITH(x.gather(1, some), support::Contains("gather: expected dtype Long"));
    CHECK_THROWS_WITH(x.scatter_add(1, some, source), support::Contains("scatter_add: expected dtype Long"));
    Variable t = x.clone().set_requires_grad(true);
    t.gather(1, none).sum().backward();
    CHECK(values(t.grad()) == Values(12, 0.0));
  }
}

TEST_CASE("scatter_reduce with prod has exact derivatives at several zeros") {
  // Zeros: self and one source, two sources, three sources, and a single one.
  const Variable index = longs({0, 1, 1, 2, 2, 2, 3});
  const Variable x = ebb::tensor({0.0, 2.0, 1.5, 0.5}, ebb::kDouble);
  const Variable s = ebb::tensor({0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, ebb::kDouble);
  for (const bool include : {true, false}) {
    INFO(include);
    const auto f = [&](const Variable& t, const Variable& u) {
      return t.scatter_reduce(0, index, u, "prod", include);
    };
    check_gradients(f, {x, s});
    // At three zeros, only the third derivative of a product of three factors is not zero.
    const Variable u = s.clone().set_requires_grad(true);
    Variable d = f(x, u)[2];
    for (const std::int64_t i : {3, 4, 5}) d = ebb::autograd::grad({d}, {u}, {}, true, true)[0][i];
    CHECK(d.item<double>() == (include ? 1.5 : 1));
  }
}

TEST_CASE(
    "scatter_reduce amax and amin share the gradient among ties, and with self if include_self is true") {
  const Variable index = longs({0, 0, 1, 2});
  for (const bool most : {true, false})
    for (const bool include : {true, false}) {
      INFO((most ? "amax" : "amin") << ", include_self " << include);
      const double sign = most ? 1 : -1;
      // Element 0 ties with both sources, element 1 with one, element 2 is beyond its source, element 3 has
      // none.
      const Variable x = ebb::tensor({5.0, 2.0, 9.0, 4.0}, ebb::kDouble) * sign;
      const Variable s = ebb::tensor({5.0, 5.0, 2.0, 1.0}, ebb::kDouble) * sign;
      const Variable x_leaf = x.detach().set_requires_grad(true), s_leaf = s.detach().set_requires_grad(true);
      x_leaf.scatter_reduce(0, index, s_leaf, most ? "amax" : "amin", include)
          .backward(ebb::tensor({6.0, 8.0, 3.0, 1.0}, ebb::kDouble));
      CHECK(values(s_leaf.grad()) == (include ? Values{2, 2, 4, 0} : Values{3, 3, 8, 3}));
      CHECK(values(x_leaf.grad()) == (include ? Values{2, 4, 3, 1} : Values{0, 0, 0, 1}));
    }
}

TEST_CASE("scatter_reduce has the right result for every reduction and include_self") {
  const Variable index = longs({0, 1, 0, 1, 2}), src = ramp({5}, 1);
  for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"})
    for (const bool include : {true, false}) {
      INFO(reduce << include);
      check_gradients(
          [&](const Variable& t, const Variable& s) {
            return t.scatter_reduce(0, index, s, reduce, include).pow(2);
          },
          {ramp({4}), src});
    }
  const Variable x = count({3});
  CHECK(values(x.scatter_reduce(0, longs({0, 0, 2}), count({3}).add(1), "mean", false)) == Values{1.5, 1, 3});
  CHECK(values(x.scatter_reduce(0, longs({0, 0, 2}), count({3}).add(1), "amax")) == Values{2, 1, 3});
  CHECK(values(x.scatter_reduce(0, longs({0, 0, 2}), count({3}).add(1), "prod", false)) == Values{2, 1, 3});
  // The derivative for a single zero is the product of the others; with two zeros, all derivatives are 0.
  Variable s = ebb::tensor({0.0, 3.0, 0.0, 0.0}, ebb::kDouble).set_requires_grad(true);
  ebb::ones({2}, ebb::kDouble).scatter_reduce(0, longs({0, 0, 1, 1}), s, "prod").sum().backward();
  CHECK(values(s.grad()) == Values{3, 0, 0, 0});
  CHECK_THROWS_WITH(x.scatter_reduce(0, longs({0}), count({1}), "median"),
                    support::Contains("scatter_reduce: reduce argument must be either sum, prod"));
}

TEST_CASE("integer sums and products of scatter_reduce wrap as in torch") {
  using namespace ebb;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Variable x = tensor({most}), place = zeros({1}, kInt64);
  CHECK(x.scatter_add(0, place, ones({1}, kInt64)).item<std::int64_t>() == -most - 1);
  CHECK(x.scatter(0, place, tensor({3}), "multiply").item<std::int64_t>() == most - 2);
  CHECK(x.index_add(0, place, ones({1}, kInt64)).item<std::int64_t>() == -most - 1);
  CHECK(x.put(place, ones({1}, kInt64), true).item<std::int64_t>() == -most - 1);
  CHECK(index_put(x, {place}, ones({1}, kInt64), true).item<std::int64_t>() == -most - 1);
}

TEST_CASE("index_select, index_add, index_copy and index_fill select slices by index") {
  const Variable x = count({3, 4}), rows = longs({2, 0, 2});
  CHECK(values(x.index_select(0, rows)) == Values{8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11});
  CHECK(values(x.index_select(1, rows)) == Values{2, 0, 2, 6, 4, 6, 10, 8, 10});
  CHECK(values(x.index_select(0, ebb::to(rows, ebb::kInt))) == values(x.index_select(0, rows)));
  CHECK(values(x.t().index_select(0, longs({1}))) == Values{1, 5, 9});
  const Variable zeros = ebb::zeros({3, 2}, ebb::kDouble);
  CHECK(values(zeros.index_add(0, rows, count({3, 2}))) == Values{2, 3, 0, 0, 4, 6});
  CHECK(values(zeros.index_add(0, rows, count({3, 2}), 0.5)) == Values{1, 1.5, 0, 0, 2, 3});
  CHECK(values(zeros.index_copy(0, longs({2, 0}), count({2, 2}))) == Values{2, 3, 0, 0, 0, 1});
  CHECK(values(zeros.index_fill(1, longs({-1}), 4)) == Values{0, 4, 0, 4, 0, 4});
  CHECK_THROWS_MATCHES(x.index_select(0, longs({3})), ebb::IndexError,
                       support::Saying("index_select: index 3 is out of bounds for dimension 0"));
  CHECK_THROWS_MATCHES(x.index_select(0, longs({-1})), ebb::IndexError,
                       support::Saying("index_select: index -1 is out of bounds for dimension 0"));
  CHECK_THROWS_WITH(x.index_select(0, longs({0}, {1, 1})),
                    support::Contains("index_select: index is supposed to be a vector, got shape"));
  CHECK_THROWS_WITH(x.index_add(0, rows, count({2, 4})),
                    support::Contains("index_add: number of indices (3) should be equal to the"));
  CHECK_THROWS_WITH(
      x.index_add(0, rows, count({3, 5})),
      support::Contains("index_add: source and self must have the same sizes except in dimension 0"));
  check_gradients([&](const Variable& t) { return t.index_select(0, rows).pow(3); }, {ramp({3, 4})});
  check_gradients([&](const Variable& t, const Variable& s) { return t.index_add(1, rows, s, 0.5).pow(3); },
                  {ramp({2, 4}), ramp({2, 3}, 1)});
  check_gradients(
      [&](const Variable& t, const Variable& s) { return t.index_copy(0, longs({2, 0}), s).pow(3); },
      {ramp({3, 2}), ramp({2, 2}, 1)});
  check_gradients([&](const Variable& t, const Variable& v) { return t.index_fill(0, rows, v).pow(3); },
                  {ramp({3, 2}), ramp({})});
  check_gradients([&](const Variable& t) { return t.mul(1).index_fill_(0, rows, 2).pow(3); }, {ramp({3, 2})});
  check_gradients(
      [&](const Variable& t, const Variable& s) { return t.mul(1).index_add_(0, rows, s).pow(3); },
      {ramp({3, 2}), ramp({3, 2}, 1)});
}

TEST_CASE("masked_fill, masked_select and masked_scatter use the elements where the mask is true") {
  const Variable x = count({2, 3}), mask = bools({1, 0, 1}, {3});
  CHECK(values(x.masked_fill(mask, -1)) == Values{-1, 1, -1, -1, 4, -1});
  CHECK(values(x.t().masked_fill(mask.unsqueeze(1), -1)) == Values{-1, -1, 1, 4, -1, -1});
  CHECK(values(x.masked_select(mask)) == Values{0, 2, 3, 5});
  CHECK(values(x.t().masked_select(mask.unsqueeze(1))) == Values{0, 3, 2, 5});
  CHECK(values(x.masked_scatter(mask, count({9}).add(10))) == Values{10, 1, 11, 12, 4, 13});
  CHECK(shape(count({}).masked_fill(bools({1, 0}, {2}), 3)) == Shape{2});
  CHECK_THROWS_WITH(x.masked_fill(count({3}), 1),
                    support::Contains("masked_fill: only supports boolean masks, but got mask"));
  CHECK_THROWS_WITH(x.masked_scatter(mask, count({2})),
                    support::Contains("masked_scatter: number of elements of source (2) < number"));
  CHECK_THROWS_WITH(count({1, 3}).masked_fill_(bools({1, 1}, {2, 1}), 1),
                    support::Contains("masked_fill_: the mask of shape [2, 1] does not broadcast"));
  CHECK(values(ebb::nonzero(x.gt(3))) == Values{1, 1, 1, 2});
  CHECK(shape(ebb::nonzero(count({}))) == Shape{0, 0});
  CHECK(shape(ebb::nonzero(ebb::ones({}))) == Shape{1, 0});
  CHECK(values(ebb::where(x.gt(3))[1]) == Values{1, 2});
  check_gradients([&](const Variable& t, const Variable& v) { return t.masked_fill(mask, v).pow(3); },
                  {ramp({2, 3}), ramp({})});
  check_gradients([&](const Variable& t) { return t.mul(1).masked_fill_(mask, 2).pow(3); }, {ramp({2, 3})});
  check_gradients([&](const Variable& t) { return t.masked_select(mask).pow(3); }, {ramp({2, 3})});
  check_gradients([&](const Variable& t, const Variable& s) { return t.masked_scatter(mask, s).pow(3); },
                  {ramp({2, 3}), ramp({5}, 1)});
}

TEST_CASE("take and put use indices of the flattened tensor") {
  const Variable x = count({2, 3});
  CHECK(values(x.take(longs({0, 5, -1}))) == Values{0, 5, 5});
  CHECK(values(x.t().take(longs({1}))) == Values{3});
  CHECK(values(x.put(longs({1, 1}), count({2}).add(1), true)) == Values{0, 4, 2, 3, 4, 5});
  Variable y = count({2, 3}).t();
  y.put_(longs({1}), ebb::full({1}, 9.0, ebb::kDouble));
  CHECK(values(y) == Values{0, 9, 1, 4, 2, 5});
  CHECK_THROWS_MATCHES(x.take(longs({6})), ebb::IndexError,
                       support::Saying("take: index 6 is out of bounds for dimension 0 with size"));
  CHECK(values(x.take_along_dim(longs({2, 0}, {1, 2}), 1)) == Values{2, 0, 5, 3});
  check_gradients([](const Variable& t) { return t.take(longs({0, 5, 5, -2})).pow(3); }, {ramp({2, 3})});
  check_gradients([](const Variable& t, const Variable& s) { return t.put(longs({1, 1}), s, true).pow(3); },
                  {ramp({2, 3}), ramp({2}, 1)});
  check_gradients([](const Variable& t, const Variable& s) { return t.put(longs({1, 4}), s).pow(3); },
                  {ramp({2, 3}), ramp({2}, 1)});
}

TEST_CASE("embedding returns rows of a table by index, and one_hot returns indicator vectors of classes") {
  const Variable table = count({3, 2}), which = longs({2, 0, 2, 2}, {2, 2});
  CHECK(values(ebb::embedding(table, which)) == Values{4, 5, 0, 1, 4, 5, 4, 5});
  CHECK(shape(ebb::embedding(table, which)) == Shape{2, 2, 2});
  CHECK(shape(ebb::embedding(table, longs({1}, {}))) == Shape{2});
  CHECK_THROWS_MATCHES(ebb::embedding(table, longs({3})), ebb::IndexError,
                       support::Saying("embedding: index 3 is out of bounds for dimension 0 with"));
  Variable w = count({3, 2}).set_requires_grad(true);
  ebb::embedding(w, which, 0, true).sum().backward();
  CHECK(values(w.grad()) == Values{0, 0, 0, 0, 1, 1});
  for (const std::int64_t padding : {-1, 0})
    for (const bool scaled : {false, true}) {
      // The padding row has no gradient by definition, so finite differences avoid it.
      const Variable used = padding < 0 ? which : longs({2, 1, 2, 2});
      check_gradients([&](const Variable& t) { return ebb::embedding(t, used, padding, false).pow(3); },
                      {ramp({3, 2})});
      check_gradients(
          [&](const Variable& g) {
            return ebb::embedding_dense_backward(g, used, 3, padding, scaled).pow(3);
          },
          {ramp({4, 2}).view(used.dim() == 2 ? Shape{2, 2, 2} : Shape{4, 2})});
    }
  CHECK(values(ebb::one_hot(longs({1, 0}))) == Values{0, 1, 1, 0});
  CHECK(shape(ebb::one_hot(longs({1, 0}), 5)) == Shape{2, 5});
  CHECK_THROWS_WITH(ebb::one_hot(longs({5}), 5),
                    support::Contains("one_hot: class values must be smaller than num_classes"));
  CHECK_THROWS_WITH(ebb::one_hot(longs({-1})),
                    support::Contains("one_hot: class values must be non-negative, got -1"));
}

TEST_CASE("sums over duplicate indices do not depend on the number of threads") {
  const std::int64_t n = 60000;
  Variable index = longs(std::vector<std::int64_t>(static_cast<std::size_t>(n)));
  for (std::int64_t i = 0; i < n; ++i) index.data_ptr<std::int64_t>()[i] = (i * i + 3 * i) % 101;
  const Variable rows = ramp({n, 16}), wide = index.unsqueeze(1).expand({n, 16});
  const int threads = ebb::get_num_threads();
  std::vector<Values> added, scattered, embedded;
  for (const int t : {1, 2}) {
    ebb::set_num_threads(t);
    added.push_back(values(ebb::zeros({101, 16}, ebb::kDouble).index_add(0, index, rows)));
    scattered.push_back(values(ebb::zeros({101, 16}, ebb::kDouble).scatter_add(0, wide, rows)));
    embedded.push_back(values(ebb::embedding_dense_backward(rows, index, 101, -1, false)));
  }
  ebb::set_num_threads(threads);
  CHECK(added[0] == added[1]);
  CHECK(scattered[0] == scattered[1]);
  CHECK(embedded[0] == embedded[1]);
  CHECK(added[0] == scattered[0]);
  CHECK(added[0] == embedded[0]);
}

TEST_CASE("backward throws if the index was modified after the forward pass") {
  Variable x = count({3, 2}).set_requires_grad(true), index = longs({0, 1});
  const Variable y = x.index_select(0, index).sum();
  index.fill_(2);
  CHECK_THROWS_WITH(y.backward(),
                    support::Contains("one of the variables needed for gradient computation has"));
}

// embedding_bag: results and gradients of torch 2.15.

using namespace ebb;

namespace {

const TensorOptions kNumbers(kDouble);

Tensor table() {
  return tensor({1.0, -2.0, 3.0, 5.0, -4.0, 0.5, 2.0, 2.0, 3.0, -1.0}, kNumbers)
      .view({5, 2})
      .requires_grad_();
}
Tensor indices() { return tensor({1, 4, 0, 3, 3, 1, 2}, kLong); }

/// Returns the gradient of the sum of the results, each weighted by its position.
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

TEST_CASE("embedding_bag has the values and gradients of torch") {
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

TEST_CASE("embedding_bag accepts per_sample_weights, include_last_offset and scale_grad_by_freq") {
  const Tensor weight = table();
  const Tensor factors = tensor({0.5, 1.0, 2.0, -1.0, 1.0, 3.0, 1.0}, kNumbers);
  const Tensor bags =
      std::get<0>(embedding_bag(weight, indices(), tensor({0, 2, 7}, kLong), true, 0, false, factors, true));
  CHECK(allclose(bags, tensor({4.5, 1.5, 7.0, 11.5}, kNumbers).view({2, 2})));
  CHECK(allclose(slope(bags, weight),
                 tensor({6.0, 8.0, 4.75, 6.5, 3.0, 4.0, 0.0, 0.0, 1.0, 2.0}, kNumbers).view({5, 2})));
}

TEST_CASE("embedding_bag of a matrix of indices uses its rows as bags and ignores include_last_offset") {
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

TEST_CASE("a bag of only padding indices is zero and has zero gradients in every mode of embedding_bag") {
  for (const std::int64_t mode : {0, 1, 2}) {
    INFO("mode " << mode);
    const Tensor weight = table();  // in row 3 only one element is positive
    const Tensor bags =
        std::get<0>(embedding_bag(weight, tensor({3, 3, 1, 3}, kLong), tensor({0, 2, 3}, kLong), false, mode,
                                  false, nullopt, false, 3));
    CHECK(equal(bags, stack({zeros({2}, kNumbers), weight.detach()[1], zeros({2}, kNumbers)})));
    bags.pow(2).sum().backward();
    CHECK(equal(weight.grad()[3], zeros({2}, kNumbers)));
    CHECK(equal(weight.grad()[1], weight.detach()[1] * 2));
  }
}

TEST_CASE("embedding_bag has correct second derivatives") {
  // The values are distinct, because a maximum has a kink at ties.
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

TEST_CASE("the memory of embedding_bag is proportional to the number of indices") {
  // A dense matrix of bags by indices would need 40 GB.
  const std::int64_t n = 100000;
  const Tensor weight = ones({10, 2}), index = arange(n, kLong).remainder(10);
  const Tensor offsets = arange(n, kLong);
  CHECK(std::get<0>(embedding_bag(weight, index, offsets, false, 2)).sum().item<double>() == 2.0 * n);
}

TEST_CASE("embedding_bag throws for offsets and weights that do not fit") {
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
