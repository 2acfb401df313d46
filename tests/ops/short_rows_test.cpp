// Short rows, which kernels process several at a time: products, reductions and elementwise ops.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

// Products of vectors and matrices with few columns, whose rows are processed several at a time.

using ebb::Variable;

namespace {

// Returns integer values, so that every order of summation has the same result.
Variable numbers(std::int64_t rows, std::int64_t columns, ebb::ScalarType dtype) {
  return ebb::arange(rows * columns, ebb::kLong).mul(7).remainder(23).sub(11).view({rows, columns}).to(dtype);
}

Variable by_sums(const Variable& a, const Variable& x) { return a.contiguous().mul(x).sum(1); }

// Checks each number of rows around the tile size, for matrices at the very end of their memory.
void check_products(ebb::ScalarType dtype) {
  for (std::int64_t columns = 1; columns <= 20; ++columns) {
    const Variable x = numbers(1, columns, dtype).view({columns});
    for (const std::int64_t rows : {1, 2, 7, 8, 9, 15, 16, 17, 40, 301}) {
      INFO(rows << " x " << columns);
      const Variable a = numbers(rows, columns, dtype), y = numbers(1, rows, dtype).view({rows});
      const Variable expected = by_sums(a, x);
      CHECK(ebb::equal(a.mv(x), expected));
      CHECK(ebb::equal(ebb::addmv(y, a, x, 3, -2), y * 3 - expected * 2));
    }
  }
}

// The rows are columns of a wider matrix that contains only NaN elsewhere.
void check_spaced(ebb::ScalarType dtype) {
  for (const std::int64_t columns : {1, 2, 3, 5, 8, 11, 15}) {
    INFO(columns << " columns");
    const Variable all = ebb::full({50, columns + 3}, std::numeric_limits<double>::quiet_NaN(), dtype);
    const Variable a = all.narrow(1, 3, columns), x = numbers(1, columns, dtype).view({columns});
    a.copy_(numbers(50, columns, dtype));
    CHECK(ebb::equal(a.mv(x), by_sums(a, x)));
  }
}

// A row of infinities does not affect adjacent rows.
void check_infinite(ebb::ScalarType dtype) {
  for (const std::int64_t columns : {1, 2, 3, 7, 9, 14}) {
    const Variable a = numbers(80, columns, dtype).clone(),
                   x = numbers(1, columns, dtype).view({columns}) - 20;
    const Variable expected = by_sums(a, x);
    for (const std::int64_t row : {0, 17, 40, 79}) {
      INFO("row " << row << " of " << columns << " columns");
      const Variable b = a.clone();
      b.select(0, row).fill_(std::numeric_limits<double>::infinity());
      const Variable y = b.mv(x);
      CHECK(y.isfinite().sum().item<std::int64_t>() == 79);
      CHECK_FALSE(std::isfinite(y.select(0, row).item<double>()));
      CHECK(
          ebb::equal(y.index_fill(0, ebb::tensor({row}), 0), expected.index_fill(0, ebb::tensor({row}), 0)));
    }
  }
}

}  // namespace

TEST_CASE("products of a matrix with few columns and a vector are right") {
  check_products(ebb::kFloat);
  check_products(ebb::kDouble);
}

TEST_CASE("products of a vector and a few columns of a wider matrix are right") {
  check_spaced(ebb::kFloat);
  check_spaced(ebb::kDouble);
}

TEST_CASE("a row of infinities does not change other rows of a product with few columns") {
  check_infinite(ebb::kFloat);
  check_infinite(ebb::kDouble);
}

// Reductions of short rows, which the CPU processes several at a time: they have the bits of a single row,
// and indices of extremes equal those of plain loops.

namespace {

using ebb::Tensor;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Checks that each row of `op(x)` has the bits of the op on that row alone.
template <class Op>
void check_rows(const Tensor& x, Op op) {
  const Tensor all = op(x).contiguous();
  const auto size = static_cast<std::size_t>(ebb::element_size(all.dtype()));
  int different = 0;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    const Tensor alone = op(x.narrow(0, i, 1)).contiguous();
    different += std::memcmp(static_cast<const char*>(all.data_ptr()) + i * static_cast<std::int64_t>(size),
                             alone.data_ptr(), size) != 0;
  }
  INFO(x.sizes() << " " << x.dtype());
  CHECK(different == 0);
}

std::int64_t place_of_most(const Tensor& row, double sign) {
  std::int64_t best = 0;
  for (std::int64_t k = 0; k < row.size(0); ++k) {
    const double v = sign * row[k].item<double>(), most = sign * row[best].item<double>();
    if (!std::isnan(most) && (std::isnan(v) || v > most)) best = k;
  }
  return best;
}

void check_places(const Tensor& x) {
  const auto [most, at_most] = x.max(1);
  const auto [least, at_least] = x.min(1);
  bool same = true;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    const std::int64_t high = place_of_most(x[i], 1), low = place_of_most(x[i], -1);
    same = same && at_most[i].item<std::int64_t>() == high && at_least[i].item<std::int64_t>() == low;
    const double value = x[i][high].item<double>(), found = most[i].item<double>();
    same = same && (value == found || (std::isnan(value) && std::isnan(found)));
  }
  INFO(x.sizes() << " " << x.dtype());
  CHECK(same);
  CHECK(ebb::equal(x.argmin(1), at_least));
}

}  // namespace

TEST_CASE("sums and extremes of short rows are bitwise equal to each row computed alone") {
  for (const std::int64_t count : {1, 2, 7, 8, 9, 15, 16, 23, 31, 32, 33})
    for (const ebb::DType type : {ebb::kFloat, ebb::kDouble, ebb::kHalf, ebb::kInt, ebb::kByte}) {
      const Tensor x = (ebb::rand({37, count}) * 100).to(type);
      check_rows(x, [](const Tensor& v) { return v.sum(1); });
      check_rows(x, [](const Tensor& v) { return v.prod(1); });
      check_rows(x, [](const Tensor& v) { return v.amax(1); });
      if (!ebb::is_floating(type)) continue;
      check_rows(x, [](const Tensor& v) { return v.mean(1); });
      check_rows(x, [](const Tensor& v) { return v.norm(2, 1); });
      check_rows(x, [](const Tensor& v) { return v.logsumexp(1); });
      check_rows(x, [](const Tensor& v) { return v.var(1); });
    }
  const Tensor wide = ebb::rand({40, 3, 10});
  check_rows(wide.select(1, 1), [](const Tensor& v) { return v.sum(1); });  // strided rows
  CHECK(ebb::allclose(wide.sum(2).select(0, 7), wide[7].sum(1)));
  CHECK(ebb::allclose(wide.transpose(0, 1).sum(2), wide.sum(2).t()));
}

TEST_CASE("argmax and argmin find the first extreme in short and in long rows") {
  for (const std::int64_t count : {1, 2, 9, 16, 32, 33, 127, 128, 129, 300})
    for (const ebb::DType type : {ebb::kFloat, ebb::kDouble, ebb::kBFloat16, ebb::kLong, ebb::kByte})
      check_places(ebb::randint(60, {70, count}, ebb::kLong).to(type));
  for (const std::int64_t count : {10, 200}) {
    Tensor x = ebb::rand({20, count});
    for (std::int64_t i = 0; i < 20; ++i) x[i][(i * 7) % count] = i % 2 ? kNan : 2.0f;
    for (std::int64_t i = 0; i < 20; i += 4) x[i][(i * 7 + 3) % count] = kNan;
    x[19].fill_(kNan);
    x[18].fill_(-std::numeric_limits<float>::infinity());
    check_places(x);
    check_places(ebb::stack({x, x}, 1).select(1, 1));
  }
}

// Elementwise ops over arrays with a short inner dimension that are longer than a buffer of the kernel.

namespace {

Variable counted(const std::vector<std::int64_t>& sizes, ebb::ScalarType dtype) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return ebb::arange(count, ebb::kLong).mul(5).remainder(11).view(sizes).to(dtype);
}

// Returns the same values in several layouts: dense, with gaps between rows, with gaps within rows and
// column-major.
std::vector<Variable> layouts(const Variable& x) {
  const std::vector<std::int64_t> sizes(x.sizes().begin(), x.sizes().end());
  const auto laid = [&](const Variable& place) {
    place.copy_(x);
    return place;
  };
  std::vector<std::int64_t> wide = sizes, twice = sizes;
  wide.back() += 2;
  twice.back() *= 2;
  return {x.contiguous(), laid(ebb::zeros(wide, x.dtype()).narrow(-1, 1, sizes.back())),
          laid(ebb::zeros(twice, x.dtype()).slice(-1, 0, twice.back(), 2)),
          laid(ebb::zeros_like(x).transpose(0, -1).contiguous().transpose(0, -1))};
}

// Compares sums and fused sums for every pair of layouts with those of dense, broadcast copies.
void check_pairs(const std::vector<std::int64_t>& a_sizes, const std::vector<std::int64_t>& b_sizes,
                 ebb::ScalarType dtype) {
  const Variable a = counted(a_sizes, dtype), b = counted(b_sizes, dtype);
  const Variable whole = b.expand_as(a).clone(), sum = a + whole, fused = ebb::addcmul(a, whole, whole);
  for (const Variable& x : layouts(a))
    for (const Variable& y : layouts(b)) {
      CHECK(ebb::equal(x + y, sum));
      CHECK(ebb::equal(y + x, sum));
      CHECK(ebb::equal(ebb::addcmul(x, y, y), fused));
      for (const Variable& out : layouts(ebb::zeros_like(a))) CHECK(ebb::equal(out.copy_(x).add_(y), sum));
    }
}

}  // namespace

TEST_CASE("binary ops with short inner dimensions are right for every layout and broadcast") {
  for (const ebb::ScalarType dtype : {ebb::kUInt8, ebb::kBFloat16, ebb::kFloat, ebb::kDouble})
    for (const std::int64_t inner : {1, 2, 3, 7, 23}) {
      INFO(ebb::toString(dtype) << ", " << inner);
      check_pairs({400, inner}, {400, 1}, dtype);
      check_pairs({400, inner}, {inner}, dtype);
      check_pairs({30, 20, inner}, {30, 1, inner}, dtype);
      check_pairs({30, 20, inner}, {20, 1}, dtype);
      check_pairs({2, 300, inner}, {2, 300, inner}, dtype);
    }
}

TEST_CASE("elementwise ops on strided rows of three elements accept scalar operands") {
  const Variable x = counted({400, 3}, ebb::kFloat), spread = ebb::zeros({400, 6}).slice(1, 0, 6, 2);
  spread.copy_(x);
  CHECK(ebb::equal(spread * ebb::tensor(2.0f), x * 2));
  CHECK(ebb::equal(ebb::addcmul(spread, spread, ebb::tensor(2.0f)), x * 3));
  CHECK(ebb::equal(ebb::where(spread > 3, spread, ebb::tensor(3.0f)), x.clamp_min(3)));
}
