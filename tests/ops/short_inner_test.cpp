// Elementwise ops over arrays whose inner dimension is short, longer than a buffer of the walk in all.
#include <ebb/ebb.h>

#include <vector>

#include "support/catch.h"

using ebb::Variable;

namespace {

Variable numbers(const std::vector<std::int64_t>& sizes, ebb::ScalarType dtype) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return ebb::arange(count, ebb::kLong).mul(5).remainder(11).view(sizes).to(dtype);
}

// The same numbers: dense, with gaps between rows, with gaps within rows, by columns, and from behind in a
// wider array.
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

// Sums and fused sums of every pair of layouts beside those of dense, broadcast copies.
void check_pairs(const std::vector<std::int64_t>& a_sizes, const std::vector<std::int64_t>& b_sizes,
                 ebb::ScalarType dtype) {
  const Variable a = numbers(a_sizes, dtype), b = numbers(b_sizes, dtype);
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

TEST_CASE("short inner dimensions in every layout and broadcast") {
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

TEST_CASE("a short inner dimension beside a single number") {
  const Variable x = numbers({400, 3}, ebb::kFloat), spread = ebb::zeros({400, 6}).slice(1, 0, 6, 2);
  spread.copy_(x);
  CHECK(ebb::equal(spread * ebb::tensor(2.0f), x * 2));
  CHECK(ebb::equal(ebb::addcmul(spread, spread, ebb::tensor(2.0f)), x * 3));
  CHECK(ebb::equal(ebb::where(spread > 3, spread, ebb::tensor(3.0f)), x.clamp_min(3)));
}
