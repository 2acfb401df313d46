// Reductions of short rows, which the CPU takes several at a time: the same bits as a row by itself, and
// places of extremes against plain loops.
#include <ebb/ebb.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "support/catch.h"

namespace {

using ebb::Tensor;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Every row of `op(x)` has the bits that the row alone gives.
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

TEST_CASE("sums and extremes of short rows have the bits that each row has alone") {
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
  check_rows(wide.select(1, 1), [](const Tensor& v) { return v.sum(1); });  // rows with gaps
  CHECK(ebb::allclose(wide.sum(2).select(0, 7), wide[7].sum(1)));
  CHECK(ebb::allclose(wide.transpose(0, 1).sum(2), wide.sum(2).t()));
}

TEST_CASE("the first extreme of a row is found in short rows and long ones") {
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
