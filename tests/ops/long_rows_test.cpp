// Large arrays use other algorithms and several threads: results equal those of small arrays, and sums stay
// accurate.
#include <ebb/ebb.h>

#include "check.h"
#include "support/catch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

// Large arrays use other algorithms than small ones; the results must be equal.

using namespace ebb;

namespace {

constexpr std::int64_t kMany = 3000;

// Returns values that occur at least twice, with both signs, and NaN and infinities for floating dtypes.
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

// Returns whether a sorts before b: NaN is the largest.
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

TEST_CASE("sort and topk of many elements agree with a stable sort for every dtype") {
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
  // Keys that differ only in their highest byte, and equal keys.
  const Tensor high =
      tensor({std::int64_t{1} << 56, std::int64_t{0}, -(std::int64_t{1} << 56)}).repeat({200});
  CHECK(std::get<1>(high.sort(0)).equal(tensor(order_of(high, false))));
  CHECK(std::get<1>(zeros({1000}).sort(0, true)).equal(arange(1000)));
}

TEST_CASE("unique of many elements finds the values, inverse indices and counts") {
  for (const DType dtype : {kDouble, kFloat, kLong, kByte}) {
    CAPTURE(dtype);
    const Tensor x = dtype == kByte ? mixed(kLong).remainder(250).to(kByte) : mixed(dtype);
    const auto [values, inverse, counts] = _unique2(x, true, true, true);
    CHECK(counts.sum().item<std::int64_t>() == kMany);
    const Tensor again = values.index_select(0, inverse);
    CHECK(((again == x) | (x != x)).all().item<bool>());
    const Tensor numbers = values.masked_select(values == values).to(kDouble);
    CHECK((numbers.diff() > 0).all().item<bool>());
    // NaN is not equal to another NaN.
    CHECK(values.ne(values).sum().item<std::int64_t>() == x.ne(x).sum().item<std::int64_t>());
  }
}

TEST_CASE("searchsorted gives the same results for many and for few values") {
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

TEST_CASE("cumsum along contiguous lines is bitwise equal to cumsum along strided lines") {
  for (const std::int64_t width : {33, 300}) {
    const Tensor x = randn({19, width});
    for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
      const Tensor a = x.clone().to(dtype).requires_grad_(), b = a.detach().clone().requires_grad_();
      const Tensor along = a.cumsum(1), across = b.t().contiguous().cumsum(0).t();
      CHECK(along.equal(across));
      CHECK(along.equal(a.detach().to(kDouble).cumsum(1).to(dtype)));
      const Tensor weights = randn({19, width}).to(dtype);
      along.backward(weights);
      across.backward(weights);
      CHECK(a.grad().equal(b.grad()));
      CHECK(a.grad().equal(weights.to(kDouble).flip(1).cumsum(1).flip(1).to(dtype)));
    }
  }
}

TEST_CASE("cummax and cummin along strided lines equal those along contiguous lines") {
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kInt, kUInt8}) {
    Tensor x = randint(0, 9, {150, 33}, kLong).to(dtype);
    if (is_floating(dtype)) x.view({-1}).slice(0, 0, 5000, 701).fill_(NAN);
    const Tensor lines = x.t().contiguous();
    for (const bool largest : {true, false}) {
      const auto [values, indices] = largest ? x.cummax(1) : x.cummin(1);
      const auto [strided, strided_indices] = largest ? lines.cummax(0) : lines.cummin(0);
      CHECK(strided.t().to(kDouble).allclose(values.to(kDouble), 0, 0, /*equal_nan=*/true));
      CHECK(strided_indices.t().equal(indices));
    }
  }
}

TEST_CASE("extremes and softmax of 16-bit tensors equal those of the same values in Float, rounded") {
  for (const DType dtype : {kHalf, kBFloat16})
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{70, 300}, {300, 9}, {5, 1100}, {4100, 8}, {2, 33, 40}}) {
      Tensor x = randn(shape).to(dtype);
      x.view({-1})[7].fill_(NAN);
      x.view({-1})[30].fill_(-INFINITY);
      const Tensor wide = x.to(kFloat);
      for (std::int64_t dim = 0; dim < x.dim(); ++dim) {
        INFO(dtype << " " << x.sizes() << " dim " << dim);
        for (const bool largest : {true, false}) {
          const auto same = [&](const Tensor& a, const Tensor& b) {
            CHECK(a.to(kFloat).allclose(b, 0, 0, /*equal_nan=*/true));
          };
          same(largest ? x.amax(dim) : x.amin(dim), largest ? wide.amax(dim) : wide.amin(dim));
          const auto [values, indices] = largest ? x.max(dim) : x.min(dim);
          const auto [wide_values, wide_indices] = largest ? wide.max(dim) : wide.min(dim);
          same(values, wide_values);
          CHECK(indices.equal(wide_indices));
        }
        CHECK(x.sum(dim).allclose(wide.sum(dim).to(dtype), 0, 0, true));
        for (const bool log : {true, false}) {
          const double rounding = dtype == kHalf ? 1e-3 : 8e-3;
          const Tensor a = x.detach().clone().requires_grad_(), b = wide.detach().clone().requires_grad_();
          const Tensor y = log ? a.log_softmax(dim) : a.softmax(dim);
          const Tensor z = log ? b.log_softmax(dim) : b.softmax(dim);
          CHECK(y.to(kFloat).allclose(z, rounding, 1e-7, true));
          const Tensor g = randn(shape).to(dtype);
          y.backward(g);
          z.backward(g.to(kFloat));
          CHECK(a.grad().to(kFloat).allclose(b.grad(), 4 * rounding, rounding, true));
        }
      }
    }
}

TEST_CASE("a sum over at most 16 rows of a matrix is bitwise equal to adding the rows one by one") {
  const Tensor x = randn({21, 1100});
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 7, 8, 15, 16}) {
    Tensor sum = x[0];
    for (std::int64_t r = 1; r < rows; ++r) sum = sum + x[r];
    CHECK(x.slice(0, 0, rows).sum(0).equal(sum));
  }
}

TEST_CASE("interpolate along the innermost axis equals interpolate along another axis") {
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

TEST_CASE("nonzero finds the same indices in every layout") {
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

TEST_CASE("gather and scatter report an index out of bounds at every position of a line") {
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

// Sums of very many floats: a plain float sum loses accuracy and stops at 2^24.

using namespace op_tests;
namespace F = ebb::nn::functional;

namespace {

constexpr std::int64_t kTerms = std::int64_t{1} << 20;
constexpr double kTerm = 0.7f, kSum = kTerms * kTerm, kProducts = kTerms * kTerm * kTerm;

struct Sum {
  const char* name;
  double expected;
  std::function<Variable(const Variable&)> run;  // the first element of the result is a sum of kTerms terms
};

Variable places() { return zeros({1}, kLong).expand({kTerms}); }

// Returns the gradient of x = 0 for the result use(x), with `grad` as incoming gradient.
Variable gradient(IntArrayRef sizes, const Variable& grad,
                  const std::function<Variable(const Variable&)>& use) {
  const Variable x = zeros(sizes, requires_grad());
  const Variable y = use(x);
  y.backward(grad.expand(y.sizes()));
  return x.grad();
}

Variable weight_gradient(const Variable& x, std::int64_t groups, std::int64_t channels) {
  const Variable images = x.view({1, 1, kTerms}).expand({1, channels, kTerms});
  return gradient({channels, channels / groups, 1}, x.view({1, 1, kTerms}),
                  [&](const Variable& w) { return conv1d(images, w, {}, 1, 0, 1, groups); });
}

const Sum kSums[] = {
    {"dot", kProducts, [](const Variable& x) { return dot(x, x); }},
    {"mv by rows", kProducts, [](const Variable& x) { return mv(x.unsqueeze(0), x); }},
    {"mv by columns", kProducts,
     [](const Variable& x) { return mv(x.unsqueeze(1).expand({kTerms, 2}).contiguous().t(), x); }},
    {"addmv", kProducts + 1, [](const Variable& x) { return addmv(ones({1}), x.unsqueeze(0), x); }},
    {"mm", kProducts,
     [](const Variable& x) {
       return mm(x.unsqueeze(0).expand({9, kTerms}), x.unsqueeze(1).expand({kTerms, 9}));
     }},
    {"addmm", kProducts + 1,
     [](const Variable& x) {
       return addmm(ones({1}), x.unsqueeze(0).expand({2, kTerms}), x.unsqueeze(1).expand({kTerms, 9}));
     }},
    {"conv1d by its weight", kProducts, [](const Variable& x) { return weight_gradient(x, 1, 3); }},
    {"conv1d of groups by its weight", kProducts, [](const Variable& x) { return weight_gradient(x, 3, 3); }},
    {"scatter_add", kSum, [](const Variable& x) { return zeros({3}).scatter_add(0, places(), x); }},
    {"scatter_add along columns", kSum,
     [](const Variable& x) {
       return zeros({1, 9}).scatter_add(0, places().unsqueeze(1).expand({kTerms, 9}),
                                        x.unsqueeze(1).expand({kTerms, 9}));
     }},
    {"scatter_add to a place among many", kSum,
     [](const Variable& x) { return zeros({2 * kTerms}).scatter_add(0, places(), x); }},
    {"scatter_reduce mean", kTerm,
     [](const Variable& x) { return zeros({1}).scatter_reduce(0, places(), x, "mean", false); }},
    {"index_add", kSum, [](const Variable& x) { return zeros({2}).index_add(0, places(), x); }},
    {"index_add of rows", kSum,
     [](const Variable& x) {
       return zeros({2, 9}).index_add(0, places(), x.unsqueeze(1).expand({kTerms, 9}));
     }},
    {"segment_reduce", kSum,
     [](const Variable& x) { return segment_reduce(x, "sum", full({1}, kTerms, kLong)); }},
    {"bincount", kSum, [](const Variable& x) { return bincount(places(), x); }},
    {"as_strided by its input", kSum,
     [](const Variable& x) { return gradient({1}, x, [](auto& t) { return t.as_strided({kTerms}, {0}); }); }},
    {"replication_pad1d by its input", kSum,
     [](const Variable& x) {
       return gradient({1, 1, 1}, x, [](auto& t) { return replication_pad1d(t, {kTerms - 1, 0}); });
     }},
    {"interpolate by its input", kSum,
     [](const Variable& x) {
       const auto options =
           F::InterpolateFuncOptions().size(std::vector<std::int64_t>{kTerms}).mode(kNearest);
       return gradient({1, 1, 1}, x, [&](auto& t) { return F::interpolate(t, options); });
     }},
    {"avg_pool1d", kTerm, [](const Variable& x) { return avg_pool1d(x.view({1, 1, kTerms}), kTerms); }},
    {"conv1d", kSum,
     [](const Variable& x) { return conv1d(x.reshape({1, kTerms, 1}), ones({1, kTerms, 1})); }},
    {"conv1d with a bias and many results", kSum / 2 + 1,
     [](const Variable& x) {
       const Variable y = x.slice(0, 0, kTerms / 2).reshape({1, kTerms / 2, 1});
       return conv1d(y, ones({1}).expand({16, kTerms / 2, 1}), ones({16}));
     }},
    {"conv_transpose1d", kSum,
     [](const Variable& x) { return conv_transpose1d(x.reshape({1, kTerms, 1}), ones({kTerms, 1, 1})); }},
    {"conv_transpose1d with a stride", kSum / 2,
     [](const Variable& x) {
       const Variable y = x.slice(0, 0, kTerms / 2).reshape({1, kTerms / 2, 1});
       return conv_transpose1d(y, ones({1}).expand({kTerms / 2, 1, 2}), {}, 2);
     }},
    {"cdist", kSum / 8,
     [](const Variable& x) {
       return cdist(x.slice(0, 0, kTerms / 8).unsqueeze(0), zeros({1, kTerms / 8}), 1);
     }},
    {"cdist by its input", -kSum,
     [](const Variable& x) {
       return gradient({1, 1}, x.unsqueeze(0), [](auto& t) { return cdist(t, ones({kTerms, 1}), 1); });
     }},
    {"rms_norm", 1, [](const Variable& x) { return rms_norm(x, {kTerms}, {}, 0); }},
    {"layer_norm by its bias", kSum,
     [](const Variable& x) {
       const Variable y = arange(8.0).expand({kTerms, 8});
       return gradient({8}, x.unsqueeze(1), [&](auto& b) { return layer_norm(y, {8}, ones({8}), b); });
     }},
    {"scaled_dot_product_attention", kTerm,
     [](const Variable& x) {
       const Variable keys = zeros({1, 1, kTerms, 1});
       return scaled_dot_product_attention(zeros({1, 1, 1, 1}), keys, x.view({1, 1, kTerms, 1}));
     }},
    {"log_softmax of columns", -std::log(1 + (kTerms - 1) * std::exp(-kTerm)),
     [](const Variable& x) {
       const Variable y = x.clone().unsqueeze(1).expand({kTerms, 9}).contiguous();
       y[0].mul_(2);
       return log_softmax(y, 0);
     }},
};

}  // namespace

TEST_CASE("long float sums have a relative error of at most 1e-5 in every layout") {
  const Variable term = full({1}, kTerm);
  const Variable layouts[] = {term.expand({kTerms}), full({kTerms}, kTerm),
                              full({kTerms, 2}, kTerm).select(1, 0)};
  for (const Sum& sum : kSums)
    for (const Variable& x : layouts) {
      INFO(sum.name << ", strides " << x.strides());
      const double got = sum.run(x).flatten()[0].item<double>();
      CHECK(std::abs(got - sum.expected) <= 1e-5 * std::abs(sum.expected));
    }
}

TEST_CASE("dot, cumsum and logsumexp accumulate 16-bit values in a wider dtype") {
  constexpr std::int64_t kMore = std::int64_t{3} << 23;
  const Variable x = ones({1}, kBFloat16).expand({kMore});
  CHECK(dot(x, x).item<float>() == kMore);
  CHECK(cumsum(x, 0)[-1].item<float>() == kMore);
  CHECK(std::abs(logsumexp(zeros({100000}, kHalf), 0).item<double>() - std::log(1e5)) < 0.01);
}

TEST_CASE("ctc_loss is accurate for a very large number of time steps") {
  constexpr std::int64_t kSteps = 100000;
  const Variable x = full({1, 1, 1}, -std::log(2.0), kFloat).expand({kSteps, 1, 2});
  const double loss =
      ctc_loss(x, zeros({1, 0}, kLong), IntArrayRef({kSteps}), IntArrayRef({0}), 1, Reduction::Sum)
          .item<double>();
  CHECK(std::abs(loss / (kSteps * std::log(2.0)) - 1) < 1e-6);
}

// Results do not depend on the number of threads.

TEST_CASE("elementwise ops on large arrays have equal results with one and three threads") {
  const Variable x = (ramp({301, 1001}).sin() * 3).to(ebb::kFloat), row = ramp({1001}).sin().to(ebb::kFloat);
  const auto run = [&](int threads) {
    const int before = ebb::get_num_threads();
    ebb::set_num_threads(threads);
    std::vector<Variable> out = {
        ebb::exp(x),  x * row,    x.t() + 1, ebb::tanh(x.t()), ebb::where(x > 0, x, 0),
        ebb::gelu(x), ebb::sin(x)};
    ebb::set_num_threads(before);
    return out;
  };
  const std::vector<Variable> one = run(1), two = run(3);
  for (std::size_t i = 0; i < one.size(); ++i) {
    const Variable a = one[i].contiguous(), b = two[i].contiguous();
    CHECK(std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0);
  }
}

TEST_CASE("index_add adds every row once for every number of threads and row length") {
  for (const auto& [places, row] :
       {std::pair(512, 32), std::pair(500, 33), std::pair(64, 100), std::pair(3, 400), std::pair(512, 8)}) {
    INFO(places << " places, rows of " << row);
    const std::int64_t count = (std::int64_t{1} << 21) / row;
    const Variable index = ebb::remainder(ebb::arange(count, ebb::kLong) * 7 + 1, places);
    const Variable rows = ebb::remainder(ebb::arange(count * row, ebb::kDouble), 13).view({count, row});
    Values expected(static_cast<std::size_t>(places * row));
    for (std::int64_t j = 0; j < count; ++j)
      for (std::int64_t k = 0; k < row; ++k)
        expected[static_cast<std::size_t>((7 * j + 1) % places * row + k)] +=
            static_cast<double>((j * row + k) % 13);
    const Variable zeros = ebb::zeros({places, row}, ebb::kDouble);
    for (const int threads : {1, 2, 7, 16}) {
      const int before = ebb::get_num_threads();
      ebb::set_num_threads(threads);
      const Variable added = zeros.index_add(0, index, rows), put = zeros.index_put({index}, rows, true);
      const Variable scattered = zeros.scatter_add(0, index.unsqueeze(1).expand_as(rows), rows);
      const Variable most = zeros.index_reduce(0, index, rows, "amax");
      ebb::set_num_threads(before);
      CHECK(values(added) == expected);
      CHECK(values(put) == expected);
      CHECK(values(scattered) == expected);
      CHECK(most.max().item<double>() == 12);
    }
  }
}
