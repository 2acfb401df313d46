// Sorting, selecting, unique values, counting; ties, limits, NaN and signed zeros.
#include "check.h"

#include <algorithm>
#include <tuple>

// Sorting, selecting, unique values, counting.

using namespace reduce_test;
using ebb::kDouble;

namespace {

Variable vector(std::initializer_list<double> values) {
  return ebb::tensor(std::vector<double>(values), kDouble);
}

}  // namespace

TEST_CASE("sort orders every line and returns the source indices") {
  for (ebb::DType dtype :
       {kDouble, ebb::kFloat, ebb::kHalf, ebb::kBFloat16, ebb::kLong, ebb::kInt, ebb::kShort, ebb::kChar})
    for (const std::vector<std::int64_t>& sizes :
         std::vector<std::vector<std::int64_t>>{{1}, {50}, {4, 7}, {3, 30, 2}})
      for (bool descending : {false, true}) {
        const Variable x = ramp(sizes, -60, 60).to(dtype);
        for (std::int64_t d = 0; d < x.dim(); ++d)
          for (const Variable& t : {x, x.transpose(0, -1)}) {
            const auto [values, indices] = t.sort(d, descending);
            CHECK(values.dtype() == dtype);
            CHECK(same_bits(values, t.gather(d, indices)));
            const Variable steps = values.to(kDouble).diff(1, d);
            CHECK((descending ? steps.le(0) : steps.ge(0)).all().item<bool>());
            CHECK(same_bits(indices, t.argsort(d, descending)));
          }
      }
  check_close(std::get<0>(ebb::tensor({true, false, true}).sort()), {0, 1, 1}, 0);
  check_close(std::get<0>(ebb::full({3}, 200, ebb::kByte).sort()), {200, 200, 200}, 0);
  CHECK(std::get<0>(ebb::tensor(3.).sort()).dim() == 0);
  CHECK(std::get<0>(ebb::zeros({3, 0}).sort()).sizes() == ebb::IntArrayRef({3, 0}));
}

TEST_CASE("sort is stable with NaN as the largest value and equal signed zeros") {
  check_close(std::get<1>(ebb::tensor({1, 0, 1, 0, 1}).sort(true, 0, true)), {0, 2, 4, 1, 3}, 0);
  check_close(std::get<1>(ebb::tensor({1, 0, 1, 0, 1}).sort()), {1, 3, 0, 2, 4}, 0);
  const Variable x = vector({1, kNan, -kInf, 2, kNan, kInf});
  check_close(std::get<0>(x.sort()), {-kInf, 1, 2, kInf, kNan, kNan}, 0);
  check_close(std::get<1>(x.sort(0, true)), {1, 4, 5, 3, 0, 2}, 0);
  check_close(std::get<1>(vector({0., -0., 0.}).to(ebb::kFloat).sort()), {0, 1, 2}, 0);
}

TEST_CASE("topk, kthvalue, median and mode have the right values") {
  const Variable x = vector({5, 1, 4, 4, 2, 3, 9, 0}).view({2, 4});
  const auto [values, indices] = x.topk(2);
  check_close(values, {5, 4, 9, 3}, 0);
  check_close(indices, {0, 2, 2, 1}, 0);
  check_close(std::get<0>(x.topk(1, 0, false)), {2, 1, 4, 0}, 0);
  CHECK(std::get<0>(x.topk(0)).sizes() == ebb::IntArrayRef({2, 0}));
  check_close(std::get<0>(x.kthvalue(2)), {4, 2}, 0);
  check_close(std::get<1>(x.kthvalue(1, 0, true)), {1, 0, 0, 1}, 0);
  check_close(std::get<0>(x.median(1)), {4, 2}, 0);
  CHECK(x.median().item<double>() == 3);
  CHECK(std::isnan(vector({1, kNan, 3}).median().item<double>()));
  CHECK(vector({4, kNan, 3, 2}).nanmedian().item<double>() == 3);
  CHECK(std::isnan(vector({kNan}).nanmedian().item<double>()));
  CHECK(std::isnan(ebb::zeros({0}).median().item<double>()));
  // The median along a strided dimension.
  const Variable columns = ebb::stack({vector({4, 1, 3}), vector({kNan, 5, 6}), vector({2, kNan, 9})}, 1);
  check_close(std::get<0>(columns.median(0)), {3, kNan, kNan}, 0);
  check_close(std::get<1>(columns.median(0)), {2, 0, 1}, 0);
  check_close(std::get<0>(columns.nanmedian(0)), {3, 5, 2}, 0);
  const auto [value, index] = ebb::mode(ebb::tensor({1, 2, 2, 3, 4, 4, 5, 5}).view({2, 4}), 1);
  check_close(value, {2, 4}, 0);
  check_close(index, {2, 1}, 0);
  CHECK_THROWS_WITH(x.topk(5), support::Contains("topk: selected index k out of range: expected 0 to 4 for"));
  CHECK_THROWS_WITH(x.kthvalue(0),
                    support::Contains("kthvalue: selected number k out of range: expected 1 to"));
  CHECK_THROWS_WITH(x.kthvalue(5),
                    support::Contains("kthvalue: selected number k out of range: expected 1 to"));
  CHECK_THROWS_MATCHES(x.sort(2), ebb::IndexError,
                       support::Saying("sort: Dimension out of range (expected to be in range of"));
  CHECK_THROWS_WITH(ebb::zeros({0, 2}).median(0),
                    support::Contains("median: Expected reduction dim 0 to have non-zero size"));
  CHECK_THROWS_WITH(ebb::zeros({0, 2}).mode(0),
                    support::Contains("mode: Expected reduction dim 0 to have non-zero size, got"));
}

TEST_CASE("sorting and selecting ops have the right derivatives") {
  const Variable x = ramp({3, 4}, -2, 2);
  check_derivatives([](const Variable& t) { return std::get<0>(t.sort(0, true)).square(); }, x);
  check_derivatives([](const Variable& t) { return std::get<0>(t.topk(2)).square(); }, x);
  check_derivatives([](const Variable& t) { return std::get<0>(t.kthvalue(3)).square(); }, x);
  check_derivatives([](const Variable& t) { return std::get<0>(t.median(0, true)).square(); }, x);
  check_derivatives([](const Variable& t) { return t.median().square(); }, x);
  check_derivatives([](const Variable& t) { return std::get<0>(t.mode(1)).square(); }, x);
  check_derivatives([](const Variable& t) { return ebb::msort(t).square(); }, x);
  check_derivatives([](const Variable& t) { return t.quantile(0.4, 1); }, x);
  check_close(gradient([](const Variable& t) { return t.median(); }, vector({2, 2, 5})), {0.5, 0.5, 0}, 0);
}

TEST_CASE("quantile and nanquantile have the right values") {
  const Variable v = vector({4, 1, 3, 2});
  CHECK(v.quantile(0.4).item<double>() == Approx(2.2));
  check_close(v.quantile(vector({0, 0.5, 1})), {1, 2.5, 4}, 1e-15);
  CHECK(v.quantile(0.4, 0, false, "lower").item<double>() == 2);
  CHECK(v.quantile(0.4, 0, false, "higher").item<double>() == 3);
  CHECK(v.quantile(0.4, 0, false, "midpoint").item<double>() == 2.5);
  CHECK(v.quantile(0.9, 0, false, "nearest").item<double>() == 4);
  const Variable m = ramp({2, 3, 4});
  CHECK(m.quantile(0.5, 1).sizes() == ebb::IntArrayRef({2, 4}));
  CHECK(m.quantile(0.5, 1, true).sizes() == ebb::IntArrayRef({2, 1, 4}));
  CHECK(m.quantile(vector({0.1, 0.2}), 0).sizes() == ebb::IntArrayRef({2, 3, 4}));
  CHECK(m.quantile(vector({0.1, 0.2}), ebb::nullopt, true).sizes() == ebb::IntArrayRef({2, 1, 1, 1}));
  check_close(m.quantile(0.5, 1), elements(std::get<0>(m.median(1))), 1e-15);
  CHECK(std::isnan(vector({1, kNan}).quantile(0.1).item<double>()));
  CHECK_THROWS_WITH(v.quantile(1.5), support::Contains("quantile: q must be in the range [0, 1], got 1.5"));
  CHECK_THROWS_WITH(v.quantile(0.5, 0, false, "cubic"),
                    support::Contains("quantile: interpolation must be one of linear, lower"));
}

TEST_CASE("unique, unique_dim and unique_consecutive have the right values") {
  const Variable v = ebb::tensor({3, 1, 2, 3, 1, 1}).view({2, 3});
  const auto [values, inverse, counts] = ebb::_unique2(v, true, true, true);
  check_close(values, {1, 2, 3}, 0);
  check_close(inverse, {2, 0, 1, 2, 0, 0}, 0);
  CHECK(inverse.sizes() == v.sizes());
  check_close(counts, {3, 1, 2}, 0);
  const auto [plain, none] = ebb::_unique(v);
  check_close(plain, {1, 2, 3}, 0);
  CHECK(none.numel() == 0);
  const Variable m = ebb::tensor({1, 2, 0, 5, 1, 2}).view({3, 2});
  const auto [rows, row_inverse, row_counts] = ebb::unique_dim(m, 0, true, true, true);
  check_close(rows, {0, 5, 1, 2}, 0);
  check_close(row_inverse, {1, 0, 1}, 0);
  check_close(row_counts, {1, 2}, 0);
  check_close(std::get<0>(ebb::unique_dim(m.t(), 1)), {0, 1, 5, 2}, 0);
  const auto [runs, run_inverse, run_counts] = ebb::unique_consecutive(ebb::tensor({1, 1, 2, 1}), true, true);
  check_close(runs, {1, 2, 1}, 0);
  check_close(run_inverse, {0, 0, 1, 2}, 0);
  check_close(run_counts, {2, 1, 1}, 0);
  check_close(std::get<0>(ebb::_unique2(vector({kNan, 1, kNan, 1}))), {1, kNan, kNan}, 0);
  CHECK(std::get<0>(ebb::_unique2(ebb::zeros({0}))).numel() == 0);
  CHECK(std::get<0>(ebb::_unique2(ebb::tensor(5.))).numel() == 1);
}

TEST_CASE("bincount, histc, searchsorted and bucketize have the right values") {
  check_close(ebb::bincount(ebb::tensor({0, 1, 1, 4})), {1, 2, 0, 0, 1}, 0);
  check_close(ebb::bincount(ebb::tensor({0, 1, 1}), vector({0.5, 1, 2}), 4), {0.5, 3, 0, 0}, 0);
  CHECK(ebb::zeros({0}, ebb::kLong).bincount({}, 3).numel() == 3);
  CHECK_THROWS_WITH(ebb::bincount(ebb::tensor({-1})),
                    support::Contains("bincount: only supports 1-d non-negative integral inputs"));
  CHECK_THROWS_WITH(ebb::bincount(vector({1})),
                    support::Contains("bincount: only supports 1-d non-negative integral inputs"));
  check_close(ebb::histc(vector({1, 2, 1, 4}), 4, 0, 4), {0, 2, 1, 1}, 0);
  check_close(vector({1, 2, 5}).histc(2), {2, 1}, 0);
  const Variable sorted = vector({1, 3, 5});
  check_close(ebb::searchsorted(sorted, vector({0, 3, 9})), {0, 1, 3}, 0);
  check_close(ebb::bucketize(vector({0, 3, 9}), sorted, false, true), {0, 2, 3}, 0);
  CHECK(ebb::searchsorted(sorted, 4).item<std::int64_t>() == 2);
  CHECK(ebb::searchsorted(sorted, vector({4}), true).dtype() == ebb::kInt);
  const Variable lines = vector({1, 3, 5, 2, 4, 6}).view({2, 3});
  check_close(ebb::searchsorted(lines, vector({3, 4, 5, 3}).view({2, 2}), false, false, "right"),
              {2, 2, 2, 1}, 0);
  CHECK_THROWS_WITH(ebb::searchsorted(lines, vector({1})),
                    support::Contains("searchsorted: the sequences of shape [2, 3] should be"));
}

// Sorting and counting ops at ties, limits, NaN and signed zeros.

using namespace op_tests;

namespace {

Variable doubles(const Values& x) {
  Variable out = ebb::empty({static_cast<std::int64_t>(x.size())}, ebb::kDouble);
  std::copy(x.begin(), x.end(), out.data_ptr<double>());
  return out;
}

}  // namespace

TEST_CASE("bincount has at least minlength bins and more for larger values") {
  CHECK(values(ebb::bincount(longs({1, 1, 2}), {}, 5)) == Values{0, 2, 1, 0, 0});
  CHECK(values(ebb::bincount(longs({1, 1, 2}), {}, 2)) == Values{0, 2, 1});
  CHECK(values(ebb::bincount(longs({}), {}, 2)) == Values{0, 0});
}

TEST_CASE("histc counts the maximum in the last bin and widens the range of equal values") {
  CHECK(values(ebb::histc(doubles({0, 1, 2, 4, 4}), 4, 0, 4)) == Values{1, 1, 1, 2});
  CHECK(values(ebb::histc(doubles({-1, 0, 4, 5}), 2, 0, 4)) == Values{1, 1});
  CHECK(values(ebb::histc(doubles({1, 2, 3}), 2)) == Values{1, 2});
  CHECK(values(ebb::histc(doubles({3, 3, 3}), 4)) == Values{0, 0, 3, 0});
  CHECK(values(ebb::histc(doubles({0, 0}), 5)) == Values{0, 0, 2, 0, 0});
}

TEST_CASE("searchsorted returns the position before or after equal values as side and right specify") {
  const Variable sequence = doubles({1, 2, 2, 3}), x = doubles({0, 1, 2, 3, 4});
  const Values left = {0, 0, 1, 3, 4}, right = {0, 1, 3, 4, 4};
  CHECK(values(ebb::searchsorted(sequence, x)) == left);
  CHECK(values(ebb::searchsorted(sequence, x, false, false, "left")) == left);
  CHECK(values(ebb::searchsorted(sequence, x, false, true)) == right);
  CHECK(values(ebb::searchsorted(sequence, x, false, false, "right")) == right);
  CHECK(values(ebb::searchsorted(sequence, x, false, true, "right")) == right);
}

TEST_CASE("isin finds exactly the test elements, including the extreme and repeated ones") {
  const Variable x = doubles({0, 1, 2, 3, 4, 5}), among = doubles({4, 1, 2, 2});
  CHECK(values(ebb::isin(x, among)) == Values{0, 1, 1, 0, 1, 0});
  CHECK(values(ebb::isin(x, among, false, true)) == Values{1, 0, 0, 1, 0, 1});
}

TEST_CASE("quantile interpolates, and a NaN affects only its own line") {
  const Variable x = doubles({0, 1, 10, 20});
  const double q = 0.25;  // rank 0.75
  CHECK(ebb::quantile(x, q).item<double>() == 0.75);
  CHECK(ebb::quantile(x, q, {}, false, "midpoint").item<double>() == 0.5);
  CHECK(ebb::quantile(x, q, {}, false, "lower").item<double>() == 0);
  CHECK(ebb::quantile(x, q, {}, false, "higher").item<double>() == 1);
  CHECK(ebb::quantile(x, q, {}, false, "nearest").item<double>() == 1);
  const Variable lines = doubles({NAN, 1, 2, 3, 4, 5}).view({2, 3});
  for (const char* how : {"linear", "midpoint", "lower", "higher", "nearest"}) {
    INFO(how);
    const Values found = values(ebb::quantile(lines, 0.0, 1, false, how));
    CHECK(std::isnan(found[0]));
    CHECK(found[1] == 3);
    CHECK(std::isnan(ebb::quantile(lines, 0.0, {}, false, how).item<double>()));
  }
  const Variable box = op_tests::ramp({2, 3, 4}), both = doubles({0.2, 0.7});
  CHECK(shape(ebb::quantile(box, both, 1, true)) == Shape{2, 2, 1, 4});
  CHECK(shape(ebb::quantile(box, both, 0, true)) == Shape{2, 1, 3, 4});
  CHECK(shape(ebb::quantile(box, both, 1)) == Shape{2, 2, 4});
  CHECK(shape(ebb::quantile(box, 0.5, 1, true)) == Shape{2, 1, 4});
}

TEST_CASE("median returns the lower of two middle values and gives it the whole gradient") {
  const Variable x = doubles({4, 1, 3, 2}).set_requires_grad(true);
  const Variable middle = ebb::median(x);
  CHECK(middle.item<double>() == 2);
  CHECK(std::get<1>(ebb::median(x, 0)).item<std::int64_t>() == 3);
  middle.backward();
  CHECK(values(x.grad()) == Values{0, 0, 0, 1});
  CHECK(ebb::nanmedian(doubles({NAN, 4, 1, NAN, 3, 2})).item<double>() == 2);
  CHECK(std::isnan(ebb::median(doubles({NAN, 4, 1})).item<double>()));
}

TEST_CASE("mode returns the smallest of equally frequent values") {
  CHECK(std::get<0>(ebb::mode(doubles({5, 1, 5, 1, 3}), 0)).item<double>() == 1);
  CHECK(std::get<0>(ebb::mode(doubles({5, 3, 1}), 0)).item<double>() == 1);
  CHECK(std::get<0>(ebb::mode(doubles({5, 1, 5, 1, 5}), 0)).item<double>() == 5);
}

TEST_CASE("sort places NaN last or first if descending and preserves the order of signed zeros") {
  for (const ebb::DType dtype : {ebb::kFloat, ebb::kDouble, ebb::kHalf, ebb::kBFloat16}) {
    INFO(dtype);
    const Variable x = doubles({1, NAN, 0, -0.0, 0, -0.0, -1, INFINITY, -INFINITY}).to(dtype);
    CHECK(values(std::get<1>(ebb::sort(x, 0))) == Values{8, 6, 2, 3, 4, 5, 0, 7, 1});
    CHECK(values(std::get<1>(ebb::sort(x, 0, true))) == Values{1, 7, 0, 2, 3, 4, 5, 6, 8});
  }
}

TEST_CASE("topk with largest=false returns the smallest values") {
  const Variable x = doubles({3, 1, 4, 1.5, 9});
  CHECK(values(std::get<0>(ebb::topk(x, 2, 0, false))) == Values{1, 1.5});
  CHECK(values(std::get<1>(ebb::topk(x, 2, 0, false))) == Values{1, 3});
  CHECK(values(std::get<0>(ebb::topk(x, 2, 0, true))) == Values{9, 4});
}

TEST_CASE("kthvalue accepts k from 1 to the length of the line") {
  const Variable x = doubles({3, 1, 2});
  CHECK(std::get<0>(ebb::kthvalue(x, 1, 0)).item<double>() == 1);
  CHECK(std::get<0>(ebb::kthvalue(x, 3, 0)).item<double>() == 3);
  CHECK_THROWS_WITH(ebb::kthvalue(x, 0, 0),
                    support::Contains("kthvalue: selected number k out of range: expected 1 to"));
  CHECK_THROWS_WITH(ebb::kthvalue(x, 4, 0),
                    support::Contains("kthvalue: selected number k out of range: expected 1 to"));
}
