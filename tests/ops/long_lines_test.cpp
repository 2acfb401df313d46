// Many elements take other ways than a few: what comes out is the same.
#include <ebb/ebb.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "support/catch.h"

using namespace ebb;

namespace {

constexpr std::int64_t kMany = 3000;

// Every value twice or more, both signs, and of floating dtypes NaN and infinities.
Tensor mixed(DType dtype) {
  manual_seed(3);
  Tensor x =
      is_floating(dtype) ? (randn({kMany}, kDouble) * 100).round() / 4 : randint(-120, 120, {kMany}, kLong);
  if (is_floating(dtype)) {
    x[5] = x[kMany - 3] = std::numeric_limits<double>::quiet_NaN();
    x[70] = std::numeric_limits<double>::infinity();
    x[700] = -x[70];
    x[9] = 0.0;
    x[8] = -0.0;
  }
  return x.to(dtype);
}

// Before the other as sort() has it: NaN is the largest.
bool before(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

std::vector<std::int64_t> order_of(const Tensor& x, bool descending) {
  const Tensor wide = x.to(kDouble);
  const double* const values = wide.data_ptr<double>();
  std::vector<std::int64_t> order(static_cast<std::size_t>(x.numel()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return descending ? before(values[b], values[a]) : before(values[a], values[b]);
  });
  return order;
}

}  // namespace

TEST_CASE("many elements of every dtype are sorted as a stable sort sorts them") {
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16, kLong, kInt, kShort, kChar})
    for (const bool descending : {false, true}) {
      CAPTURE(dtype, descending);
      const Tensor x = mixed(dtype);
      const auto [values, indices] = x.sort(0, descending);
      CHECK(indices.equal(tensor(order_of(x, descending))));
      const Tensor picked = x.index_select(0, indices);
      CHECK(((values == picked) | (values != values)).all().item<bool>());
      const auto [best, places] = x.topk(10, 0, descending);
      CHECK(places.equal(indices.slice(0, 0, 10)));
      CHECK(std::get<1>(x.topk(kMany / 2, 0, descending)).equal(indices.slice(0, 0, kMany / 2)));
    }
  // Keys that differ in their highest byte alone, and in none.
  const Tensor high =
      tensor({std::int64_t{1} << 56, std::int64_t{0}, -(std::int64_t{1} << 56)}).repeat({200});
  CHECK(std::get<1>(high.sort(0)).equal(tensor(order_of(high, false))));
  CHECK(std::get<1>(zeros({1000}).sort(0, true)).equal(arange(1000)));
}

TEST_CASE("of many elements what differs, its counts and its places are found") {
  for (const DType dtype : {kDouble, kFloat, kLong, kByte}) {
    CAPTURE(dtype);
    const Tensor x = dtype == kByte ? mixed(kLong).remainder(250).to(kByte) : mixed(dtype);
    const auto [values, inverse, counts] = _unique2(x, true, true, true);
    CHECK(counts.sum().item<std::int64_t>() == kMany);
    const Tensor again = values.index_select(0, inverse);
    CHECK(((again == x) | (x != x)).all().item<bool>());
    const Tensor numbers = values.masked_select(values == values).to(kDouble);
    CHECK((numbers.diff() > 0).all().item<bool>());
    // No NaN is another's equal.
    CHECK(values.ne(values).sum().item<std::int64_t>() == x.ne(x).sum().item<std::int64_t>());
  }
}

TEST_CASE("many values are searched for as few are") {
  for (const DType dtype : {kDouble, kFloat, kInt})
    for (const bool right : {false, true}) {
      CAPTURE(dtype, right);
      const Tensor x = mixed(dtype), line = std::get<0>(x.slice(0, 0, 100).sort());
      const Tensor places = searchsorted(line, x, false, right);
      for (const std::int64_t i : {0L, 5L, 8L, 9L, 70L, 700L, 1234L, kMany - 1})
        CHECK(places[i].item<std::int64_t>() ==
              searchsorted(line, x.slice(0, i, i + 1), false, right).item<std::int64_t>());
      const Tensor of_each =
          searchsorted(line.expand({30, 100}).contiguous(), x.view({30, 100}), false, right);
      CHECK(of_each.view({kMany}).equal(places));
    }
}

TEST_CASE("contiguous lines are summed up as lines that lie apart are") {
  const Tensor x = randn({19, 33});
  for (const DType dtype : {kFloat, kDouble, kBFloat16}) {
    const Tensor a = x.clone().to(dtype).requires_grad_(), b = a.detach().clone().requires_grad_();
    const Tensor along = a.cumsum(1), across = b.t().contiguous().cumsum(0).t();
    CHECK(along.equal(across));
    const Tensor weights = randn({19, 33}).to(dtype);
    along.backward(weights);
    across.backward(weights);
    CHECK(a.grad().equal(b.grad()));
  }
}

TEST_CASE("sums over rows do not depend on how many rows are read at once") {
  const Tensor x = randn({21, 1100});
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 7, 8, 15, 16}) {
    Tensor sum = x[0];
    for (std::int64_t r = 1; r < rows; ++r) sum = sum + x[r];
    CHECK(x.slice(0, 0, rows).sum(0).equal(sum));
  }
}

TEST_CASE("the innermost axis is resized as any other is") {
  const Tensor x = randn({2, 3, 5, 7}, kDouble);
  namespace F = nn::functional;
  for (const auto& [mode, width] : std::vector<std::pair<F::InterpolateFuncOptions::mode_t, std::int64_t>>{
           {kNearest, 17}, {kBilinear, 17}, {kBicubic, 17}, {kBilinear, 4}, {kNearest, 4}}) {
    const auto resized = [&, &how = mode](const Tensor& of, std::int64_t rows, std::int64_t columns) {
      return F::interpolate(
          of, F::InterpolateFuncOptions().size(std::vector<std::int64_t>{rows, columns}).mode(how));
    };
    const Tensor a = x.clone().requires_grad_(), b = x.clone().requires_grad_();
    const Tensor inner = resized(a, 5, width), outer = resized(b.transpose(2, 3).contiguous(), width, 5);
    CHECK(allclose(inner, outer.transpose(2, 3), 1e-14, 1e-14));
    const Tensor weights = randn_like(inner);
    inner.backward(weights);
    outer.backward(weights.transpose(2, 3).contiguous());
    CHECK(allclose(a.grad(), b.grad(), 1e-14, 1e-14));
  }
}

TEST_CASE("places of what is not zero are found in any layout") {
  const Tensor x = (rand({7, 40, 3}) > 0.5).to(kFloat);
  const Tensor places = x.nonzero();
  CHECK(places.size(0) == static_cast<std::int64_t>(x.sum().item<float>()));
  CHECK(places.equal(x.transpose(0, 2).contiguous().transpose(0, 2).nonzero()));
  CHECK((x.index({places.select(1, 0), places.select(1, 1), places.select(1, 2)}) == 1).all().item<bool>());
  CHECK(zeros({5, 4}).nonzero().sizes() == IntArrayRef({0, 2}));
  CHECK(ones({}).nonzero().sizes() == IntArrayRef({1, 0}));
  CHECK(zeros({}).nonzero().sizes() == IntArrayRef({0, 0}));
  CHECK(ones({3, 0}).nonzero().sizes() == IntArrayRef({0, 2}));
}

TEST_CASE("an index out of bounds is named wherever in a line it stands") {
  const Tensor x = arange(12).view({3, 4});
  for (const std::int64_t wrong : {-1, 4}) {
    Tensor index = zeros({3, 4}, kLong);
    index[2][3] = wrong;
    const std::string what = "index " + std::to_string(wrong) + " is out of bounds";
    CHECK_THROWS_WITH(x.gather(1, index), support::Contains(what));
    CHECK_THROWS_WITH(x.clone().scatter_(1, index, x), support::Contains(what));
    CHECK_THROWS_WITH(x.t().gather(0, index.t()), support::Contains(what));
  }
}
