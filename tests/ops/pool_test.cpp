// Pooling against plain loops over windows.
#include "check.h"

using namespace product_test;

namespace {

// One axis of a window with the geometry of torch.
struct Axis {
  std::int64_t in, kernel, stride, padding, dilation, out;
  Axis(std::int64_t n, std::int64_t k, std::int64_t s, std::int64_t p, std::int64_t d, bool ceil)
      : in(n), kernel(k), stride(s), padding(p), dilation(d) {
    const double steps = static_cast<double>(n + 2 * p - d * (k - 1) - 1) / static_cast<double>(s);
    out = static_cast<std::int64_t>(ceil ? std::ceil(steps) : std::floor(steps)) + 1;
    if (ceil && (out - 1) * s >= n + p) --out;
  }
};

double at(const Variable& x, std::int64_t plane, std::int64_t i, std::int64_t j) {
  return value(x, (plane * x.size(-2) + i) * x.size(-1) + j);
}

void check_2d(std::int64_t k, std::int64_t s, std::int64_t p, std::int64_t d, bool ceil) {
  const Variable x = ramp({2, 3, 9, 7});
  const Axis h(9, k, s, p, d, ceil), w(7, k, s, p, d, ceil);
  std::vector<double> greatest, where, mean, mean_inside, mean_by_5;
  for (std::int64_t n = 0; n < 6; ++n)
    for (std::int64_t y = 0; y < h.out; ++y)
      for (std::int64_t z = 0; z < w.out; ++z) {
        double best = -INFINITY, index = -1, sum = 0;
        std::int64_t inside = 0;
        for (std::int64_t i = 0; i < k; ++i)
          for (std::int64_t j = 0; j < k; ++j) {
            const std::int64_t a = y * s - p + i * d, b = z * s - p + j * d;
            if (a < 0 || b < 0 || a >= 9 || b >= 7) continue;
            const double v = at(x, n, a, b);
            if (v > best) best = v, index = static_cast<double>(a * 7 + b);
            sum += v;
            ++inside;
          }
        greatest.push_back(best);
        where.push_back(index);
        const std::int64_t rows = std::min(y * s - p + k, 9 + p) - (y * s - p),
                           cols = std::min(z * s - p + k, 7 + p) - (z * s - p);
        mean.push_back(sum / static_cast<double>(rows * cols));
        mean_inside.push_back(sum / static_cast<double>(inside));
        mean_by_5.push_back(sum / 5);
      }
  const auto [out, indices] = ebb::max_pool2d_with_indices(x, k, s, p, d, ceil);
  CHECK(error(out, greatest) == 0);
  CHECK(error(indices, where) == 0);
  CHECK(indices.dtype() == ebb::kLong);
  CHECK(error(ebb::max_pool2d(x, k, s, p, d, ceil), greatest) == 0);
  CHECK(error(ebb::max_pool2d(x.transpose(2, 3).contiguous().transpose(2, 3), k, s, p, d, ceil), greatest) ==
        0);
  check_grads([&](const Variable& v) { return ebb::max_pool2d(v, k, s, p, d, ceil); }, {leaf({1, 2, 9, 7})});
  if (d > 1) return;
  CHECK(error(ebb::avg_pool2d(x, k, s, p, ceil), mean) < 1e-14);
  CHECK(error(ebb::avg_pool2d(x, k, s, p, ceil, false), mean_inside) < 1e-14);
  CHECK(error(ebb::avg_pool2d(x, k, s, p, ceil, true, 5), mean_by_5) < 1e-14);
  check_grads([&](const Variable& v) { return ebb::avg_pool2d(v, k, s, p, ceil, false); },
              {leaf({1, 2, 9, 7})});
}

}  // namespace

TEST_CASE("2-dimensional pooling equals plain loops") {
  check_2d(2, 2, 0, 1, false);
  check_2d(3, 2, 1, 1, false);
  check_2d(3, 2, 1, 1, true);
  check_2d(2, 3, 1, 1, true);
  check_2d(3, 1, 1, 2, false);
  check_2d(2, 2, 1, 3, true);
  // Rows with one window, or with two that are far apart.
  check_2d(7, 9, 0, 1, false);
  check_2d(3, std::int64_t{1} << 31, 1, 1, false);
  check_2d(3, 8, 1, 2, true);
}

TEST_CASE("pooling over one and three axes agrees with 2-dimensional pooling") {
  const Variable x = ramp({2, 3, 12}), cube = ramp({2, 2, 4, 6, 6});
  CHECK(top(ebb::max_pool1d(x, 3, 2, 1) -
            ebb::max_pool2d(x.unsqueeze(2), {1, 3}, {1, 2}, {0, 1}).squeeze(2)) == 0);
  CHECK(top(ebb::avg_pool1d(x, 3, 2, 1) -
            ebb::avg_pool2d(x.unsqueeze(2), {1, 3}, {1, 2}, {0, 1}).squeeze(2)) == 0);
  CHECK(top(ebb::max_pool3d(cube, {1, 2, 2}) -
            ebb::max_pool2d(cube.flatten(1, 2), 2).view({2, 2, 4, 3, 3})) == 0);
  // Three axes: pooling over two axes and then over the third.
  const Variable deep = ebb::max_pool3d(cube, 2);
  const Variable flat = ebb::max_pool2d(cube.flatten(1, 2), 2).view({2, 2, 2, 2, 3, 3});
  CHECK(top(deep - ebb::maximum(flat.select(3, 0), flat.select(3, 1))) == 0);
  const Variable means = ebb::avg_pool2d(cube.flatten(1, 2), 2).view({2, 2, 2, 2, 3, 3}).mean(3);
  CHECK(top(ebb::avg_pool3d(cube, 2) - means) < 1e-14);
  CHECK(top(ebb::max_pool2d(cube.select(0, 0).select(0, 0), 2) -
            ebb::max_pool2d(cube.select(0, 0), 2).select(0, 0)) == 0);  // unbatched
  check_grads([](const Variable& v) { return ebb::max_pool1d(v, 3, 2, 1); }, {leaf({2, 9})});
  check_grads([](const Variable& v) { return ebb::avg_pool1d(v, 3, 2, 1); }, {leaf({2, 9})});
  check_grads([](const Variable& v) { return ebb::max_pool3d(v, 2, 1, 1); }, {leaf({1, 1, 3, 4, 3})});
  check_grads([](const Variable& v) { return ebb::avg_pool3d(v, 2, 1, 1); }, {leaf({1, 1, 3, 4, 3})});
  CHECK(ebb::max_pool2d(ebb::empty({0, 3, 4, 4}), 2).sizes() == ebb::IntArrayRef({0, 3, 2, 2}));
}

TEST_CASE("adaptive pooling equals plain loops") {
  const Variable x = ramp({2, 3, 7, 5});
  std::vector<double> mean, greatest;
  for (std::int64_t n = 0; n < 6; ++n)
    for (std::int64_t y = 0; y < 3; ++y)
      for (std::int64_t z = 0; z < 4; ++z) {
        double sum = 0, best = -INFINITY;
        std::int64_t count = 0;
        for (std::int64_t i = y * 7 / 3; i < ((y + 1) * 7 + 2) / 3; ++i)
          for (std::int64_t j = z * 5 / 4; j < ((z + 1) * 5 + 3) / 4; ++j, ++count) {
            sum += at(x, n, i, j);
            best = std::max(best, at(x, n, i, j));
          }
        mean.push_back(sum / static_cast<double>(count));
        greatest.push_back(best);
      }
  CHECK(error(ebb::adaptive_avg_pool2d(x, {3, 4}), mean) < 1e-14);
  const auto [out, indices] = ebb::adaptive_max_pool2d(x, {3, 4});
  CHECK(error(out, greatest) == 0);
  for (std::int64_t i = 0; i < out.numel(); ++i)
    CHECK(value(x, i / 12 * 35 + indices.data_ptr<std::int64_t>()[i]) == value(out, i));
  CHECK(top(ebb::adaptive_avg_pool2d(x, {1, 1}) - x.mean(ebb::IntArrayRef({2, 3}), true)) < 1e-14);
  CHECK(top(ebb::adaptive_avg_pool1d(x.select(0, 0), 3) -
            ebb::adaptive_avg_pool2d(x.select(0, 0).unsqueeze(2), {1, 3}).squeeze(2)) == 0);
  check_grads([](const Variable& v) { return ebb::adaptive_avg_pool2d(v, {3, 2}); }, {leaf({1, 2, 7, 5})});
  check_grads([](const Variable& v) { return ebb::adaptive_avg_pool2d(v, {1, 1}); }, {leaf({1, 2, 7, 5})});
  check_grads([](const Variable& v) { return ebb::adaptive_avg_pool1d(v, 4); }, {leaf({2, 7})});
  check_grads([](const Variable& v) { return ebb::adaptive_avg_pool3d(v, {2, 3, 2}); },
              {leaf({1, 1, 3, 4, 5})});
  check_grads([](const Variable& v) { return std::get<0>(ebb::adaptive_max_pool2d(v, {3, 2})); },
              {leaf({1, 2, 7, 5})});
  check_grads([](const Variable& v) { return std::get<0>(ebb::adaptive_max_pool1d(v, 4)); }, {leaf({2, 7})});
}

TEST_CASE("max pooling selects the first of ties and propagates NaN") {
  const Variable x = ebb::ones({1, 1, 2, 4}, ebb::kDouble).requires_grad_(true);
  ebb::max_pool2d(x, 2).sum().backward();
  CHECK(error(x.grad(), {1, 0, 1, 0, 0, 0, 0, 0}) == 0);
  const Variable y = ramp({1, 1, 2, 4}).clone();
  y.data_ptr<double>()[5] = NAN;
  const auto [out, indices] = ebb::max_pool2d_with_indices(y, 2);
  CHECK(std::isnan(value(out, 0)));
  CHECK(indices.data_ptr<std::int64_t>()[0] == 5);
  const Variable low = ebb::full({1, 1, 3, 3}, -INFINITY, ebb::kDouble);
  const auto [lows, at_low] = ebb::max_pool2d_with_indices(low, 3, 2, 1);
  CHECK(at_low.data_ptr<std::int64_t>()[3] == 4);
}

TEST_CASE("pooling of long rows equals plain loops for every stride, dilation and dtype") {
  for (const std::int64_t n : {5, 16, 31, 33, 70})
    for (std::int64_t kernel = 1; kernel <= 5; ++kernel)
      for (std::int64_t stride = 1; stride <= 4; ++stride)
        for (const std::int64_t dilation : {1, 2}) {
          const std::int64_t padding = kernel / 2, reach = dilation * (kernel - 1) + 1;
          if (n + 2 * padding < reach) continue;
          INFO(n << " elements, kernel " << kernel << ", stride " << stride << ", dilation " << dilation);
          // Few distinct values, so that many tie; NaN in the first row.
          const Variable x = ebb::randint(6, {3, n}, ebb::kLong).to(n % 2 ? ebb::kFloat : ebb::kHalf);
          x[0][n / 2] = NAN;
          const auto [out, indices] = ebb::max_pool1d_with_indices(x, kernel, stride, padding, dilation);
          const Variable mean = ebb::avg_pool1d(x.to(ebb::kDouble), {kernel}, {stride}, {padding});
          bool same = true;
          for (std::int64_t r = 0; r < 3; ++r)
            for (std::int64_t o = 0; o < out.size(1); ++o) {
              double best = -INFINITY;
              std::int64_t where = -1;
              for (std::int64_t k = 0; k < kernel; ++k) {
                const std::int64_t i = o * stride - padding + k * dilation;
                if (i < 0 || i >= n) continue;
                const double v = x[r][i].item<double>();
                if (v > best || std::isnan(v)) best = v, where = i;
              }
              const double got = out[r][o].item<double>();
              same = same && (got == best || (std::isnan(got) && std::isnan(best)));
              same = same && indices[r][o].item<std::int64_t>() == where;
            }
          CHECK(same);
          CHECK(
              ebb::equal(ebb::max_pool1d(x.slice(0, 1), kernel, stride, padding, dilation), out.slice(0, 1)));
          for (std::int64_t o = 0; o < mean.size(1); ++o) {
            double sum = 0;
            for (std::int64_t i = std::max<std::int64_t>(o * stride - padding, 0);
                 i < std::min(n, o * stride - padding + kernel); ++i)
              sum += x[1][i].item<double>();
            CHECK(mean[1][o].item<double>() == Approx(sum / static_cast<double>(kernel)));
          }
          const Variable whole = ebb::avg_pool1d(x.slice(0, 1).to(ebb::kLong), {kernel}, {stride}, {padding});
          CHECK(ebb::equal(whole, mean.slice(0, 1).to(ebb::kLong)));
        }
}

TEST_CASE("max_unpool writes each element to its index") {
  const Variable x = ramp({2, 2, 6, 4});
  const auto pooled = ebb::max_pool2d_with_indices(x, 2);
  const Variable out = std::get<0>(pooled), at = std::get<1>(pooled);
  const Variable back = ebb::max_unpool2d(out, at, {6, 4});
  CHECK(error(back.sum(), {out.sum().item<double>()}) < 1e-12);
  CHECK(top(back * (back - x)) == 0);
  check_grads([&](const Variable& v) { return ebb::max_unpool2d(v, at, {6, 4}); }, {leaf({2, 2, 3, 2})});
  check_error([&] { ebb::max_unpool2d(out, at, {2, 2}); }, {"max_unpool2d"});
}

TEST_CASE("pooling accepts 16-bit dtypes and several threads and has the node names of torch") {
  const Variable x = ramp({3, 40, 30, 30}).to(ebb::kFloat);
  for (const ebb::DType d : {ebb::kHalf, ebb::kBFloat16}) {
    CHECK(top(ebb::avg_pool2d(x.to(d), 3) - ebb::avg_pool2d(x.to(d).to(ebb::kFloat), 3)) < 0.01);
    CHECK(top(ebb::max_pool2d(x.to(d), 3) - ebb::max_pool2d(x.to(d).to(ebb::kFloat), 3)) == 0);
  }
  check_threads([&] { return ebb::max_pool2d(x, 3, 2); });
  check_threads([&] { return ebb::avg_pool2d(x, 3, 2); });
  check_threads([&] {
    const Variable v = x.clone().requires_grad_(true);
    (ebb::max_pool2d(v, 3, 2).sum() + ebb::avg_pool2d(v, 3, 2).sum()).backward();
    return v.grad();
  });
  const Variable v = leaf({1, 2, 6, 6});
  CHECK(ebb::max_pool2d(v, 2).grad_fn()->name() == "MaxPool2DWithIndicesBackward0");
  CHECK(ebb::avg_pool2d(v, 2).grad_fn()->name() == "AvgPool2DBackward0");
  CHECK(ebb::adaptive_avg_pool2d(v, {2, 2}).grad_fn()->name() == "AdaptiveAvgPool2DBackward0");
  CHECK(std::get<0>(ebb::adaptive_max_pool2d(v, {2, 2})).grad_fn()->name() == "AdaptiveMaxPool2DBackward0");
  CHECK(ebb::max_pool3d(leaf({1, 1, 4, 4, 4}), 2).grad_fn()->name() == "MaxPool3DWithIndicesBackward0");
}

TEST_CASE("error messages of pooling contain the op and the shape") {
  const Variable x = ramp({2, 3, 5, 5});
  check_error([&] { ebb::max_pool2d(x, 2, 2, 2); }, {"max_pool2d", "padding"});
  check_error([&] { ebb::max_pool2d(x, 6); }, {"max_pool2d", "[2, 3, 5, 5]"});
  check_error([&] { ebb::max_pool2d(x, 0); }, {"max_pool2d", "kernel_size"});
  check_error([&] { ebb::max_pool2d(x, {2, 2, 2}); }, {"max_pool2d", "kernel_size"});
  check_error([&] { ebb::max_pool2d(ramp({5, 5}), 2); }, {"max_pool2d", "[5, 5]"});
  check_error([&] { ebb::avg_pool2d(ebb::ones({1, 1, 4, 4}, ebb::kInt), 2); }, {"avg_pool2d", "Int"});
  check_error([&] { ebb::adaptive_avg_pool2d(ebb::ones({1, 1, 4, 4}, ebb::kLong), 2); },
              {"adaptive_avg_pool2d", "Long"});
  check_error([&] { ebb::avg_pool2d(x, 2, 2, 0, false, true, 0); }, {"avg_pool2d", "divisor_override"});
  check_error([&] { ebb::adaptive_avg_pool2d(x, -1); }, {"adaptive_avg_pool2d", "output_size"});
  check_error([&] { ebb::max_pool2d(ebb::empty({2, 0, 5, 5}), 2); }, {"max_pool2d", "[2, 0, 5, 5]"});
}

// Average pooling for every window size, stride and padding.

using namespace op_tests;

namespace {

// Returns the sums over the windows of a line, with padding counted as zeros.
Values window_sums(const Values& x, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  const auto n = static_cast<std::int64_t>(x.size());
  Values out;
  for (std::int64_t start = -padding; start + kernel <= n + padding; start += stride) {
    double sum = 0;
    for (std::int64_t i = std::max<std::int64_t>(start, 0); i < std::min(n, start + kernel); ++i)
      sum += x[static_cast<std::size_t>(i)];
    out.push_back(sum);
  }
  return out;
}

}  // namespace

TEST_CASE("average pooling equals plain window means for every kernel size, stride and padding") {
  const Variable x = count({1, 1, 11}) + 1;
  for (std::int64_t kernel = 1; kernel <= 7; ++kernel)
    for (std::int64_t stride = 1; stride <= 4; ++stride)
      for (std::int64_t padding = 0; padding <= kernel / 2; ++padding) {
        INFO("kernel " << kernel << ", stride " << stride << ", padding " << padding);
        const Variable leaf = x.detach().clone().set_requires_grad(true);
        const Variable y = ebb::avg_pool1d(leaf, {kernel}, {stride}, {padding});
        const Values sums = values(y * static_cast<double>(kernel));
        const Values expected = window_sums(values(x), kernel, stride, padding);
        REQUIRE(sums.size() == expected.size());
        for (std::size_t i = 0; i < sums.size(); ++i) CHECK(sums[i] == Approx(expected[i]));
        // The op is linear, so the sum of gradient times x equals the sum of the result.
        y.sum().backward();
        CHECK((leaf.grad() * x).sum().item<double>() == Approx(y.sum().item<double>()));
      }
}
