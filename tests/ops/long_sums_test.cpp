// Sums of very many floats: a float that adds them up one by one drifts, and sticks at 2^24.
#include "check.h"

#include <cmath>
#include <functional>

using namespace op_tests;
using namespace ebb;
namespace F = ebb::nn::functional;

namespace {

constexpr std::int64_t kMany = std::int64_t{1} << 20;
constexpr double kTerm = 0.7f, kSum = kMany * kTerm, kProducts = kMany * kTerm * kTerm;

struct Sum {
  const char* name;
  double expected;
  std::function<Variable(const Variable&)> run;  // of kMany terms; the result is the first element
};

Variable places() { return zeros({1}, kLong).expand({kMany}); }

// The gradient of a `like` of zeros, where that of what `use` makes of it is `grad`.
Variable gradient(IntArrayRef sizes, const Variable& grad,
                  const std::function<Variable(const Variable&)>& use) {
  const Variable x = zeros(sizes, requires_grad());
  const Variable y = use(x);
  y.backward(grad.expand(y.sizes()));
  return x.grad();
}

Variable weight_gradient(const Variable& x, std::int64_t groups, std::int64_t channels) {
  const Variable images = x.view({1, 1, kMany}).expand({1, channels, kMany});
  return gradient({channels, channels / groups, 1}, x.view({1, 1, kMany}),
                  [&](const Variable& w) { return conv1d(images, w, {}, 1, 0, 1, groups); });
}

const Sum kSums[] = {
    {"dot", kProducts, [](const Variable& x) { return dot(x, x); }},
    {"mv by rows", kProducts, [](const Variable& x) { return mv(x.unsqueeze(0), x); }},
    {"mv by columns", kProducts,
     [](const Variable& x) {
       return mv(x.unsqueeze(1).expand({kMany, 2}).contiguous().t(), x);
     }},
    {"addmv", kProducts + 1, [](const Variable& x) { return addmv(ones({1}), x.unsqueeze(0), x); }},
    {"mm", kProducts,
     [](const Variable& x) {
       return mm(x.unsqueeze(0).expand({9, kMany}), x.unsqueeze(1).expand({kMany, 9}));
     }},
    {"addmm", kProducts + 1,
     [](const Variable& x) {
       return addmm(ones({1}), x.unsqueeze(0).expand({2, kMany}), x.unsqueeze(1).expand({kMany, 9}));
     }},
    {"conv1d by its weight", kProducts, [](const Variable& x) { return weight_gradient(x, 1, 3); }},
    {"conv1d of groups by its weight", kProducts, [](const Variable& x) { return weight_gradient(x, 3, 3); }},
    {"scatter_add", kSum, [](const Variable& x) { return zeros({3}).scatter_add(0, places(), x); }},
    {"scatter_add along columns", kSum,
     [](const Variable& x) {
       return zeros({1, 9}).scatter_add(0, places().unsqueeze(1).expand({kMany, 9}),
                                        x.unsqueeze(1).expand({kMany, 9}));
     }},
    {"scatter_add to a place among many", kSum,
     [](const Variable& x) { return zeros({2 * kMany}).scatter_add(0, places(), x); }},
    {"scatter_reduce mean", kTerm,
     [](const Variable& x) { return zeros({1}).scatter_reduce(0, places(), x, "mean", false); }},
    {"index_add", kSum, [](const Variable& x) { return zeros({2}).index_add(0, places(), x); }},
    {"index_add of rows", kSum,
     [](const Variable& x) {
       return zeros({2, 9}).index_add(0, places(), x.unsqueeze(1).expand({kMany, 9}));
     }},
    {"segment_reduce", kSum,
     [](const Variable& x) { return segment_reduce(x, "sum", full({1}, kMany, kLong)); }},
    {"bincount", kSum, [](const Variable& x) { return bincount(places(), x); }},
    {"as_strided by its input", kSum,
     [](const Variable& x) { return gradient({1}, x, [](auto& t) { return t.as_strided({kMany}, {0}); }); }},
    {"replication_pad1d by its input", kSum,
     [](const Variable& x) {
       return gradient({1, 1, 1}, x, [](auto& t) { return replication_pad1d(t, {kMany - 1, 0}); });
     }},
    {"interpolate by its input", kSum,
     [](const Variable& x) {
       const auto options = F::InterpolateFuncOptions().size(std::vector<std::int64_t>{kMany}).mode(kNearest);
       return gradient({1, 1, 1}, x, [&](auto& t) { return F::interpolate(t, options); });
     }},
    {"avg_pool1d", kTerm,
     [](const Variable& x) {
       return avg_pool1d(x.view({1, 1, kMany}), kMany);
     }},
    {"cdist", kSum / 8,
     [](const Variable& x) {
       return cdist(x.slice(0, 0, kMany / 8).unsqueeze(0), zeros({1, kMany / 8}), 1);
     }},
    {"cdist by its input", -kSum,
     [](const Variable& x) {
       return gradient({1, 1}, x.unsqueeze(0), [](auto& t) { return cdist(t, ones({kMany, 1}), 1); });
     }},
    {"rms_norm", 1, [](const Variable& x) { return rms_norm(x, {kMany}, {}, 0); }},
    {"layer_norm by its bias", kSum,
     [](const Variable& x) {
       const Variable y = arange(8.0).expand({kMany, 8});
       return gradient({8}, x.unsqueeze(1), [&](auto& b) { return layer_norm(y, {8}, ones({8}), b); });
     }},
    {"scaled_dot_product_attention", kTerm,
     [](const Variable& x) {
       const Variable keys = zeros({1, 1, kMany, 1});
       return scaled_dot_product_attention(zeros({1, 1, 1, 1}), keys, x.view({1, 1, kMany, 1}));
     }},
    {"log_softmax of columns", -std::log(1 + (kMany - 1) * std::exp(-kTerm)),
     [](const Variable& x) {
       const Variable y = x.clone().unsqueeze(1).expand({kMany, 9}).contiguous();
       y[0].mul_(2);
       return log_softmax(y, 0);
     }},
};

}  // namespace

TEST_CASE("long sums of floats are exact to 1e-5, in any layout") {
  const Variable term = full({1}, kTerm);
  const Variable layouts[] = {term.expand({kMany}), full({kMany}, kTerm),
                              full({kMany, 2}, kTerm).select(1, 0)};
  for (const Sum& sum : kSums)
    for (const Variable& x : layouts) {
      INFO(sum.name << ", strides " << x.strides());
      const double got = sum.run(x).flatten()[0].item<double>();
      CHECK(std::abs(got - sum.expected) <= 1e-5 * std::abs(sum.expected));
    }
}

TEST_CASE("sums that 16-bit numbers and floats cannot count up to are made in wider ones") {
  constexpr std::int64_t kMore = std::int64_t{3} << 23;
  const Variable x = ones({1}, kBFloat16).expand({kMore});
  CHECK(dot(x, x).item<float>() == kMore);
  CHECK(cumsum(x, 0)[-1].item<float>() == kMore);
  CHECK(std::abs(logsumexp(zeros({100000}, kHalf), 0).item<double>() - std::log(1e5)) < 0.01);
}

TEST_CASE("ctc_loss adds up log-probabilities of very many steps") {
  constexpr std::int64_t kSteps = 100000;
  const Variable x = full({1, 1, 1}, -std::log(2.0), kFloat).expand({kSteps, 1, 2});
  const double loss =
      ctc_loss(x, zeros({1, 0}, kLong), IntArrayRef({kSteps}), IntArrayRef({0}), 1, Reduction::Sum)
          .item<double>();
  CHECK(std::abs(loss / (kSteps * std::log(2.0)) - 1) < 1e-6);
}
