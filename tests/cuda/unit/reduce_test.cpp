// Reductions with shapes that select different thread layouts, and sorting and selection, compared with the
// CPU. Sort compares only the distinguishing bits of a key, and selection only some of the digits: order and
// indices must be those of the CPU.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <functional>
#include <limits>
#include <tuple>

using namespace ebb;

namespace {

double tolerance(DType dtype) {
  return dtype == kDouble ? 1e-12 : dtype == kFloat ? 2e-5 : dtype == kHalf ? 2e-3 : 2e-2;
}

void close(const Tensor& there, const Tensor& here) {
  REQUIRE(there.is_cuda());
  REQUIRE(there.sizes() == here.sizes());
  REQUIRE(there.dtype() == here.dtype());
  const double t = is_floating(here.dtype()) ? tolerance(here.dtype()) : 0;
  CHECK(allclose(there.cpu(), here, t, t, true));  // the variance of one element is NaN
}

// All reductions over the dimensions, of `view` of an array on either device.
void check(
    const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& dims,
    const std::function<Tensor(const Tensor&)>& view = [](const Tensor& x) { return x; }) {
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    INFO(to_string(dtype));
    const Tensor numbers = (rand(sizes) + 0.5).to(dtype);
    const Tensor here = view(numbers), there = view(numbers.to(Device::CUDA));
    close(there.mean(dims), here.mean(dims));
    close(there.amax(dims), here.amax(dims));
    close(norm(there, 2, dims), norm(here, 2, dims));
    close(var(there, dims), var(here, dims));
    close(std::get<1>(std_mean(there, dims)), std::get<1>(std_mean(here, dims)));
    CHECK(equal(there.sum(dims), there.sum(dims)));
    if (dims.size() == 1) {
      const auto [value, place] = there.max(dims[0]);
      CHECK(equal(value.cpu(), std::get<0>(here.max(dims[0]))));
      CHECK(equal(place.cpu(), std::get<1>(here.max(dims[0]))));
      CHECK(equal(there.argmin(dims[0]).cpu(), here.argmin(dims[0])));
    }
  }
  const Tensor whole = randint(0, 5, sizes).to(kByte);
  const Tensor here = view(whole), there = view(whole.to(Device::CUDA));
  close(there.sum(dims), here.sum(dims));
  close(there.count_nonzero(dims), here.count_nonzero(dims));
  if (dims.size() == 1) close(there.all(dims[0]), here.all(dims[0]));
}

}  // namespace

TEST_CASE("row reductions agree with the CPU for rows of one element to several blocks") {
  for (const std::int64_t n : {1, 2, 3, 5, 8, 16, 31, 33, 64, 100, 257, 768, 1000, 1029, 3072, 4100}) {
    INFO("rows of " << n);
    check({5, n}, {1});
  }
  check({1, 40001}, {0, 1});
  check({3, 33333}, {1});
  check({700, 4}, {1});
}

TEST_CASE("reductions of misaligned rows agree with the CPU") {
  check({6, 203}, {1}, [](const Tensor& x) { return x.slice(1, 1, 203); });
  check({6, 208}, {1}, [](const Tensor& x) { return x.slice(1, 3, 99); });
  check({40003}, {0}, [](const Tensor& x) { return x.slice(0, 3); });
  check({40, 30}, {0}, [](const Tensor& x) { return x.t().slice(0, 1).t().slice(1, 1); });
}

TEST_CASE("column reductions agree with the CPU for any number of columns") {
  for (const std::int64_t columns : {1, 3, 8, 9, 32, 33, 64, 300, 1000})
    for (const std::int64_t rows : {1, 2, 7, 40, 300}) {
      INFO(rows << " x " << columns);
      check({rows, columns}, {0});
    }
  check({5000, 16}, {0});
  check({20000, 9}, {0});
  check({9, 40, 24}, {1});
  check({60, 25}, {0}, [](const Tensor& x) { return x.slice(1, 1, 17); });
}

TEST_CASE("reductions over batch and spatial dimensions agree with the CPU") {
  check({6, 5, 64}, {0, 2});
  check({6, 5, 49}, {0, 2});
  check({40, 3, 20, 20}, {0, 2, 3});
  check({6, 5, 64}, {0, 2}, [](const Tensor& x) { return x.slice(2, 1, 49); });
  check({4, 6, 5, 8}, {1, 3}, [](const Tensor& x) { return x.permute({3, 1, 0, 2}); });
  check({3, 4, 5, 6}, {0, 3}, [](const Tensor& x) { return x.slice(3, 0, 6, 2); });
  check({7, 1, 9}, {1}, [](const Tensor& x) { return x.expand({7, 30, 9}); });
}

TEST_CASE("the variance of large close numbers is accurate") {
  const Tensor x = (randn({4, 3000}) + 10000).to(kFloat);
  const Tensor exact = var(x.to(kDouble), {1});
  CHECK(allclose(var(x.to(Device::CUDA), {1}).cpu().to(kDouble), exact, 2e-5, 0));
  Tensor outlier = x.clone();
  outlier.select(1, 0).fill_(-1e6);
  CHECK(
      allclose(var(outlier.to(Device::CUDA), {1}).cpu().to(kDouble), var(outlier.to(kDouble), {1}), 2e-5, 0));
  CHECK(var(full({3, 1000}, 0.1, TensorOptions(Device::CUDA)), {1}).cpu().eq(0).all().item<bool>());
}

TEST_CASE("reductions of infinities and NaN agree with the CPU") {
  Tensor x = randn({3, 500});
  x.select(0, 0).select(0, 0).fill_(INFINITY);
  x.select(0, 1).select(0, 77).fill_(NAN);
  x.select(0, 2).select(0, 499).fill_(-INFINITY);
  const Tensor y = x.to(Device::CUDA);
  const auto same = [](const Tensor& a, const Tensor& b) { return allclose(a.cpu(), b, 1e-4, 1e-4, true); };
  CHECK(same(y.sum(1), x.sum(1)));
  CHECK(same(y.amax(1), x.amax(1)));
  CHECK(same(var(y, {1}), var(x, {1})));
  CHECK(same(std::get<1>(var_mean(y, {1})), std::get<1>(var_mean(x, {1}))));
  CHECK(same(norm(y, 2, {1}), norm(x, 2, {1})));
  CHECK(equal(y.argmax(1).cpu(), x.argmax(1)));
}

namespace {

// Lines of n values, many of them equal, some special.
Tensor lines_of(DType dtype, std::int64_t lines, std::int64_t n) {
  if (!is_floating(dtype))
    return randint(dtype == kByte ? 0 : -90, dtype == kByte ? 256 : 90, {lines, n}, dtype);
  const Tensor x =
      (randn({lines, n}, kDouble) * 8).round() * randint(0, 2, {lines, n}).mul(99).add(0.01).to(kDouble);
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor special = tensor({0.0F, -0.0F, inf, -inf, NAN, 6e-8F, -6e-8F, NAN, 1.0F}).to(kDouble);
  if (n > 30) x.slice(0, 0, 1).slice(1, 17, 26).copy_(special.expand({1, 9}));
  if (lines > 1) x.slice(0, 1, 2).fill_(NAN);  // and one line with only NaN
  return x.to(dtype);
}

using Pair = std::tuple<Tensor, Tensor>;

template <class Op>
void check_picks(const Tensor& x, const Op& op) {
  const Pair expected = op(x), got = op(x.to(Device::CUDA));
  CHECK(equal(std::get<1>(got).cpu(), std::get<1>(expected)));
  CHECK(allclose(std::get<0>(got).cpu().to(kDouble), std::get<0>(expected).to(kDouble), 0, 0,
                 /*equal_nan=*/true));
}

}  // namespace

TEST_CASE("sort of all dtypes agrees with the CPU and is stable") {
  manual_seed(21);
  const Tensor numbers = randn({3, 4000}, kDouble) * (randn({3, 4000}, kDouble) * 4).exp();
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor special = tensor({0.0F, -0.0F, inf, -inf, NAN, 6e-8F, -6e-8F, NAN, 1.0F}).to(kDouble);
  numbers.slice(1, 17, 26).copy_(special.expand({3, 9}));
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kByte, kBool, kInt, kLong}) {
    const Tensor x = is_floating(dtype) ? numbers.to(dtype)
                     : dtype == kBool   ? numbers > 0
                     : dtype == kByte   ? randint(256, {3, 4000}, dtype)
                                        : randint(-100000, 100000, {3, 4000}, dtype);
    for (const std::int64_t n : {1, 33, 400, 2000, 4000})
      for (const bool descending : {false, true}) {
        INFO(dtype << ", " << n << (descending ? ", descending" : ""));
        const Tensor line = x.slice(1, 0, n);
        const auto [values, places] = line.sort(/*stable=*/true, -1, descending);
        const auto [got, got_places] = line.to(Device::CUDA).sort(/*stable=*/true, -1, descending);
        CHECK(equal(got_places.cpu(), places));
        CHECK(allclose(got.cpu().to(kDouble), values.to(kDouble), 0, 0, /*equal_nan=*/true));
      }
    CHECK(equal(
        std::get<0>(unique_dim(x.slice(1, 100, 4000).contiguous().view({-1, 1}).to(Device::CUDA), 0)).cpu(),
        std::get<0>(unique_dim(x.slice(1, 100, 4000).contiguous().view({-1, 1}), 0))));
  }
}

TEST_CASE("topk and kthvalue agree with the CPU and select the first of equal elements") {
  manual_seed(22);
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kByte, kInt, kLong})
    // Selected by pairwise comparison, with one block, and with several blocks.
    for (const std::int64_t n : {1, 7, 128, 129, 1100, 8300}) {
      const bool cut = n > 8000;
      if (cut && (dtype == kDouble || dtype == kBFloat16 || dtype == kInt)) continue;
      const Tensor x = lines_of(dtype, cut ? 1 : 3, n);
      INFO(to_string(dtype) << ", lines of " << n);
      for (const std::int64_t k : {n / 2 + 1, n})
        check_picks(x, [&](const Tensor& t) { return t.kthvalue(k, 1); });
      check_picks(x, [&](const Tensor& t) { return t.median(1); });
      check_picks(x, [&](const Tensor& t) { return t.nanmedian(1); });
      check_picks(x, [&](const Tensor& t) { return t.topk(1, 1, /*largest=*/false); });
      for (const bool largest : {false, true})
        check_picks(x, [&](const Tensor& t) { return t.topk(n / 5, 1, largest); });
      if (!cut) check_picks(x, [&](const Tensor& t) { return t.topk(n, 1); });
    }
}

TEST_CASE("topk and kthvalue handle strided and misaligned rows") {
  manual_seed(23);
  for (const std::int64_t n : {20, 300, 8500}) {
    INFO(n);
    const Tensor x = lines_of(kFloat, 4, n), turned = x.t();
    const Tensor cube = lines_of(kHalf, 6, n).view({2, 3, n}).transpose(1, 2).contiguous();
    check_picks(turned, [](const Tensor& t) { return t.topk(5, 0); });
    check_picks(turned.contiguous(), [](const Tensor& t) { return t.topk(5, 0); });
    check_picks(cube, [](const Tensor& t) { return t.topk(3, 1, /*largest=*/false); });
    check_picks(cube, [](const Tensor& t) { return t.median(1); });
    check_picks(cube, [](const Tensor& t) { return t.kthvalue(4, 1, /*keepdim=*/true); });
    check_picks(x.slice(1, 3), [](const Tensor& t) { return t.median(1); });
  }
  const Tensor all = lines_of(kFloat, 1, 10001);
  CHECK(equal(all.nanmedian(), all.to(Device::CUDA).nanmedian().cpu()));
  CHECK(all.to(Device::CUDA).median().isnan().item<bool>());
}

TEST_CASE("topk and median can be captured in a graph") {
  const Tensor x = randn({2, 9000}, Device::CUDA);
  Tensor values, places, middle;
  const auto step = [&] {
    std::tie(values, places) = x.topk(6, 1);
    middle = std::get<0>(x.median(1));
  };
  step();
  cuda::Graph graph;
  graph.capture(step);
  for (int round = 0; round < 2; ++round) {
    const Tensor next = randn({2, 9000});
    x.copy_(next);
    graph.replay();
    const auto [expected, expected_places] = next.topk(6, 1);
    CHECK(equal(values.cpu(), expected));
    CHECK(equal(places.cpu(), expected_places));
    CHECK(equal(middle.cpu(), std::get<0>(next.median(1))));
  }
}
