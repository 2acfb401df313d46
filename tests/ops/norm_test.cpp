// Normalisations: plain loops, derivatives, running statistics, errors, and the range of moments.
#include <ebb/ebb.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/norm.h>

#include "check.h"
#include "support/catch.h"

#include <cmath>
#include <functional>

// Normalisations: plain loops, first and second derivatives, running statistics, errors.

using namespace ebb;

namespace {

using Inputs = variable_list;

Variable wave(IntArrayRef sizes, double low = -1, double high = 1, double phase = 0.3) {
  const Variable x = arange(checked_numel(sizes), TensorOptions(kDouble));
  return ((x * 1.7 + phase).sin() * ((high - low) / 2) + (high + low) / 2).reshape(sizes);
}
Variable leaf(Variable x) { return x.requires_grad_(); }
double largest(const Variable& x) { return x.abs().max().item<double>(); }

/// The reference: normalises over dims by plain arithmetic on tensors, then scales.
Variable by_hand(const Variable& x, IntArrayRef dims, const Variable& w, const Variable& b,
                 double eps = 1e-5) {
  const Variable m = x.mean(dims, true);
  const Variable v = ((x - m) * (x - m)).mean(dims, true);
  return (x - m) / (v + eps).sqrt() * w + b;
}

template <class F>
void check_derivatives(F f, const Inputs& inputs) {
  CHECK(gradcheck(f, inputs));
  CHECK(gradgradcheck(f, inputs));
}

}  // namespace

TEST_CASE("batch_norm normalises each channel and updates the running statistics") {
  for (const std::vector<std::int64_t>& sizes :
       std::vector<std::vector<std::int64_t>>{{6, 3}, {4, 3, 5}, {2, 3, 4, 5}}) {
    const Variable x = wave(sizes, -1, 3), w = wave({3}, 0.5, 2), b = wave({3}, -1, 1, 2);
    Variable mean = zeros({3}, kDouble), var = ones({3}, kDouble);
    std::vector<std::int64_t> dims{0}, shape(sizes.size(), 1);
    for (std::size_t d = 2; d < sizes.size(); ++d) dims.push_back(static_cast<std::int64_t>(d));
    shape[1] = 3;
    const Variable y = batch_norm(x, w, b, mean, var, true, 0.1, 1e-5);
    CHECK(largest(y - by_hand(x, dims, w.view(shape), b.view(shape))) < 1e-13);
    const Variable m = x.mean(IntArrayRef(dims));
    const Variable v = ((x - m.view(shape)) * (x - m.view(shape))).mean(IntArrayRef(dims));
    const double n = static_cast<double>(x.numel()) / 3;
    CHECK(largest(mean - m * 0.1) < 1e-14);
    CHECK(largest(var - (0.9 + v * (0.1 * n / (n - 1)))) < 1e-14);
    const Variable evaluated = batch_norm(x, w, b, mean, var, false, 0.1, 1e-5);
    const Variable expected =
        (x - mean.view(shape)) / (var.view(shape) + 1e-5).sqrt() * w.view(shape) + b.view(shape);
    CHECK(largest(evaluated - expected) < 1e-13);
  }
}

TEST_CASE("batch_norm has the right first and second derivatives") {
  const Variable mean = wave({3}, -0.5, 0.5), var = wave({3}, 0.5, 2);
  for (const bool training : {true, false}) {
    const auto f = [&](const Inputs& in) {
      return Inputs{batch_norm(in[0], in[1], in[2], mean.clone(), var.clone(), training, 0.1, 1e-5)};
    };
    check_derivatives(f, {leaf(wave({4, 3}, -1, 2)), leaf(wave({3}, 0.5, 2)), leaf(wave({3}))});
    check_derivatives(f, {leaf(wave({2, 3, 4}, -1, 2)), leaf(wave({3}, 0.5, 2)), leaf(wave({3}))});
  }
  check_derivatives(
      [](const Inputs& in) { return Inputs{batch_norm(in[0], {}, {}, {}, {}, true, 0.1, 1e-5)}; },
      {leaf(wave({4, 3, 2}, -1, 2))});
}

TEST_CASE("layer_norm normalises the trailing dimensions") {
  const Variable x = wave({4, 3, 5}, -1, 3), w = wave({3, 5}, 0.5, 2), b = wave({3, 5}, -1, 1, 2);
  CHECK(largest(layer_norm(x, {3, 5}, w, b) - by_hand(x, {1, 2}, w, b)) < 1e-13);
  CHECK(largest(layer_norm(x, {5}) - by_hand(x, {2}, ones({1}, kDouble), zeros({1}, kDouble))) < 1e-13);
  const auto [y, mean, rstd] = native_layer_norm(x, {3, 5}, w, b, 1e-5);
  CHECK(mean.sizes() == IntArrayRef({4, 1, 1}));
  CHECK(largest(mean - x.mean(IntArrayRef({1, 2}), true)) < 1e-14);
  check_derivatives([](const Inputs& in) { return Inputs{layer_norm(in[0], {3, 5}, in[1], in[2])}; },
                    {leaf(x), leaf(w), leaf(b)});
  check_derivatives([](const Inputs& in) { return Inputs{layer_norm(in[0], {5})}; }, {leaf(wave({2, 5}))});
}

TEST_CASE("group_norm and instance_norm normalise each sample") {
  const Variable x = wave({2, 4, 3, 2}, -1, 3), w = wave({4}, 0.5, 2), b = wave({4}, -1, 1, 2);
  const Variable grouped = x.view({2, 2, 12});
  const Variable plain = by_hand(grouped, {2}, ones({1}, kDouble), zeros({1}, kDouble)).view({2, 4, 3, 2});
  CHECK(largest(group_norm(x, 2, w, b) - (plain * w.view({4, 1, 1}) + b.view({4, 1, 1}))) < 1e-13);
  check_derivatives([](const Inputs& in) { return Inputs{group_norm(in[0], 2, in[1], in[2])}; },
                    {leaf(x), leaf(w), leaf(b)});
  CHECK(largest(instance_norm(x, w, b, {}, {}, true, 0.1, 1e-5) -
                by_hand(x, {2, 3}, w.view({4, 1, 1}), b.view({4, 1, 1}))) < 1e-13);
  Variable mean = zeros({4}, kDouble), var = ones({4}, kDouble);
  instance_norm(x, {}, {}, mean, var, true, 0.5, 1e-5);
  CHECK(largest(mean - x.mean(IntArrayRef({0, 2, 3})) * 0.5) < 1e-14);
  check_derivatives(
      [](const Inputs& in) { return Inputs{instance_norm(in[0], in[1], in[2], {}, {}, true, 0.1, 1e-5)}; },
      {leaf(wave({2, 3, 4})), leaf(wave({3}, 0.5, 2)), leaf(wave({3}))});
}

TEST_CASE("cosine_similarity and pairwise_distance equal their formulas") {
  const Variable a = wave({3, 4}), b = wave({3, 4}, -1, 1, 2);
  for (int i = 0; i < 3; ++i) {
    double dot = 0, aa = 0, bb = 0, square = 0;
    for (int j = 0; j < 4; ++j) {
      const double u = a[i][j].item<double>(), v = b[i][j].item<double>();
      dot += u * v, aa += u * u, bb += v * v, square += (u - v + 1e-6) * (u - v + 1e-6);
    }
    CHECK(cosine_similarity(a, b)[i].item<double>() == Approx(dot / std::sqrt(aa * bb)).epsilon(1e-13));
    CHECK(pairwise_distance(a, b)[i].item<double>() == Approx(std::sqrt(square)).epsilon(1e-13));
  }
  check_derivatives([](const Inputs& in) { return Inputs{cosine_similarity(in[0], in[1])}; },
                    {leaf(a), leaf(b)});
  check_derivatives([](const Inputs& in) { return Inputs{pairwise_distance(in[0], in[1])}; },
                    {leaf(a), leaf(b)});
  CHECK(cosine_similarity(zeros({2}, kDouble), ones({2}, kDouble), 0).item<double>() == 0);
}

TEST_CASE("rms_norm uses the epsilon of its accumulation dtype by default") {
  const Variable small = full({1, 4}, 1e-3, kFloat);
  const double square = 1e-6;
  CHECK(rms_norm(small, {4})[0][0].item<double>() ==
        Approx(1e-3 / std::sqrt(square + std::pow(2.0, -23))).epsilon(1e-6));
  CHECK(rms_norm(small, {4}, {}, 0.0)[0][0].item<double>() == Approx(1).epsilon(1e-6));
  CHECK(rms_norm(small.to(kBFloat16), {4})[0][0].item<double>() ==
        Approx(1e-3 / std::sqrt(square + std::pow(2.0, -23))).epsilon(1e-2));
  CHECK(rms_norm(small.to(kHalf), {4})[0][0].item<double>() ==
        Approx(1e-3 / std::sqrt(square + std::pow(2.0, -23))).epsilon(2e-3));
  CHECK(rms_norm(empty({0, 4}), {4}).sizes() == IntArrayRef({0, 4}));
  CHECK(equal(nn::RMSNorm(nn::RMSNormOptions({4}).eps(0.1))(small), rms_norm(small, {4}, {}, 0.1)));
  CHECK(nn::RMSNorm(nn::RMSNormOptions({4}))->weight.sizes() == IntArrayRef({4}));
}

TEST_CASE("add_layer_norm and add_rms_norm return the norm and the sum and differentiate both") {
  const Variable x = wave({2, 3, 5}), r = wave({2, 3, 5}).mul(0.7).add(0.1), w = wave({5}), b = wave({5});
  const auto check = [&](auto fused, auto composed, const variable_list& leaves) {
    const auto [y, sum] = fused(leaves);
    const Variable expected_sum = leaves[0] + leaves[1], expected = composed(expected_sum, leaves);
    CHECK(equal(sum, expected_sum));
    CHECK(allclose(y, expected, 1e-12, 1e-12));
    for (const auto& uses : {std::pair{1, 1}, {1, 0}, {0, 1}}) {
      INFO("gradients of the norm " << uses.first << ", of the sum " << uses.second);
      const auto loss = [&](const Variable& v, const Variable& s) {
        return (v * v).sum() * uses.first + (s * s * s).sum() * uses.second;
      };
      const variable_list got = autograd::grad({loss(y, sum)}, leaves, {}, true, false, true);
      const variable_list want =
          autograd::grad({loss(expected, expected_sum)}, leaves, {}, true, false, true);
      for (std::size_t i = 0; i < leaves.size(); ++i) CHECK(allclose(got[i], want[i], 1e-11, 1e-11));
    }
    // Only the sum is used in the loss.
    const variable_list got = autograd::grad({sum.sum()}, {leaves[0], leaves[1]}, {}, true);
    CHECK(equal(got[0], ones_like(x)));
    CHECK(equal(got[1], ones_like(x)));
    check_derivatives(
        [&](const Inputs& in) {
          const auto [v, s] = fused(in);
          return Inputs{v, s};
        },
        leaves);
  };
  check([](const variable_list& in) { return add_layer_norm(in[0], in[1], {5}, in[2], in[3]); },
        [](const Variable& s, const variable_list& in) { return layer_norm(s, {5}, in[2], in[3]); },
        {leaf(x), leaf(r), leaf(w), leaf(b)});
  check([](const variable_list& in) { return add_rms_norm(in[0], in[1], {5}, in[2], 0.1); },
        [](const Variable& s, const variable_list& in) { return rms_norm(s, {5}, in[2], 0.1); },
        {leaf(x), leaf(r), leaf(w)});
}

TEST_CASE("add_layer_norm and forward_sum normalise the sum after it is rounded to 16 bits") {
  manual_seed(4);
  for (const DType dtype : {kHalf, kBFloat16}) {
    const Variable x = randn({3, 33}).to(dtype), r = randn({3, 33}).to(dtype);
    const auto [y, sum] = add_layer_norm(x, r, {33});
    CHECK(equal(sum, x + r));
    CHECK(equal(y, layer_norm(x + r, {33})));
    nn::RMSNorm module(nn::RMSNormOptions({33}));
    module->to(dtype);
    const auto [z, same] = module->forward_sum(x, r);
    CHECK(equal(z, module(x + r)));
    CHECK(equal(same, sum));
  }
  const auto [y, sum] = nn::LayerNorm(nn::LayerNormOptions({4}))->forward_sum(empty({0, 4}), empty({0, 4}));
  CHECK(y.sizes() == IntArrayRef({0, 4}));
  CHECK(sum.sizes() == IntArrayRef({0, 4}));
}

TEST_CASE("normalisations have the node names of torch and throw for invalid arguments") {
  using support::Contains;
  const Variable x = leaf(wave({2, 4, 3}));
  CHECK(batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5).grad_fn()->name() == "NativeBatchNormBackward0");
  CHECK(layer_norm(x, {3}).grad_fn()->name() == "NativeLayerNormBackward0");
  CHECK(rms_norm(x, {3}).grad_fn()->name() == "FusedRmsNormBackward0");
  CHECK(group_norm(x, 2).grad_fn()->name() == "NativeGroupNormBackward0");
  const Variable w = ones({5}, kDouble);
  CHECK_THROWS_WITH(batch_norm(x, w, {}, {}, {}, true, 0.1, 1e-5),
                    Contains("weight should contain 4 elements not 5"));
  CHECK_THROWS_WITH(batch_norm(x, {}, {}, {}, {}, false, 0.1, 1e-5),
                    Contains("running_mean and running_var"));
  CHECK_THROWS_WITH(layer_norm(x, {5}), Contains("normalized_shape=[5]") && Contains("[2, 4, 3]"));
  CHECK_THROWS_WITH(rms_norm(x, {3}, ones({4}, kDouble)), Contains("rms_norm: expected weight"));
  CHECK_THROWS_WITH(add_layer_norm(x, ones({4, 3}, kDouble), {3}),
                    Contains("input and residual of the same size"));
  CHECK_THROWS_WITH(add_rms_norm(x, ones({2, 4, 3}), {3}), Contains("Double and Float"));
  CHECK_THROWS_WITH(rms_norm(ones({3}, kLong), {3}), Contains("floating-point dtype, got Long"));
  CHECK_THROWS_WITH(group_norm(x, 3), Contains("divisible by num_groups"));
  CHECK_THROWS_WITH(layer_norm(x, {3}, ones({3}, kFloat)), Contains("Double and Float"));
  CHECK_THROWS_WITH(
      nn::functional::batch_norm(ones({1, 4}), {}, {}, nn::functional::BatchNormFuncOptions().training(true)),
      Contains("more than 1 value per channel"));
}

TEST_CASE("normalisations do not depend on the number of threads and compute 16-bit inputs in float") {
  const Variable x = wave({8, 16, 40}, -1, 1).to(kFloat);
  const auto all = [&] {
    Variable in = leaf(x.detach().clone());
    Variable w = leaf(ones({16})), b = leaf(zeros({16}));
    Variable y =
        batch_norm(in, w, b, {}, {}, true, 0.1, 1e-5) + group_norm(in, 4, w, b) + layer_norm(in, {40});
    (y * y).sum().backward();
    return std::vector<Variable>{y.detach(), in.grad(), w.grad(), b.grad()};
  };
  const int threads = get_num_threads();
  set_num_threads(1);
  const auto one = all();
  set_num_threads(2);
  const auto two = all();
  set_num_threads(threads);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(equal(one[i], two[i]));
  CHECK(largest(layer_norm(x.to(kHalf), {40}).to(kDouble) - layer_norm(x.to(kDouble), {40})) < 5e-3);
  CHECK(largest(batch_norm(x.to(kBFloat16), {}, {}, {}, {}, true, 0.1, 1e-5).to(kDouble) -
                batch_norm(x.to(kDouble), {}, {}, {}, {}, true, 0.1, 1e-5)) < 5e-2);
}

TEST_CASE("batch_norm of an empty input is empty and does not update the running statistics") {
  using Shape = std::vector<std::int64_t>;
  for (const Shape& sizes : {Shape{0, 3}, Shape{0, 3, 2}, Shape{2, 3, 0}, Shape{2, 3, 0, 4}, Shape{2, 0, 4}})
    for (const bool training : {true, false}) {
      INFO(IntArrayRef(sizes) << training);
      const IntArrayRef channels(&sizes[1], 1);
      const Variable x = zeros(sizes, kDouble).requires_grad_();
      const Variable w = ones(channels, kDouble).requires_grad_();
      const Variable b = ones(channels, kDouble).requires_grad_();
      const Variable mean = full(channels, 0.5, kDouble), var = full(channels, 2, kDouble);
      const Variable y = batch_norm(x, w, b, mean, var, training, 0.1, 1e-5);
      CHECK(y.sizes() == IntArrayRef(sizes));
      y.sum().backward();
      CHECK(x.grad().sizes() == x.sizes());
      CHECK(equal(w.grad(), zeros_like(w)));
      CHECK(equal(b.grad(), zeros_like(b)));
      CHECK(equal(mean, full_like(mean, 0.5)));
      CHECK(equal(var, full_like(var, 2)));
      instance_norm(x.unsqueeze(-1), w, b, mean, var, true, 0.1, 1e-5);
      CHECK(equal(mean, full_like(mean, 0.5)));
    }
}

TEST_CASE("layer_norm of short rows has the bits of each row alone, and the values in Double") {
  for (const DType dtype : {kFloat, kDouble, kBFloat16})
    for (const std::int64_t width : {1, 7, 16, 33, 128, 129}) {
      INFO(dtype << ", width " << width);
      const Variable x = wave({37, width}, -2, 3).to(dtype), seed = wave({37, width}, -1, 1, 1.1).to(dtype);
      if (dtype == kFloat && width > 1) x.select(0, 20).mul_(1e30);  // its squares overflow
      const Variable w = wave({width}, 0.5, 2).to(dtype), b = wave({width}).to(dtype);
      const auto run = [&](DType as, std::int64_t from, std::int64_t to) {
        const Variable in = leaf(x.slice(0, from, to).to(as).clone()), weight = leaf(w.to(as).clone());
        const Variable y = layer_norm(in, {width}, weight, b.to(as));
        y.backward(seed.slice(0, from, to).to(as));
        return variable_list{y.detach(), in.grad(), weight.grad()};
      };
      const variable_list all = run(dtype, 0, 37), wide = run(kDouble, 0, 37);
      // Longer rows are summed in an order that depends on their address.
      for (const std::int64_t i : {0, 15, 16, 20, 36}) {
        const variable_list one = run(dtype, i, i + 1);
        for (const int k : {0, 1}) CHECK((width > 128 || equal(all[k].slice(0, i, i + 1), one[k])));
      }
      const double tolerance = dtype == kBFloat16 ? 0.02 : dtype == kFloat ? 1e-4 : 1e-12;
      for (const int k : {0, 1, 2})
        CHECK(allclose(all[k].to(kDouble), wide[k], tolerance, tolerance * (1 + largest(wide[k]))));
    }
}

TEST_CASE("layer_norm sums the gradients of weight and bias over any number of rows") {
  for (const std::int64_t rows : {1, 15, 16, 17, 32, 50}) {
    INFO(rows << " rows");
    const Variable x = wave({rows, 3});
    const Variable weight = ones({3}, kDouble).set_requires_grad(true);
    const Variable bias = zeros({3}, kDouble).set_requires_grad(true);
    const Variable y = layer_norm(x, {3}, weight, bias), plain = layer_norm(x, {3});
    const Variable seed = wave({rows, 3}, -1, 1, 1.1);
    y.backward(seed);
    CHECK(allclose(bias.grad(), seed.sum(0)));
    CHECK(allclose(weight.grad(), (seed * plain).sum(0)));
  }
}

// Variances, norms and normalisations of values whose squares overflow or underflow, or whose mean is large.

using namespace op_tests;

namespace {

constexpr double kScales[] = {1e30, 1e-30};

const Values kNumbers{1, -2, 3, 0.5, -0.25, 4, 2, -1};

// The numbers times the scale as floats, eight per row.
Variable scaled(double scale) { return (tensor(kNumbers, kDouble) * scale).to(kFloat).view({1, 2, 4}); }

// Returns whether a equals b within a few ulp of float.
bool close(const Variable& a, const Variable& b) {
  return allclose(a.to(kDouble), b.to(kDouble), /*rtol=*/1e-6, /*atol=*/0);
}

}  // namespace

TEST_CASE("std of very large and very small floats is as accurate as in double") {
  for (const double scale : kScales) {
    INFO(scale);
    const Variable x = scaled(scale).set_requires_grad(true);
    const Variable wide = x.detach().to(kDouble).set_requires_grad(true);
    const Variable s = x.std({1, 2}, true), exact = wide.std({1, 2}, true);
    CHECK(close(s, exact));
    s.backward(ones_like(s));
    exact.backward(ones_like(exact));
    CHECK(close(x.grad(), wide.grad()));
    const auto [deviation, mean] = std_mean(x.detach(), true);
    CHECK(close(deviation, wide.detach().std(true)));
    CHECK(close(mean, wide.detach().mean()));
    CHECK(close(x.detach().std(1), wide.detach().std(1)));  // along columns
    CHECK(close(x.detach().norm(), wide.detach().norm()));
    CHECK(close(x.detach().norm(3), wide.detach().norm(3)));
    CHECK(close(x.detach().norm(2, 1), wide.detach().norm(2, 1)));
  }
}

TEST_CASE("var of floats with a large mean is as accurate as in double") {
  const Variable x = (tensor(kNumbers, kDouble) + 1e6).to(kFloat).view({2, 4});
  const Variable wide = x.to(kDouble);
  CHECK(close(x.var(false), wide.var(false)));
  CHECK(close(x.var(1), wide.var(1)));
  CHECK(close(x.var(0), wide.var(0)));
}

TEST_CASE("normalisations of very large and very small floats are as accurate as in double") {
  for (const double scale : kScales) {
    INFO(scale);
    const Variable x = scaled(scale).set_requires_grad(true);
    const Variable wide = x.detach().to(kDouble).set_requires_grad(true);
    const double eps = scale < 1 ? 0 : 1e-5;
    const Variable slope = tensor(kNumbers, kDouble).flip(0).view({1, 2, 4});
    const auto compare = [&](const char* name, auto&& norm) {
      INFO(name);
      x.mutable_grad() = Variable();
      wide.mutable_grad() = Variable();
      const Variable y = norm(x), exact = norm(wide);
      CHECK(allclose(y.to(kDouble), exact, 1e-5, 1e-6));
      y.backward(slope.to(kFloat));
      exact.backward(slope);
      CHECK(allclose(x.grad().to(kDouble) * scale, wide.grad() * scale, 1e-4, 1e-5));
    };
    compare("layer_norm", [&](const Variable& v) { return layer_norm(v, {2, 4}, {}, {}, eps); });
    compare("rms_norm", [&](const Variable& v) { return rms_norm(v, {4}, {}, eps); });
    compare("group_norm", [&](const Variable& v) { return group_norm(v, 1, {}, {}, eps); });
    compare("instance_norm",
            [&](const Variable& v) { return instance_norm(v, {}, {}, {}, {}, true, 0.1, eps, true); });
    compare("batch_norm",
            [&](const Variable& v) { return batch_norm(v, {}, {}, {}, {}, true, 0.1, eps, true); });
  }
}

TEST_CASE("norms and std of very large and very small floats have derivatives as accurate as in double") {
  using Function = std::function<Variable(const Variable&)>;
  const std::pair<const char*, Function> functions[] = {
      {"norm", [](const Variable& x) { return x.norm(2, IntArrayRef{2}); }},
      {"norm 3", [](const Variable& x) { return x.norm(3, IntArrayRef{2}); }},
      {"norm 1.5", [](const Variable& x) { return x.norm(1.5, IntArrayRef{2}); }},
      {"norm -2", [](const Variable& x) { return x.norm(-2, IntArrayRef{2}); }},
      {"std", [](const Variable& x) { return x.std(IntArrayRef{2}); }},
      {"cdist", [](const Variable& x) { return cdist(x, x.detach().flip(2)); }},
      {"cdist 3", [](const Variable& x) { return cdist(x, x.detach().flip(2), 3); }},
      {"hypot", [](const Variable& x) { return hypot(x, x.detach().flip(2)); }}};
  const auto derivatives = [](const Function& f, const Variable& x, double scale) {
    const Variable leaf = x.detach().set_requires_grad(true), y = f(leaf);
    const Variable once = autograd::grad({y.sum()}, {leaf}, {}, true, true)[0];
    const Variable weights = tensor(kNumbers, kDouble).view(x.sizes()).to(x.dtype());
    const Variable twice = autograd::grad({(once * weights).sum()}, {leaf})[0];
    return stack({once.detach().to(kDouble), twice.to(kDouble) * scale}, 0);
  };
  for (const double scale : kScales)
    for (const auto& [name, f] : functions) {
      INFO(name << " at " << scale);
      const Variable x = scaled(scale);
      CHECK(close(f(x), f(x.to(kDouble))));
      CHECK(allclose(derivatives(f, x, scale), derivatives(f, x.to(kDouble), scale), 1e-4, 1e-5));
    }
}

TEST_CASE("equal values share the gradient of logsumexp even if they are very large") {
  const Variable x = full({3}, 1e20, kFloat).set_requires_grad(true);
  const Variable g = autograd::grad({x.logsumexp(0)}, {x})[0];
  CHECK(close(g, full({3}, 1.0 / 3, kDouble)));
  const Variable h = autograd::grad({x.logcumsumexp(0).select(0, 2)}, {x})[0];
  CHECK(h.sum().item<double>() == 1);
  const Variable narrow = tensor({100.0, 100.0, 99.0}, kDouble).to(kBFloat16).set_requires_grad(true);
  const Variable shares = autograd::grad({narrow.logsumexp(0)}, {narrow})[0];
  CHECK(allclose(shares.to(kDouble), narrow.detach().to(kDouble).softmax(0), 4e-3, 0));
}
