// Reductions with shapes that select different thread layouts, compared with the CPU.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <functional>

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
