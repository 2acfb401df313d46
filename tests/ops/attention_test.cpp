// scaled_dot_product_attention: masks, dropout, memory, grouped heads and empty shapes.
#include <ebb/ebb.h>

#include "check.h"
#include "support/catch.h"

#include <cmath>

using namespace ebb;

namespace {

/// Attention composed of other ops, with all scores in memory.
Tensor composed(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& factors = {}) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  Tensor weights = softmax(matmul(q, k.transpose(-2, -1)) * scale, -1);
  if (factors.defined()) weights = weights * factors;
  return matmul(weights, v);
}

bool near(const Tensor& a, const Tensor& b, double tolerance) {
  return a.sizes() == b.sizes() && allclose(a.to(kDouble), b.to(kDouble), tolerance, tolerance);
}

Tensor leaf(IntArrayRef sizes, DType dtype = kDouble) { return randn(sizes, dtype).requires_grad_(); }

}  // namespace

TEST_CASE("attention of a query without allowed keys has zeros as output and as gradients") {
  manual_seed(3);
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16})
    for (const bool boolean : {true, false}) {
      INFO(dtype << (boolean ? ", Bool" : ", added"));
      const Tensor q = leaf({2, 1, 3, 4}, dtype), k = leaf({2, 1, 70, 4}, dtype),
                   v = leaf({2, 1, 70, 4}, dtype);
      Tensor allowed = ones({3, 70}, kBool);
      allowed.select(0, 1).fill_(false);
      const Tensor added = zeros({3, 70}, dtype).masked_fill(allowed.logical_not(), -INFINITY);
      const Tensor mask = boolean ? allowed : added.detach().requires_grad_();
      const Tensor y = scaled_dot_product_attention(q, k, v, mask);
      CHECK(y.select(2, 1).eq(0).all().item<bool>());
      CHECK(near(y.select(2, 0), composed(q, k, v).select(2, 0), 0.02));
      y.sum().backward();
      for (const Tensor& x : {q, k, v}) CHECK(x.grad().isfinite().all().item<bool>());
      CHECK(q.grad().select(2, 1).eq(0).all().item<bool>());
      CHECK(q.grad().select(2, 0).ne(0).any().item<bool>());
      if (!boolean) CHECK(mask.grad().select(0, 1).eq(0).all().item<bool>());
    }
  const Tensor q = leaf({2, 4}), k = leaf({3, 4});
  const Tensor none = zeros({2, 3}, kBool);
  const Tensor g = autograd::grad({scaled_dot_product_attention(q, k, k, none)}, {q}, {ones({2, 4}, kDouble)},
                                  true, true)[0];
  CHECK(g.eq(0).all().item<bool>());
  g.sum().backward();
  CHECK(k.grad().eq(0).all().item<bool>());
}

TEST_CASE("attention with a fully masked query has equal gradients with and without create_graph") {
  manual_seed(5);
  const Tensor q = leaf({2, 3, 4}), k = leaf({2, 5, 4}), v = leaf({2, 5, 4}),
               seed = randn({2, 3, 4}, kDouble);
  Tensor allowed = ones({3, 5}, kBool);
  allowed.select(0, 1).fill_(false);
  const auto gradients = [&](bool create_graph) {
    const Tensor y = scaled_dot_product_attention(q, k, v, allowed);
    return autograd::grad({y}, {q, k, v}, {seed}, true, create_graph);
  };
  const auto plain = gradients(false), with_graph = gradients(true);
  for (const std::size_t i : {0, 1, 2}) {
    INFO("gradient " << i);
    CHECK(near(plain[i], with_graph[i], 1e-12));
  }
  const Tensor rows = seed.clone();
  rows.select(1, 1).zero_();
  CHECK(near(with_graph[2].sum(1), rows.sum(1), 1e-12));
}

TEST_CASE("attention ignores masked keys whatever values they hold") {
  const Tensor q = randn({5, 4}), k = randn({7, 4}), v = randn({7, 3});
  Tensor allowed = ones({7}, kBool);
  allowed.slice(0, 4).fill_(false);
  const Tensor expected = scaled_dot_product_attention(q, k.slice(0, 0, 4), v.slice(0, 0, 4));
  k.slice(0, 4).fill_(1e30);
  CHECK(near(scaled_dot_product_attention(q, k, v, allowed), expected, 1e-6));
}

TEST_CASE("attention skips tiles of masked keys unless their values are not finite") {
  for (const DType dtype : {kFloat, kBFloat16}) {
    const Tensor q = randn({1, 2, 60, 8}, dtype), k = randn({1, 2, 400, 8}, dtype),
                 v = randn({1, 2, 400, 5}, dtype), allowed = ones({60, 400}, kBool);
    allowed.slice(1, 128).fill_(false);
    CHECK(equal(scaled_dot_product_attention(q, k, v, allowed),
                scaled_dot_product_attention(q, k.slice(2, 0, 128), v.slice(2, 0, 128))));
    // One query of the second tile of queries sees a key of the third tile of keys.
    allowed.slice(0, 59).slice(1, 300, 301).fill_(true);
    const Tensor added = zeros({60, 400}).masked_fill(allowed.logical_not(), -INFINITY);
    CHECK(
        equal(scaled_dot_product_attention(q, k, v, allowed), scaled_dot_product_attention(q, k, v, added)));
    v.select(1, 1).select(1, 140).fill_(NAN);
    const Tensor y = scaled_dot_product_attention(q, k, v, allowed);
    CHECK(equal(y.isnan().any(-1).any(-1), tensor({false, true}).view({1, 2})));
  }
}

TEST_CASE("the gradients of attention skip tiles of masked keys unless a factor is not finite") {
  for (const DType dtype : {kFloat, kBFloat16}) {
    const Tensor allowed = ones({60, 400}, kBool);
    allowed.slice(1, 128).fill_(false);
    allowed.slice(0, 59).slice(1, 300, 301).fill_(true);
    const Tensor added = zeros({60, 400}).masked_fill(allowed.logical_not(), -INFINITY);
    // A value that is not finite in one of the operands: the index of the operand, or none.
    for (const int spoiled : {-1, 0, 1, 2, 3}) {
      const Tensor operands[] = {randn({1, 2, 60, 8}, dtype), randn({1, 2, 400, 8}, dtype),
                                 randn({1, 2, 400, 5}, dtype), randn({1, 2, 60, 5}, dtype)};
      if (spoiled >= 0)
        operands[spoiled].select(1, 1).select(1, spoiled == 1 || spoiled == 2 ? 140 : 7).fill_(INFINITY);
      const auto gradients = [&](const Tensor& mask) {
        const variable_list inputs = {operands[0].detach().requires_grad_(),
                                      operands[1].detach().requires_grad_(),
                                      operands[2].detach().requires_grad_()};
        const Tensor y = scaled_dot_product_attention(inputs[0], inputs[1], inputs[2], mask);
        return autograd::grad({y}, inputs, {operands[3]});
      };
      const variable_list skipped = gradients(allowed), computed = gradients(added);
      for (std::size_t i = 0; i < 3; ++i) {
        INFO(spoiled << ", input " << i);
        // An infinite score and the mask's -inf add up to NaN.
        if (spoiled != 1) CHECK(allclose(skipped[i], computed[i], 0, 0, true));
      }
      bool finite = true;
      for (const Tensor& gradient : skipped) finite = finite && gradient.isfinite().all().item<bool>();
      CHECK(finite == (spoiled < 0));
    }
  }
}

TEST_CASE("attention with very large scores selects the best key and has finite gradients") {
  const Tensor q = randn({40, 8}) * 1e4, k = randn({100, 8}) * 1e4, v = randn({100, 8});
  Tensor a = q.detach().requires_grad_(), b = k.detach().requires_grad_(), c = v.detach().requires_grad_();
  const Tensor y = scaled_dot_product_attention(a, b, c);
  // The weight of the key with the largest score is 1.
  const Tensor best = matmul(q.to(kDouble), k.to(kDouble).t()).argmax(-1);
  CHECK(near(y, v.index_select(0, best), 1e-5));
  y.sum().backward();
  for (const Tensor& x : {a, b, c}) CHECK(x.grad().isfinite().all().item<bool>());
  CHECK(scaled_dot_product_attention(q * NAN, k, v).isnan().all().item<bool>());
}

TEST_CASE("attention equals its composed form for sizes of several tiles in every floating dtype") {
  manual_seed(5);
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16})
    for (const std::int64_t width : {1, 17, 32, 96, 128, 256, 300}) {
      INFO(dtype << ", head size " << width);
      const Tensor q = leaf({1, 2, 131, width}, dtype), k = leaf({1, 2, 259, width}, dtype),
                   v = leaf({1, 2, 259, width}, dtype), g = randn({1, 2, 131, width}, dtype);
      const auto wide = [](const Tensor& x) { return x.detach().to(kDouble).requires_grad_(); };
      const Tensor qd = wide(q), kd = wide(k), vd = wide(v);
      const Tensor y = scaled_dot_product_attention(q, k, v), expected = composed(qd, kd, vd);
      const double tolerance = dtype == kDouble  ? 1e-12
                               : dtype == kFloat ? 2e-5
                               : dtype == kHalf  ? 2e-3
                                                 : 2e-2;
      CHECK(near(y, expected, tolerance));
      y.backward(g);
      expected.backward(g.to(kDouble));
      CHECK(near(q.grad(), qd.grad(), 2 * tolerance));
      CHECK(near(k.grad(), kd.grad(), 2 * tolerance));
      CHECK(near(v.grad(), vd.grad(), 2 * tolerance));
    }
}

TEST_CASE("causal attention allows the keys up to the position of the query") {
  for (const auto& [queries, keys] : {std::pair(150, 150), std::pair(70, 200), std::pair(200, 70)}) {
    INFO(queries << " queries, " << keys << " keys");
    const Tensor q = leaf({queries, 8}), k = leaf({keys, 8}), v = leaf({keys, 8}),
                 g = randn({queries, 8}, kDouble);
    const Tensor allowed = ones({queries, keys}, kLong).tril().to(kBool);
    const variable_list causal =
        autograd::grad({scaled_dot_product_attention(q, k, v, {}, 0, true)}, {q, k, v}, {g});
    const variable_list masked =
        autograd::grad({scaled_dot_product_attention(q, k, v, allowed)}, {q, k, v}, {g});
    for (std::size_t i = 0; i < 3; ++i) CHECK(near(causal[i], masked[i], 1e-12));
  }
}

TEST_CASE("attention with enable_gqa equals attention with repeated keys and values") {
  const Tensor q = leaf({2, 6, 50, 8}), k = leaf({2, 2, 140, 8}), v = leaf({2, 2, 140, 5}),
               g = randn({2, 6, 50, 5}, kDouble);
  const auto repeated = [](const Tensor& x) { return x.repeat_interleave(3, 1); };
  const variable_list grouped =
      autograd::grad({scaled_dot_product_attention(q, k, v, {}, 0, false, {}, true)}, {q, k, v}, {g});
  const variable_list wide =
      autograd::grad({scaled_dot_product_attention(q, repeated(k), repeated(v))}, {q, k, v}, {g});
  for (std::size_t i = 0; i < 3; ++i) CHECK(near(grouped[i], wide[i], 1e-12));
}

TEST_CASE("attention accepts heads that are a transposed view") {
  const Tensor x = randn({2, 30, 3, 8}), q = x.transpose(1, 2);
  CHECK(near(scaled_dot_product_attention(q, q, q), composed(q, q, q), 1e-5));
  const Tensor apart = randn({2, 3, 8, 30}).transpose(2, 3);
  CHECK(near(scaled_dot_product_attention(q, apart, apart), composed(q, apart, apart), 1e-5));
}

TEST_CASE("attention without queries or keys or features has the right shape and zero gradients") {
  const auto run = [](IntArrayRef q, IntArrayRef k, IntArrayRef v) {
    const Tensor a = leaf(q), b = leaf(k), c = leaf(v);
    const Tensor y = scaled_dot_product_attention(a, b, c);
    y.sum().backward();
    for (const Tensor& x : {a, b, c}) CHECK(x.grad().eq(0).all().item<bool>());
    return y.detach();
  };
  CHECK(run({2, 0, 4}, {2, 3, 4}, {2, 3, 5}).sizes() == IntArrayRef({2, 0, 5}));
  CHECK(equal(run({2, 3, 4}, {2, 0, 4}, {2, 0, 5}), zeros({2, 3, 5}, kDouble)));
  CHECK(run({0, 3, 4}, {0, 3, 4}, {0, 3, 5}).sizes() == IntArrayRef({0, 3, 5}));
  CHECK(run({2, 3, 4}, {2, 3, 4}, {2, 3, 0}).sizes() == IntArrayRef({2, 3, 0}));
  const Tensor v = randn({3, 2}, kDouble);
  CHECK(near(scaled_dot_product_attention(zeros({2, 0}, kDouble), zeros({3, 0}, kDouble), v),
             v.mean(0, true).expand({2, 2}), 1e-12));
}

TEST_CASE("attention uses one dropout mask for the result and its derivatives of every order") {
  const std::int64_t queries = 60, keys = 150;
  Tensor q = leaf({2, 2, queries, 8}), k = leaf({2, 2, keys, 8});
  const Tensor identity = eye(keys, kDouble).expand({2, 2, keys, keys});
  const double p = 0.3;
  // With an identity as values, the result is the attention weights.
  const auto weights = [&] {
    manual_seed(21);
    return scaled_dot_product_attention(q, k, identity, {}, p).detach();
  };
  const Tensor plain = scaled_dot_product_attention(q, k, identity).detach(), factors = weights() / plain;
  CHECK(equal(weights(), weights()));
  const Tensor dropped = factors.lt(0.5);
  const double share = dropped.to(kDouble).mean().item<double>();
  CHECK(share == Approx(p).margin(0.01));
  CHECK(near(factors.masked_select(dropped.logical_not()),
             full({1}, 1 / (1 - p), kDouble).expand({dropped.logical_not().sum().item<std::int64_t>()}),
             1e-9));
  const Tensor mask = dropped.logical_not().to(kDouble) / (1 - p);
  const auto derivatives = [&](const Tensor& v, const std::function<Tensor()>& f) {
    const Tensor g = full({2, 2, queries, 3}, 0.5, kDouble).requires_grad_();
    variable_list all = autograd::grad({f()}, {q, k, v}, {g}, true, true);
    Tensor total = zeros({}, kDouble);
    for (const Tensor& x : all) total = total + (x * x).sum();
    for (const Tensor& x : autograd::grad({total}, {q, k, v, g})) all.push_back(x);
    // These gradients come from the kernels, which do not record.
    for (const Tensor& x : autograd::grad({f()}, {q, k, v}, {g.detach()})) all.push_back(x);
    return all;
  };
  const Tensor v = leaf({2, 2, keys, 3});
  const variable_list fused = derivatives(v, [&] {
    manual_seed(21);
    return scaled_dot_product_attention(q, k, v, {}, p);
  });
  const variable_list other = derivatives(v, [&] { return composed(q, k, v, mask); });
  REQUIRE(fused.size() == other.size());
  for (std::size_t i = 0; i < fused.size(); ++i) {
    INFO("gradient " << i);
    CHECK(near(fused[i], other[i], 1e-9));
  }
  CHECK(scaled_dot_product_attention(q, k, v, {}, 1.0).eq(0).all().item<bool>());
}

TEST_CASE("the memory of attention grows linearly with the sequence length") {
  const auto peak = [](std::int64_t steps) {
    const Tensor q = leaf({1, 16, steps, 32}, kFloat), k = leaf({1, 16, steps, 32}, kFloat),
                 v = leaf({1, 16, steps, 32}, kFloat);
    const std::size_t before = memory_stats().current;
    reset_peak();
    scaled_dot_product_attention(q, k, v, {}, 0, true).sum().backward();
    return static_cast<double>(memory_stats().peak - before);
  };
  const double once = peak(1024), twice = peak(2048);
  CHECK(twice < 2.2 * once);
  CHECK(twice < 2048.0 * 2048 * 16 * 4 / 4);  // a quarter of the memory of all scores
}

TEST_CASE("attention broadcasts masks over several batch dimensions") {
  const Tensor q = leaf({2, 3, 2, 5, 4}), k = leaf({2, 3, 2, 7, 4}), v = leaf({2, 3, 2, 7, 4});
  for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{
           {5, 7}, {2, 1, 7}, {3, 1, 5, 7}, {2, 1, 1, 5, 7}, {1, 1, 2, 5, 1}}) {
    const Tensor mask = leaf(sizes);
    const auto by_ops = softmax(matmul(q, k.transpose(-2, -1)) / 2 + mask, -1);
    const Tensor g = randn({2, 3, 2, 5, 4}, kDouble);
    const variable_list expected = autograd::grad({matmul(by_ops, v)}, {q, mask}, {g});
    const variable_list got = autograd::grad({scaled_dot_product_attention(q, k, v, mask)}, {q, mask}, {g});
    INFO(IntArrayRef(sizes));
    CHECK(near(got[0], expected[0], 1e-12));
    CHECK(near(got[1], expected[1], 1e-12));
  }
}

TEST_CASE("attention of 16-bit queries accepts a Float mask and gives it a Float gradient") {
  const Tensor q = leaf({5, 4}, kBFloat16), k = leaf({7, 4}, kBFloat16), mask = leaf({5, 7}, kFloat);
  const Tensor y = scaled_dot_product_attention(q, k, k, mask);
  CHECK(y.dtype() == kBFloat16);
  y.sum().backward();
  CHECK(mask.grad().dtype() == kFloat);
  const Tensor wide = mask.detach().to(kDouble).requires_grad_();
  scaled_dot_product_attention(q.to(kDouble), k.to(kDouble), k.to(kDouble), wide).sum().backward();
  CHECK(near(mask.grad(), wide.grad(), 0.02));
}
