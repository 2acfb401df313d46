// Ops of order and of counts at ties, ends, NaN and zeros of both signs.
#include "check.h"

#include <tuple>

using namespace op_tests;

namespace {

Variable doubles(const Values& x) {
  Variable out = ebb::empty({static_cast<std::int64_t>(x.size())}, ebb::kDouble);
  std::copy(x.begin(), x.end(), out.data_ptr<double>());
  return out;
}

}  // namespace

TEST_CASE("bincount has minlength bins at least, more where the numbers ask for them") {
  CHECK(values(ebb::bincount(longs({1, 1, 2}), {}, 5)) == Values{0, 2, 1, 0, 0});
  CHECK(values(ebb::bincount(longs({1, 1, 2}), {}, 2)) == Values{0, 2, 1});
  CHECK(values(ebb::bincount(longs({}), {}, 2)) == Values{0, 0});
}

TEST_CASE("histc counts the upper end in the last bin, and puts equal numbers amid a range of two") {
  CHECK(values(ebb::histc(doubles({0, 1, 2, 4, 4}), 4, 0, 4)) == Values{1, 1, 1, 2});
  CHECK(values(ebb::histc(doubles({-1, 0, 4, 5}), 2, 0, 4)) == Values{1, 1});
  CHECK(values(ebb::histc(doubles({1, 2, 3}), 2)) == Values{1, 2});
  CHECK(values(ebb::histc(doubles({3, 3, 3}), 4)) == Values{0, 0, 3, 0});
  CHECK(values(ebb::histc(doubles({0, 0}), 5)) == Values{0, 0, 2, 0, 0});
}

TEST_CASE("searchsorted stands before equals, or behind them by either name of the right side") {
  const Variable sequence = doubles({1, 2, 2, 3}), x = doubles({0, 1, 2, 3, 4});
  const Values left = {0, 0, 1, 3, 4}, right = {0, 1, 3, 4, 4};
  CHECK(values(ebb::searchsorted(sequence, x)) == left);
  CHECK(values(ebb::searchsorted(sequence, x, false, false, "left")) == left);
  CHECK(values(ebb::searchsorted(sequence, x, false, true)) == right);
  CHECK(values(ebb::searchsorted(sequence, x, false, false, "right")) == right);
  CHECK(values(ebb::searchsorted(sequence, x, false, true, "right")) == right);
}

TEST_CASE("isin finds the smallest, the largest and the repeated, and nothing between or beyond") {
  const Variable x = doubles({0, 1, 2, 3, 4, 5}), among = doubles({4, 1, 2, 2});
  CHECK(values(ebb::isin(x, among)) == Values{0, 1, 1, 0, 1, 0});
  CHECK(values(ebb::isin(x, among, false, true)) == Values{1, 0, 0, 1, 0, 1});
}

TEST_CASE("quantile interpolates, keeps NaN to its own line, and keeps dimensions in their place") {
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
  const Variable box = ramp({2, 3, 4}), both = doubles({0.2, 0.7});
  CHECK(shape(ebb::quantile(box, both, 1, true)) == Shape{2, 2, 1, 4});
  CHECK(shape(ebb::quantile(box, both, 0, true)) == Shape{2, 1, 3, 4});
  CHECK(shape(ebb::quantile(box, both, 1)) == Shape{2, 2, 4});
  CHECK(shape(ebb::quantile(box, 0.5, 1, true)) == Shape{2, 1, 4});
}

TEST_CASE("median takes the lower of two middles, with the gradient to it alone") {
  const Variable x = doubles({4, 1, 3, 2}).set_requires_grad(true);
  const Variable middle = ebb::median(x);
  CHECK(middle.item<double>() == 2);
  CHECK(std::get<1>(ebb::median(x, 0)).item<std::int64_t>() == 3);
  middle.backward();
  CHECK(values(x.grad()) == Values{0, 0, 0, 1});
  CHECK(ebb::nanmedian(doubles({NAN, 4, 1, NAN, 3, 2})).item<double>() == 2);
  CHECK(std::isnan(ebb::median(doubles({NAN, 4, 1})).item<double>()));
}

TEST_CASE("mode takes the smallest of values equally frequent") {
  CHECK(std::get<0>(ebb::mode(doubles({5, 1, 5, 1, 3}), 0)).item<double>() == 1);
  CHECK(std::get<0>(ebb::mode(doubles({5, 3, 1}), 0)).item<double>() == 1);
  CHECK(std::get<0>(ebb::mode(doubles({5, 1, 5, 1, 5}), 0)).item<double>() == 5);
}

TEST_CASE("sort puts NaN last, first when descending, and keeps zeros of both signs in their order") {
  for (const ebb::DType dtype : {ebb::kFloat, ebb::kDouble, ebb::kHalf, ebb::kBFloat16}) {
    INFO(dtype);
    const Variable x = doubles({1, NAN, 0, -0.0, 0, -0.0, -1, INFINITY, -INFINITY}).to(dtype);
    CHECK(values(std::get<1>(ebb::sort(x, 0))) == Values{8, 6, 2, 3, 4, 5, 0, 7, 1});
    CHECK(values(std::get<1>(ebb::sort(x, 0, true))) == Values{1, 7, 0, 2, 3, 4, 5, 6, 8});
  }
}

TEST_CASE("topk takes the smallest when told") {
  const Variable x = doubles({3, 1, 4, 1.5, 9});
  CHECK(values(std::get<0>(ebb::topk(x, 2, 0, false))) == Values{1, 1.5});
  CHECK(values(std::get<1>(ebb::topk(x, 2, 0, false))) == Values{1, 3});
  CHECK(values(std::get<0>(ebb::topk(x, 2, 0, true))) == Values{9, 4});
}

TEST_CASE("kthvalue counts from 1 to the length of the line") {
  const Variable x = doubles({3, 1, 2});
  CHECK(std::get<0>(ebb::kthvalue(x, 1, 0)).item<double>() == 1);
  CHECK(std::get<0>(ebb::kthvalue(x, 3, 0)).item<double>() == 3);
  CHECK_THROWS_WITH(ebb::kthvalue(x, 0, 0),
                    support::Contains("kthvalue: selected number k out of range: expected 1 to"));
  CHECK_THROWS_WITH(ebb::kthvalue(x, 4, 0),
                    support::Contains("kthvalue: selected number k out of range: expected 1 to"));
}
