// Calls at the edge of what an op takes, with what PyTorch 2.15 gives for them.
#include "check.h"

using namespace op_tests;
using ebb::kBFloat16;
using ebb::kInt;
using ebb::kLong;

namespace {

bool same(const Variable& a, const Variable& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && ebb::equal(a, b);
}

}  // namespace

TEST_CASE("losses pass no gradient at their margin") {
  const Variable x = ebb::ones({2, 1}, ebb::kDouble).set_requires_grad(true),
                 y = ebb::zeros({2, 1}, ebb::kDouble);
  const Variable minus = -ebb::ones({2, 1}, ebb::kDouble), one = ebb::ones({1}, ebb::kDouble);
  const Variable losses[] = {ebb::hinge_embedding_loss(x, minus, 1),
                             ebb::margin_ranking_loss(x, y, -minus, 1),
                             ebb::triplet_margin_loss(x, x.detach(), y, 1, 1, 0),
                             ebb::cosine_embedding_loss(x, x, minus.view({2}), 1),
                             ebb::multi_margin_loss(ebb::cat({x, y}, 1), ebb::zeros({2}, kLong))};
  for (const Variable& loss : losses) CHECK_FALSE(ebb::autograd::grad({loss}, {x})[0].any().item<bool>());
}

TEST_CASE("linear takes a weight of one dimension and inputs without features") {
  const Variable x = count({2, 2}), w = count({2});
  CHECK(same(ebb::linear(x, w), ebb::mv(x, w)));
  CHECK(same(ebb::linear(w, w, ebb::ones({}, ebb::kDouble)), ebb::full({}, 2.0, ebb::kDouble)));
  CHECK_THROWS_WITH(ebb::linear(x, w, ebb::ones({}, ebb::kDouble)),
                    support::Contains("linear: with a weight of one"));
  const Variable bias = count({3});
  CHECK(same(ebb::linear(ebb::ones({2, 4, 0}, ebb::kDouble), ebb::ones({3, 0}, ebb::kDouble), bias),
             bias.expand({2, 4, 3})));
}

TEST_CASE("indices are Int or Long, and those of take_along_dim count from the end, too") {
  const Variable x = count({3, 2}), index = ebb::tensor({2, 0}).view({1, 2}), narrow = index.to(kInt);
  CHECK(same(ebb::gather(x, 0, narrow), ebb::gather(x, 0, index)));
  CHECK(same(ebb::scatter(x, 0, narrow, x), ebb::scatter(x, 0, index, x)));
  CHECK(same(ebb::scatter_add(x, 0, narrow, x), ebb::scatter_add(x, 0, index, x)));
  CHECK(same(x.index({narrow.view({2})}), x.index({index.view({2})})));
  CHECK(same(ebb::take_along_dim(x, index - 3, 0), ebb::gather(x, 0, ebb::tensor({2, 0}).view({1, 2}))));
  CHECK_THROWS_AS(ebb::take_along_dim(x, index - 4, 0), ebb::IndexError);
}

TEST_CASE("results that have no slope do not refuse one") {
  const Variable A = (count({2, 2}) + ebb::eye(2, ebb::kDouble)).set_requires_grad(true);
  const auto [sign, logarithm] = ebb::slogdet(A);
  CHECK_FALSE(ebb::autograd::grad({sign.sum()}, {A})[0].any().item<bool>());
  const auto statistics = [](const Variable& x) {
    const auto [y, mean, rstd] = ebb::native_group_norm(x, {}, {}, 2, 2, 3, 1, 1e-5);
    return ebb::cat({y.flatten(), mean.flatten(), rstd.flatten()});
  };
  CHECK(ebb::gradcheck(statistics, {count({2, 2, 3}).square().set_requires_grad(true)}));
}

TEST_CASE("tensors without dimensions or elements") {
  const Variable none = ebb::zeros({0}, ebb::kDouble), number = ebb::ones({}, ebb::kDouble),
                 zero = ebb::zeros({}, kLong);
  CHECK(ebb::batch_norm(none, {}, {}, {}, {}, true, 0.1, 1e-5, false).sizes() == ebb::IntArrayRef({0}));
  CHECK(same(number.mT(), number));
  CHECK(same(number.mH(), number));
  CHECK(same(number.adjoint(), number));
  CHECK(same(ebb::pad(count({1, 4}), {-5, 6}, "replicate"), ebb::full({1, 5}, 3.0, ebb::kDouble)));
  CHECK(same(ebb::pad(count({1, 4}), {2, -4}, "replicate"), ebb::zeros({1, 2}, ebb::kDouble)));
  CHECK(same(ebb::cat({none, none}, 3), none));
  CHECK(same(ebb::linalg::vander(number, 2), ebb::ones({1, 2}, ebb::kDouble)));
  CHECK(ebb::vander(none).sizes() == ebb::IntArrayRef({0, 0}));
  CHECK(same(ebb::multi_margin_loss(number, zero), ebb::zeros({}, ebb::kDouble)));
  CHECK(same(ebb::multilabel_margin_loss(number, zero), ebb::zeros({}, ebb::kDouble)));
  CHECK(ebb::multi_margin_loss(ebb::zeros({0, 3}), ebb::zeros({0}, kLong), 1, 1, {}, ebb::Reduction::None)
            .numel() == 0);
  CHECK(same(ebb::segment_reduce(count({4}), "sum", ebb::tensor({1, 2}), {}, {}, 0, true),
             ebb::tensor({0.0, 3.0}).to(ebb::kDouble)));
  CHECK(
      same(ebb::segment_reduce(count({2, 3}), "max", {}, {}, ebb::tensor({1, 2, 3, 0, 1, 3}).view({2, 3}), 1),
           ebb::tensor({1.0, 2.0, 3.0, 5.0}).to(ebb::kDouble).view({2, 2})));
}

TEST_CASE("convolutions and max pooling of integers are those of the same numbers in Double") {
  const Variable x = count({2, 4, 7, 6}) % 5, w = count({6, 2, 3, 2}) % 7 - 3, bias = count({6});
  const Variable back = count({4, 3, 3, 2}) % 7 - 3;
  for (const ebb::DType dtype : {kInt, kLong}) {
    const auto whole = [dtype](const Variable& v) { return v.to(dtype); };
    CHECK(same(ebb::conv2d(whole(x), whole(w), whole(bias), {2, 1}, {1, 2}, {1, 2}, 2),
               whole(ebb::conv2d(x, w, bias, {2, 1}, {1, 2}, {1, 2}, 2))));
    CHECK(same(ebb::conv2d(whole(x), whole(w), {}, 1, "same", 2, 2),
               whole(ebb::conv2d(x, w, {}, 1, "same", 2, 2))));
    CHECK(same(ebb::conv_transpose2d(whole(x), whole(back), whole(bias), {2, 3}, {1, 2}, {1, 0}, 2, {1, 2}),
               whole(ebb::conv_transpose2d(x, back, bias, {2, 3}, {1, 2}, {1, 0}, 2, {1, 2}))));
    const auto [value, place] = ebb::max_pool2d_with_indices(x, {3, 2}, {2, 1}, 1, {2, 1}, true);
    const auto [found, at] = ebb::max_pool2d_with_indices(whole(x), {3, 2}, {2, 1}, 1, {2, 1}, true);
    CHECK(same(found, whole(value)));
    CHECK(same(at, place));
  }
  CHECK(same(ebb::max_pool1d(count({1, 4}).to(kLong), 2), ebb::tensor({1, 3}).view({1, 2})));
}

TEST_CASE("operands of several dtypes, and wide or narrow ones") {
  const Variable a = ebb::ones({2}), b = ebb::ones({2}, ebb::kDouble), m = ebb::ones({2, 2}, kLong);
  const Variable truths = ebb::tensor({true, false});
  CHECK(same(ebb::addr(ebb::outer(truths, truths), truths, truths),
             ebb::tensor({1, 0, 0, 0}).view({2, 2}).to(ebb::kBool)));
  CHECK(same(ebb::addr(m, a, b), ebb::full({2, 2}, 2.0, ebb::kDouble)));
  CHECK(same(ebb::ones({2, 2}).addr_(b, b), ebb::full({2, 2}, 2.0)));
  CHECK(same(ebb::lerp(a, a * 3, ebb::full({}, 0.5, ebb::kDouble)), ebb::full({2}, 2.0)));
  const auto [factors, tau] = ebb::geqrf(count({3, 5}).square());
  const Variable other = count({3, 2});
  CHECK(same(ebb::ormqr(factors, tau, other), ebb::ormqr(factors.narrow(1, 0, 3), tau, other)));
  const Variable small = count({2, 2}) / 4;
  CHECK(same(ebb::matrix_exp(small.to(kBFloat16)), ebb::matrix_exp(small.to(ebb::kFloat)).to(kBFloat16)));
}

TEST_CASE("functions with other arguments: ends of ranges, pairs of rows, edges of bins, an alias") {
  const Variable low = ebb::zeros({}), high = ebb::full({}, 4, kLong);
  CHECK(same(ebb::linspace(low, high, 3), ebb::linspace(0, 4, 3)));
  CHECK(same(ebb::linspace(0, high, 3), ebb::linspace(low, 4, 3)));
  CHECK(same(ebb::logspace(low, high, 3, 2), ebb::logspace(0, high, 3, 2)));
  CHECK(same(ebb::logspace(low, 4, 3, 2), ebb::logspace(0, 4, 3, 2)));
  CHECK_THROWS_WITH(ebb::linspace(ebb::zeros({1}), high, 3),
                    support::Contains("linspace: only supports 0-dimensional"));
  CHECK(same(ebb::pdist(count({3, 1})), ebb::tensor({1.0, 2.0, 1.0}).to(ebb::kDouble)));
  const std::vector<Variable> edges = {count({3}), count({2})};
  CHECK(std::get<0>(ebb::histogramdd(count({2, 2}), edges, ebb::nullopt, {}, true)).sizes() ==
        ebb::IntArrayRef({2, 1}));
  const Variable x = count({2});
  x.alias().zero_();
  CHECK_FALSE(x.any().item<bool>());
}
