// softmax and log_softmax: values, layouts, dtypes, derivatives, infinities.
#include "reduce_support.h"

#include <memory>
#include <vector>

using namespace reduce_test;
using ebb::kDouble;
using ebb::kFloat;

namespace {

std::vector<double> naive_softmax(const Variable& x, std::int64_t dim, bool log) {
  const std::vector<double> v = elements(x);
  std::int64_t inner = 1;
  for (std::int64_t d = dim + 1; d < x.dim(); ++d) inner *= x.size(d);
  const std::int64_t n = x.dim() == 0 ? 1 : x.size(dim);
  std::vector<double> out(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    const std::size_t start = i / static_cast<std::size_t>(inner * n) * static_cast<std::size_t>(inner * n) +
                              i % static_cast<std::size_t>(inner);
    double total = 0;
    for (std::int64_t k = 0; k < n; ++k) total += std::exp(v[start + static_cast<std::size_t>(k * inner)]);
    out[i] = log ? v[i] - std::log(total) : std::exp(v[i]) / total;
  }
  return out;
}

}  // namespace

TEST_CASE("softmax agrees with loops over shapes, dims and layouts") {
  for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{
           {7}, {1}, {3, 5}, {5, 200}, {200, 5}, {2, 3, 4}, {2, 5, 70}, {3, 300, 9}, {2, 5000}}) {
    const Variable x = ramp(sizes, -4, 4);
    for (std::int64_t d = 0; d < x.dim(); ++d) {
      for (const Variable& t : {x, x.transpose(0, -1)}) {
        check_close(t.softmax(d), naive_softmax(t, d, false), 1e-13);
        check_close(t.log_softmax(d), naive_softmax(t, d, true), 1e-13);
        check_close(t.to(kFloat).softmax(d), naive_softmax(t, d, false), 1e-6);
        check_close(t.to(kFloat).log_softmax(d - t.dim()), naive_softmax(t, d, true), 2e-6);
        check_close(t.to(ebb::kHalf).softmax(d), naive_softmax(t.to(ebb::kHalf), d, false), 1e-3);
      }
    }
  }
  CHECK(ebb::tensor(3., kDouble).softmax(0).item<double>() == 1);
  CHECK(ebb::tensor(3., kDouble).log_softmax(-1).item<double>() == 0);
}

TEST_CASE("softmax of far and infinite values") {
  const Variable far = ebb::tensor({1000., 999., -1000.}, kDouble);
  check_close(far.softmax(0), {1 / (1 + std::exp(-1)), 1 / (1 + std::exp(1)), 0}, 1e-14);
  check_close(far.log_softmax(0),
              {-std::log1p(std::exp(-1)), -1 - std::log1p(std::exp(-1)), -2000 - std::log1p(std::exp(-1))},
              1e-14);
  check_close(ebb::tensor({-kInf, 1., 1.}, kDouble).softmax(0), {0, 0.5, 0.5}, 0);
  check_close(ebb::tensor({-kInf, 1., 1.}, kFloat).softmax(0), {0, 0.5, 0.5}, 1e-7);
  const Variable masked = ebb::full({40, 40}, -kInf).fill_diagonal_(3);  // more than any register holds
  for (const ebb::DType dtype : {kFloat, kDouble})
    for (const std::int64_t dim : {0, 1})
      CHECK(ebb::equal(masked.to(dtype).softmax(dim), ebb::eye(40, dtype)));
  check_close(ebb::full({2}, -kInf, kDouble).softmax(0), {kNan, kNan}, 0);
  check_close(ebb::tensor({kNan, 1.}, kDouble).softmax(0), {kNan, kNan}, 0);
}

TEST_CASE("derivatives of softmax") {
  for (const Variable& x : {ramp({2, 3}, -2, 2), ramp({3, 2, 9}, -2, 2)})
    for (std::int64_t d = 0; d < x.dim(); ++d) {
      check_derivatives([=](const Variable& t) { return t.softmax(d); }, x);
      check_derivatives([=](const Variable& t) { return t.log_softmax(d); }, x);
      check_derivatives([=](const Variable& t) { return t.transpose(0, 1).softmax(d).exp(); }, x);
      // The gradient op by itself, in both of its inputs, twice.
      const Variable y = (x * 0.7).requires_grad_(true), g = ramp(x.sizes(), 0, 1, 0.9).requires_grad_(true);
      for (const bool log : {false, true}) {
        const auto f = [=](const ebb::variable_list& in) -> ebb::variable_list {
          return {(log ? ebb::_log_softmax_backward_data : ebb::_softmax_backward_data)(in[0], in[1], d,
                                                                                        kDouble)};
        };
        CHECK(ebb::gradcheck(f, {g, y.detach().requires_grad_(true)}));
        CHECK(ebb::gradgradcheck(f, {g, y.detach().requires_grad_(true)}));
      }
    }
}

TEST_CASE("dtypes and errors of softmax") {
  CHECK(ebb::softmax(ebb::tensor({1, 2, 3}), 0, kDouble).dtype() == kDouble);
  CHECK(ebb::softmax(ebb::zeros({0, 3}), 1).sizes() == ebb::IntArrayRef({0, 3}));
  CHECK_THROWS_WITH(ebb::softmax(ebb::tensor({1, 2}), 0),
                    support::Contains("softmax: expected a floating-point tensor, got Long[2] on"));
  CHECK_THROWS_MATCHES(ebb::softmax(ramp({2}), 1), ebb::IndexError,
                       support::Saying("softmax: Dimension out of range (expected to be in range"));
  const Variable half = ramp({4}).to(ebb::kHalf).requires_grad_(true);
  const Variable wide = ebb::_softmax(half, 0, true);
  CHECK(wide.dtype() == kFloat);
  wide.select(0, 0).backward();
  CHECK(half.grad().dtype() == ebb::kHalf);
  const Variable x = ramp({4}).to(kFloat).requires_grad_(true);
  x.softmax(0, kDouble).select(0, 1).backward();
  CHECK(x.grad().dtype() == kFloat);
}

TEST_CASE("softmax of lines that lie apart has the same bits wherever its buffers are") {
  for (const std::int64_t n : {4, 9, 20}) {
    const Variable x = ebb::randn({n, 3}, kDouble), expected = ebb::softmax(x, 0);
    std::vector<std::unique_ptr<char[]>> between;  // the next buffer comes to lie elsewhere
    int others = 0;
    for (std::size_t i = 0; i < 64; ++i) {
      between.push_back(std::make_unique<char[]>(16 * i + 8));
      others += !ebb::equal(ebb::softmax(x, 0), expected);
    }
    CHECK(others == 0);
  }
}
