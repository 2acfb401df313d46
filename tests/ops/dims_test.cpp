// Dimensions: every function accepts negative ones, and ops accept more dimensions than internal fixed-size
// buffers.
#include <ebb/ebb.h>

#include "check.h"
#include "support/catch.h"

#include <numeric>
#include <vector>

// Every function with a dimension argument also accepts negative dimensions.

using namespace op_tests;
using namespace ebb;

namespace {

using Along = std::function<std::vector<Variable>(const Variable& x, std::int64_t dim)>;

template <class... T>
std::vector<Variable> list(const std::tuple<T...>& results) {
  return std::apply([](const auto&... each) { return std::vector<Variable>{each...}; }, results);
}
std::vector<Variable> list(std::vector<Variable> results) { return results; }
std::vector<Variable> list(const Variable& result) { return {result}; }

#define ALONG(...) {#__VA_ARGS__, [](const Variable& x, std::int64_t d) { return list(__VA_ARGS__); }}

// x has 3 x 3 x 3 elements.
const std::pair<const char*, Along> functions[] = {
    ALONG(x.sum(d)),
    ALONG(x.sum(d, true)),
    ALONG(x.mean(d, true)),
    ALONG(x.prod(d)),
    ALONG(x.prod(d, true)),
    ALONG(x.std(d, true, false)),
    ALONG(x.var(d, true, true)),
    ALONG(var_mean(x, d, true, true)),
    ALONG(std_mean(x, d, true, true)),
    ALONG(x.norm(2, d, true)),
    ALONG(x.norm(3, d)),
    ALONG(x.logsumexp(d, true)),
    ALONG(x.nansum(d, true)),
    ALONG(x.nanmean(d, true)),
    ALONG(x.max(d)),
    ALONG(x.max(d, true)),
    ALONG(x.min(d, true)),
    ALONG(x.amax(d, true)),
    ALONG(x.amin(d)),
    ALONG(aminmax(x, d, true)),
    ALONG(x.argmax(d)),
    ALONG(x.argmin(d, true)),
    ALONG(x.any(d)),
    ALONG(x.all(d, true)),
    ALONG(x.median(d)),
    ALONG(x.median(d, true)),
    ALONG(x.nanmedian(d, true)),
    ALONG(x.mode(d, true)),
    ALONG(x.kthvalue(2, d, true)),
    ALONG(x.topk(2, d)),
    ALONG(x.sort(d, true)),
    ALONG(x.argsort(d)),
    ALONG(x.count_nonzero(d)),
    ALONG(x.quantile(0.3, d)),
    ALONG(x.quantile(0.3, d, true)),
    ALONG(x.quantile(tensor({0.3, 0.8}, kDouble), d)),
    ALONG(x.quantile(tensor({0.3, 0.8}, kDouble), d, true)),
    ALONG(x.nanquantile(tensor({0.3, 0.8}, kDouble), d, true)),
    ALONG(x.cumsum(d)),
    ALONG(x.cumprod(d)),
    ALONG(x.cummax(d)),
    ALONG(x.cummin(d)),
    ALONG(x.logcumsumexp(d)),
    ALONG(x.diff(1, d)),
    ALONG(x.softmax(d)),
    ALONG(x.log_softmax(d)),
    ALONG(x.renorm(2, d, 0.7)),
    ALONG(glu(x.repeat({2, 2, 2}), d)),
    ALONG(x.flip(d)),
    ALONG(x.roll(1, d)),
    ALONG(x.select(d, 1)),
    ALONG(x.narrow(d, 1, 2)),
    ALONG(x.slice(d, 0, 3, 2)),
    ALONG(x.index_select(d, longs({2, 0}))),
    ALONG(x.gather(d, longs({2, 0}, {2, 1, 1}))),
    ALONG(x.take_along_dim(x.argsort(d), d)),
    ALONG(x.index_fill(d, longs({1}), 7)),
    ALONG(x.index_add(d, longs({1, 0, 2}), x, 2)),
    ALONG(x.index_copy(d, longs({1, 0, 2}), x)),
    ALONG(x.index_reduce(d, longs({1, 0, 0}), x, "amax")),
    ALONG(x.scatter(d, longs({1}, {1, 1, 1}), 7)),
    ALONG(x.scatter_add(d, longs({1, 0}, {1, 1, 2}), x)),
    ALONG(x.scatter_reduce(d, longs({1, 0}, {1, 1, 2}), x, "prod")),
    ALONG(x.split(2, d)),
    ALONG(x.chunk(2, d)),
    ALONG(x.unbind(d)),
    ALONG(x.tensor_split(2, d)),
    ALONG(x.unflatten(d, {3, 1})),
    ALONG(x.unfold(d, 2, 1)),
    ALONG(x.repeat_interleave(2, d)),
    ALONG(x.transpose(d, 0)),
    ALONG(x.movedim(d, 0)),
    ALONG(x.squeeze(d)),
    ALONG(cat({x, x}, d)),
    ALONG(x.select_scatter(x.select(d, 0), d, 1)),
    ALONG(x.slice_scatter(x.narrow(d, 0, 1), d, 1, 2)),
    ALONG(linalg::vector_norm(x, 3, d, true)),
    ALONG(linalg_cross(x, x.flip({0, 1, 2}), d)),
    ALONG(unique_consecutive(x, true, true, d)),
    ALONG(unique_dim(x, d)),
    ALONG(trapezoid(x, 0.5, d)),
    ALONG(cumulative_trapezoid(x, 0.5, d)),
    ALONG(x.hash_tensor(d)),
    ALONG(cosine_similarity(x, x.flip({0, 1, 2}), d))};
#undef ALONG

}  // namespace

TEST_CASE("dimension arguments may be negative and throw if out of range") {
  const Variable x = ramp({3, 3, 3}) + 1.5;
  for (const auto& [name, along] : functions)
    for (std::int64_t d = 0; d < 3; ++d) {
      INFO(name << ", dimension " << d);
      const std::vector<Variable> expected = along(x, d), got = along(x, d - 3);
      REQUIRE(got.size() == expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        CHECK(shape(got[i]) == shape(expected[i]));
        CHECK(values(got[i]) == values(expected[i]));
      }
      if (d > 0) continue;
      CHECK_THROWS_WITH(along(x, 3), support::Contains("imension"));
      CHECK_THROWS_WITH(along(x, -4), support::Contains("imension"));
    }
}

TEST_CASE("keepdim keeps the reduced dimension with size 1 and quantiles add a dimension before all others") {
  const Variable x = ramp({2, 3, 4});
  for (std::int64_t d = -3; d < 3; ++d) {
    Shape kept = shape(x);
    kept[static_cast<std::size_t>((d + 3) % 3)] = 1;
    CHECK(shape(x.sum(d, true)) == kept);
    CHECK(shape(x.quantile(0.3, d, true)) == kept);
    CHECK(values(x.quantile(0.3, d, true)) == values(x.quantile(0.3, d)));
    kept.insert(kept.begin(), 2);
    CHECK(shape(x.quantile(tensor({0.3, 0.8}, kDouble), d, true)) == kept);
    CHECK(values(x.quantile(tensor({0.3, 0.8}, kDouble), d, true)[1]) == values(x.quantile(0.8, d)));
  }
}

TEST_CASE("rot90 rotates by k modulo 4 quarter turns for every sign of k and every plane") {
  const Variable x = count({2, 3, 3});
  for (const auto& [a, b] : {std::pair(0, 1), std::pair(1, 2), std::pair(2, 0), std::pair(-1, -3)}) {
    Variable turned = x;
    for (std::int64_t k = 0; k < 9; ++k) {
      INFO(k << " quarters from " << a << " to " << b);
      for (const std::int64_t times : {k, k - 4, k - 8, k - 12}) CHECK(equal(x.rot90(times, {a, b}), turned));
      turned = turned.rot90(1, {a, b});
    }
  }
}

// Tensors with more than 64 dimensions, which also exceeds the fixed-size buffers.

namespace {

/// All sizes are 1 except two sizes of 2 that are far apart.
DimVector shape_of(std::size_t dims) {
  DimVector sizes(dims, 1);
  sizes[1] = 2;
  sizes[dims - 2] = 3;
  return sizes;
}

}  // namespace

TEST_CASE("tensors with any number of dimensions can be printed") {
  constexpr std::size_t dims = 200000;
  const std::string opening(dims, '[');
  CHECK(to_string(full(DimVector(dims, 1), 7)).substr(7).starts_with(opening + "7"));
  const std::string text = to_string(arange(6).view(shape_of(dims)));
  CHECK(text.starts_with("tensor(" + opening + "0],\n" + std::string(dims + 5, ' ') + " [1],\n"));
  CHECK(text.ends_with("5" + std::string(dims, ']') + ")"));
  CHECK(to_string(zeros(DimVector(dims, 1)).narrow(0, 0, 0)).starts_with("tensor([],\n       size=(0, 1, "));
}

TEST_CASE("permute, movedim and flip accept more than 64 dimensions") {
  for (const std::size_t dims : {65, 100, 3000}) {
    const Variable x = arange(6).to(kFloat64).view(shape_of(dims)).requires_grad_();
    std::vector<std::int64_t> back(dims);
    std::iota(back.rbegin(), back.rend(), 0);
    const Variable turned = x.permute(back);
    CHECK(turned.size(1) == 3);
    CHECK(turned.size(-2) == 2);
    CHECK(turned.reshape({6}).equal(tensor({0., 3., 1., 4., 2., 5.}, kFloat64)));
    turned.reshape({6}).backward(arange(6).to(kFloat64));
    CHECK(x.grad().reshape({6}).equal(tensor({0., 2., 4., 1., 3., 5.}, kFloat64)));
    const auto last = static_cast<std::int64_t>(dims) - 2;
    const Variable moved = x.movedim({last, 1}, {0, 70 % static_cast<std::int64_t>(dims)});
    CHECK(moved.size(0) == 3);
    CHECK(moved.size(70 % static_cast<std::int64_t>(dims)) == 2);
    CHECK(x.detach().flip({last}).reshape({6}).equal(tensor({2., 1., 0., 5., 4., 3.}, kFloat64)));
    back[0] = back[1];
    CHECK_THROWS_WITH(x.permute(back), support::Contains("permute") && support::Contains("multiple times"));
    CHECK_THROWS_WITH(x.flip({last, -2}), support::Contains("flip") && support::Contains("multiple times"));
    CHECK_THROWS_WITH(x.movedim({0, 0}, {1, 2}), support::Contains("movedim"));
  }
}

TEST_CASE("reductions accept 64 dimensions and throw for 65") {
  const Variable most = arange(6).to(kFloat64).view(shape_of(64)), more = most.view(shape_of(65));
  CHECK(most.sum().item<double>() == 15);
  CHECK(most.prod(1).numel() == 3);
  CHECK(std::get<0>(most.max(1)).reshape({3}).equal(tensor({3., 4., 5.}, kFloat64)));
  const auto refused = [](const std::string& op) {
    return support::StartsWith(op + ": only tensors of up to 64 dimensions can be reduced, got 65");
  };
  CHECK_THROWS_WITH(more.sum(), refused("sum"));
  CHECK_THROWS_WITH(more.mean({64}), refused("mean"));
  CHECK_THROWS_WITH(more.prod(64), refused("prod"));
  CHECK_THROWS_WITH(more.max(), refused("max"));
  CHECK_THROWS_WITH(more.max(64), refused("max"));
  CHECK_THROWS_WITH(more.argmin(1), refused("argmin"));
  CHECK_THROWS_WITH(more.norm(), refused("norm"));
  CHECK_THROWS_WITH(more.any(), refused("any"));
  CHECK_THROWS_WITH(more.kthvalue(1, 64), refused("kthvalue"));
}
