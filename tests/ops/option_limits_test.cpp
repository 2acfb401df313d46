// Options at the limits of their ranges, and arguments at the limits of an op.
#include "check.h"

#include <functional>
#include <limits>

// Options at the limits of their ranges: no effect, dropout of everything, indices out of range, infinities.

using namespace op_tests;
using namespace ebb;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Named {
  const char* name;
  std::function<Variable(const Variable&)> run;
};

Variable leaf_of(const Values& numbers, IntArrayRef sizes) {
  return tensor(numbers, kDouble).view(sizes).detach().set_requires_grad(true);
}

}  // namespace

TEST_CASE("an op that changes no value returns a tensor with its own memory") {
  const Named ops[] = {
      {"matrix_power 1", [](const Variable& x) { return matrix_power(x, 1); }},
      {"pow 1", [](const Variable& x) { return pow(x, 1); }},
      {"cat of one", [](const Variable& x) { return cat({x}); }},
      {"roll 0", [](const Variable& x) { return roll(x, {0}, {0}); }},
      {"rot90 0", [](const Variable& x) { return rot90(x, 0); }},
      {"rot90 4", [](const Variable& x) { return rot90(x, 4); }},
      {"flip of no dimension", [](const Variable& x) { return flip(x, {}); }},
      {"repeat 1", [](const Variable& x) { return x.repeat({1, 1}); }},
      {"tile 1", [](const Variable& x) { return tile(x, {1}); }},
      {"repeat_interleave 1", [](const Variable& x) { return repeat_interleave(x, 1, 0); }},
      {"pad 0", [](const Variable& x) { return constant_pad_nd(x, {0, 0}, 1); }},
      {"index_select of all", [](const Variable& x) { return index_select(x, 0, arange(3, kLong)); }},
      {"masked_fill of nothing", [](const Variable& x) { return masked_fill(x, zeros({3, 3}, kBool), 1); }},
      {"tril of all", [](const Variable& x) { return tril(x, 3); }},
      {"triu of all", [](const Variable& x) { return triu(x, -3); }},
      {"clamp that is wide", [](const Variable& x) { return clamp(x, -9, 9); }},
      {"cumsum over one", [](const Variable& x) { return cumsum(x.view({9, 1}), 1).view({3, 3}); }},
      {"sum over one", [](const Variable& x) { return sum(x.unsqueeze(0), {0}); }},
      {"mean over one", [](const Variable& x) { return mean(x.unsqueeze(0), {0}); }},
      {"amax over one", [](const Variable& x) { return amax(x.unsqueeze(0), {0}); }},
      {"sort over one", [](const Variable& x) { return std::get<0>(sort(x.unsqueeze(0), 0)).squeeze(0); }},
      {"renorm that is wide", [](const Variable& x) { return renorm(x, 2, 0, 99); }},
      {"nan_to_num", [](const Variable& x) { return nan_to_num(x); }},
      {"dropout in evaluation", [](const Variable& x) { return dropout(x, 0.5, false) * 1; }},
      {"logcumsumexp over one",
       [](const Variable& x) { return logcumsumexp(x.view({9, 1}), 1).view({3, 3}); }},
      {"block_diag of one", [](const Variable& x) { return block_diag({x}); }},
      {"einsum of one", [](const Variable& x) { return einsum("ij->ij", {x}) * 1; }},
  };
  for (const Named& op : ops) {
    INFO(op.name);
    const Variable x = ramp({3, 3}).set_requires_grad(true), before = x.detach().clone();
    const Variable y = op.run(x);
    REQUIRE(equal(y, before));
    CHECK_FALSE(y.is_alias_of(x));
    y.detach().zero_();
    CHECK(equal(x, before));
    const Variable g = autograd::grad({op.run(x).sum()}, {x})[0];
    CHECK(allclose(g, ones({3, 3}, kDouble)));
  }
}

TEST_CASE("dropout with probability 1 has zero results and zero gradients") {
  const Named ops[] = {
      {"dropout", [](const Variable& x) { return dropout(x, 1, true); }},
      {"feature_dropout", [](const Variable& x) { return feature_dropout(x, 1, true); }},
      {"native_dropout", [](const Variable& x) { return std::get<0>(native_dropout(x, 1, true)); }},
  };
  for (const Named& op : ops) {
    INFO(op.name);
    const Variable x = ramp({2, 3, 4}).set_requires_grad(true);
    const Variable y = op.run(x), g = autograd::grad({y.sum()}, {x}, {}, true, true)[0];
    CHECK(y.eq(0).all().item<bool>());
    CHECK(g.eq(0).all().item<bool>());
  }
  for (const auto& alpha : {alpha_dropout, feature_alpha_dropout}) {
    const Variable x = ramp({2, 3, 4}).set_requires_grad(true);
    const Variable y = alpha(x, 1, true);
    CHECK(y.isfinite().all().item<bool>());
    CHECK(autograd::grad({y.sum()}, {x})[0].eq(0).all().item<bool>());
  }
}

TEST_CASE("logaddexp and logsumexp of infinities are infinite and not NaN") {
  const Variable none = full({2, 3}, -kInf, kDouble), all = full({2, 3}, kInf, kDouble);
  for (const auto& join : {logaddexp, logaddexp2}) {
    CHECK(join(none, none).eq(-kInf).all().item<bool>());
    CHECK(join(all, all).eq(kInf).all().item<bool>());
    CHECK(join(none, all).eq(kInf).all().item<bool>());
    CHECK(join(all, none).eq(kInf).all().item<bool>());
    CHECK(equal(join(none, ones({2, 3}, kDouble)), ones({2, 3}, kDouble)));
    CHECK(equal(join(ones({2, 3}, kDouble), none), ones({2, 3}, kDouble)));
    CHECK(join(none.to(kFloat), none.to(kFloat)).eq(-kInf).all().item<bool>());
  }
  CHECK(logsumexp(none, {1}).eq(-kInf).all().item<bool>());
  CHECK(logsumexp(all, {1}).eq(kInf).all().item<bool>());
  CHECK(logcumsumexp(none, 1).eq(-kInf).all().item<bool>());
  CHECK(logcumsumexp(all, 1).eq(kInf).all().item<bool>());
}

TEST_CASE("cdist and norms have finite gradients at equal coordinates for every power") {
  // The second coordinates are equal, and the last points are identical.
  const Values left = {0, 1, 2, 3, 1, -1, 0.5, 0.5, 0.5}, right = {1, 1, 4, -2, 1, 0, 0.5, 0.5, 0.5};
  for (const double p : {0.3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, kInf}) {
    INFO("p = " << p);
    const Variable a = leaf_of(left, {3, 3}), b = leaf_of(right, {3, 3});
    const auto check = [&](const char* name, const Variable& y, const variable_list& leaves) {
      INFO(name);
      CHECK(y.isfinite().all().item<bool>());
      for (const Variable& g : autograd::grad({y.sum()}, leaves, {}, true, false))
        CHECK(g.isfinite().all().item<bool>());
    };
    const Variable distances = cdist(a, b, p);
    check("cdist", distances, {a, b});
    const Variable g = autograd::grad({distances[2][2] + distances[0][0]}, {a})[0];
    CHECK(g[2].eq(0).all().item<bool>());
    CHECK(g[0][1].item<double>() == 0);
    CHECK(g[0][2].item<double>() < 0);
    check("pdist", nn::functional::pdist(cat({a, b}), p), {a, b});
    check("norm of the difference", norm(a - b, p, {1}), {a, b});
    check("vector_norm", linalg::vector_norm(a - b, p), {a, b});
  }
}

TEST_CASE("eigh accepts UPLO in lower case and reads only that triangle") {
  const Variable low = tensor({2., 9., 9., 0.5, 3., 9., -1., 0.25, 4.}, kDouble).view({3, 3}), high = low.t();
  for (const char* letter : {"L", "l"}) {
    INFO(letter);
    CHECK(allclose(std::get<0>(linalg::eigh(low, letter)),
                   std::get<0>(linalg::eigh(low.tril() + low.tril(-1).t()))));
    CHECK(allclose(linalg::eigvalsh(low, letter), linalg::eigvalsh(low.tril() + low.tril(-1).t())));
  }
  for (const char* letter : {"U", "u"}) {
    INFO(letter);
    CHECK(allclose(std::get<0>(linalg::eigh(high, letter)), std::get<0>(linalg::eigh(low, "L"))));
    CHECK(allclose(linalg::eigvalsh(high, letter), linalg::eigvalsh(low, "L")));
  }
}

TEST_CASE("padding_idx 0 and ignore_index 0 work in derivatives of every order") {
  const Variable index = tensor(std::vector<std::int64_t>{0, 2, 0, 1}, kLong);
  const Variable weight = ramp({3, 2}).set_requires_grad(true),
                 upstream = ramp({4, 2}, 1).set_requires_grad(true);
  const Variable g =
      autograd::grad({embedding(weight, index, 0)}, {weight}, {upstream}, true, /*create_graph=*/true)[0];
  CHECK(g[0].eq(0).all().item<bool>());
  CHECK(g[1].eq(upstream[3]).all().item<bool>());
  const Variable back = autograd::grad({g}, {upstream}, {ones({3, 2}, kDouble)})[0];
  CHECK(equal(back, tensor({0., 0., 1., 1., 0., 0., 1., 1.}, kDouble).view({4, 2})));

  const Variable target = tensor(std::vector<std::int64_t>{0, 2, 1}, kLong),
                 scores = ramp({3, 4}).set_requires_grad(true),
                 seed = ones({}, kDouble).set_requires_grad(true);
  const Variable by_score =
      autograd::grad({nll_loss(scores, target, {}, Reduction::Mean, 0)}, {scores}, {seed}, true, true)[0];
  CHECK(by_score[0].eq(0).all().item<bool>());
  CHECK(autograd::grad({by_score.sum()}, {seed})[0].item<double>() == -1);
}

TEST_CASE("max_unpool throws for an index one past the end and for a negative index") {
  const Variable x = ones({2, 1, 2, 2}, kDouble);
  const auto at = [](std::int64_t place) { return full({2, 1, 2, 2}, place, kLong); };
  CHECK_NOTHROW(max_unpool2d(x, at(11), {3, 4}));
  CHECK_THROWS_WITH(max_unpool2d(x, at(12), {3, 4}), support::Contains("max_unpool2d"));
  CHECK_THROWS_WITH(max_unpool2d(x, at(-1), {3, 4}), support::Contains("max_unpool2d"));
  const Variable y = x.unsqueeze(2);
  CHECK_NOTHROW(max_unpool3d(y, at(23).unsqueeze(2), {2, 3, 4}, {1, 1, 1}, {0, 0, 0}));
  CHECK_THROWS_WITH(max_unpool3d(y, at(24).unsqueeze(2), {2, 3, 4}, {1, 1, 1}, {0, 0, 0}),
                    support::Contains("max_unpool3d"));
}

TEST_CASE("interpolate with a scale that preserves the size still resamples") {
  namespace F = nn::functional;
  const Variable row = tensor({0., 1., 2., 3.}, kDouble).view({1, 1, 4});
  const auto resized = [](const Variable& x, F::InterpolateFuncOptions::mode_t mode,
                          std::vector<double> scale, bool again) {
    return F::interpolate(
        x, F::InterpolateFuncOptions().mode(mode).scale_factor(scale).recompute_scale_factor(again));
  };
  // Element i is sampled at (i + 0.5) / 1.2 - 0.5, clamped to the ends.
  const Variable linear = tensor({0., 0.75, 19. / 12, 29. / 12}, kDouble).view({1, 1, 4});
  CHECK(allclose(resized(row, kLinear, {1.2}, false), linear));
  CHECK(equal(resized(row, kLinear, {1.2}, true), row));
  CHECK(equal(resized(row, kNearest, {1.2}, false), tensor({0., 0., 1., 2.}, kDouble).view({1, 1, 4})));
  const Variable image = row.unsqueeze(2).expand({1, 1, 4, 4}), volume = row.view({1, 1, 1, 1, 4});
  CHECK(allclose(resized(image, kBilinear, {1, 1.2}, false), linear.unsqueeze(2).expand({1, 1, 4, 4})));
  CHECK(allclose(resized(image.mT(), kBilinear, {1.2, 1}, false),
                 linear.unsqueeze(2).expand({1, 1, 4, 4}).mT()));
  CHECK(allclose(resized(volume, kTrilinear, {1, 1, 1.2}, false), linear.view({1, 1, 1, 1, 4})));
  CHECK_FALSE(allclose(resized(image, kBicubic, {1, 1.2}, false), image));
}

TEST_CASE("arguments at the limits of int64 give the right result or an error") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                         least = std::numeric_limits<std::int64_t>::min();
  const Variable x = ones({2, 3}), line = arange(4, kFloat);
  for (const std::int64_t far : {most, most - 1, std::int64_t{3}}) {
    CHECK(triu(x, far).equal(zeros({2, 3})));
    CHECK(tril(x, far).equal(x));
    CHECK(x.clone().tril_(-far).equal(zeros({2, 3})));
    CHECK(triu_indices(2, 3, far).sizes() == IntArrayRef({2, 0}));
    CHECK(tril_indices(2, 3, far).sizes() == IntArrayRef({2, 6}));
  }
  CHECK(tril(x, least).equal(zeros({2, 3})));
  CHECK(triu(x, least).equal(x));
  CHECK(tril_indices(1000000000, 0).sizes() == IntArrayRef({2, 0}));
  CHECK(tril_indices(1000000000, 3, -999999999).equal(tensor({999999999, 0}).view({2, 1}).to(kLong)));
  CHECK(matrix_power(2 * eye(2), -2).equal(eye(2) / 4));
  CHECK(matrix_power(eye(2), least).equal(eye(2)));
  CHECK(line.chunk(most).size() == 4);
  CHECK_THROWS_WITH(zeros({0}).chunk(most),
                    support::Contains("chunk") && support::Contains("empty dimension"));
  CHECK(line.slice(0, 1, 4, most).equal(line.narrow(0, 1, 1)));
  CHECK(line.unfold(0, 2, most).equal(line.narrow(0, 0, 2).view({1, 2})));
  CHECK_THROWS_WITH(combinations(arange(100), 50), support::Contains("than memory can hold"));
  CHECK_THROWS_WITH(combinations(line, most, true), support::Contains("memory is too small"));
  CHECK(combinations(line, most).sizes() == IntArrayRef({0, most}));
  CHECK_THROWS_WITH(conv1d(ones({1, 1, 4}), ones({1, 1, 2}), {}, 1, most), support::Contains("at most 2^31"));
  CHECK_THROWS_WITH(max_pool1d(ones({1, 1, 4}), most), support::Contains("at most 2^31"));
  CHECK_THROWS_WITH(im2col(ones({1, 1, 4, 4}), {2, 2}, {most, 1}, {0, 0}, {1, 1}),
                    support::Contains("at most 2^31"));
  CHECK(diff(line, 0, -1, ones({1})).equal(line));
}

// Arguments at the limits of an op, with the results of PyTorch 2.15.

using ebb::kBFloat16;
using ebb::kInt;
using ebb::kLong;

namespace {

bool same(const Variable& a, const Variable& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && ebb::equal(a, b);
}

}  // namespace

TEST_CASE("margin losses have a zero gradient exactly at the margin") {
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

TEST_CASE("linear accepts a 1-dimensional weight and inputs with zero features") {
  const Variable x = count({2, 2}), w = count({2});
  CHECK(same(ebb::linear(x, w), ebb::mv(x, w)));
  CHECK(same(ebb::linear(w, w, ebb::ones({}, ebb::kDouble)), ebb::full({}, 2.0, ebb::kDouble)));
  CHECK_THROWS_WITH(ebb::linear(x, w, ebb::ones({}, ebb::kDouble)),
                    support::Contains("linear: with a weight of one"));
  const Variable bias = count({3});
  CHECK(same(ebb::linear(ebb::ones({2, 4, 0}, ebb::kDouble), ebb::ones({3, 0}, ebb::kDouble), bias),
             bias.expand({2, 4, 3})));
}

TEST_CASE("gather and scatter accept Int and Long indices, and take_along_dim accepts negative indices") {
  const Variable x = count({3, 2}), index = ebb::tensor({2, 0}).view({1, 2}), narrow = index.to(kInt);
  CHECK(same(ebb::gather(x, 0, narrow), ebb::gather(x, 0, index)));
  CHECK(same(ebb::scatter(x, 0, narrow, x), ebb::scatter(x, 0, index, x)));
  CHECK(same(ebb::scatter_add(x, 0, narrow, x), ebb::scatter_add(x, 0, index, x)));
  CHECK(same(x.index({narrow.view({2})}), x.index({index.view({2})})));
  CHECK(same(ebb::take_along_dim(x, index - 3, 0), ebb::gather(x, 0, ebb::tensor({2, 0}).view({1, 2}))));
  CHECK_THROWS_AS(ebb::take_along_dim(x, index - 4, 0), ebb::IndexError);
}

TEST_CASE("the sign of slogdet and the statistics of native_group_norm can be differentiated") {
  const Variable A = (count({2, 2}) + ebb::eye(2, ebb::kDouble)).set_requires_grad(true);
  const auto [sign, logarithm] = ebb::slogdet(A);
  CHECK_FALSE(ebb::autograd::grad({sign.sum()}, {A})[0].any().item<bool>());
  const auto statistics = [](const Variable& x) {
    const auto [y, mean, rstd] = ebb::native_group_norm(x, {}, {}, 2, 2, 3, 1, 1e-5);
    return ebb::cat({y.flatten(), mean.flatten(), rstd.flatten()});
  };
  CHECK(ebb::gradcheck(statistics, {count({2, 2, 3}).square().set_requires_grad(true)}));
}

TEST_CASE("ops accept tensors without dimensions or without elements") {
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

TEST_CASE("integer convolutions and max pooling equal those in Double") {
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

TEST_CASE("linear algebra functions accept mixed dtypes and non-square factors") {
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

TEST_CASE("linspace, pdist, histogramdd and alias accept their alternative arguments") {
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
