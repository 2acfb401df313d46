// Arrays of more than 2^31 elements: all kinds of kernels at the end of such an array. The emulation and
// small devices use smaller arrays, which test only the calls.
#include <ebb/ebb.h>

#include "cuda/unit/against_cpu.h"
#include "support/catch.h"

#include <utility>
#include <vector>

using namespace ebb;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

struct Large {
  std::int64_t n;
  Tensor x;  // zeros except 1 to 8 at the end, in bf16, which represents them exactly
};

Large make() {
  const bool room = is_real_device() && cuda::get_device_properties().total_memory > (std::size_t{48} << 30);
  const std::int64_t n = (room ? std::int64_t{1} << 31 : std::int64_t{1} << 16) + 8;
  if (!room) WARN("an array of " << n << " elements stands for one of 2^31 + 8");
  Tensor x = zeros({n}, kOnCuda.dtype(kBFloat16));
  x.slice(0, n - 8).copy_(arange(1, 9, kOnCuda));
  return {n, x};
}

std::vector<float> tail_of(const Tensor& x) {
  const Tensor end = x.slice(0, x.numel() - 8).to(kFloat).cpu().contiguous();
  return {end.data_ptr<float>(), end.data_ptr<float>() + 8};
}

const std::vector<float> kEnd = {1, 2, 3, 4, 5, 6, 7, 8};

}  // namespace

TEST_CASE("elementwise kernels are correct for 2^31 + 8 elements", "[alone]") {
  const auto [n, x] = make();
  CHECK(tail_of(x) == kEnd);
  CHECK(tail_of(x.clone()) == kEnd);
  CHECK(tail_of(x * 2 - x) == kEnd);
  CHECK(tail_of(x + x.slice(0, n - 1)) == std::vector<float>{9, 10, 11, 12, 13, 14, 15, 16});
  const Tensor odd = x.slice(0, 1);  // misaligned
  CHECK(tail_of(odd + 1).back() == 9);
  Tensor masked = x.clone();
  masked.masked_fill_(x > 4, 0);
  CHECK(tail_of(masked) == std::vector<float>{1, 2, 3, 4, 0, 0, 0, 0});
  CHECK((x > 4).sum().item<std::int64_t>() == 4);
}

TEST_CASE("transpose and cat and conversion are correct for 2^31 + 8 elements", "[alone]") {
  const auto [n, x] = make();
  const Tensor t =
      x.view({n / 8, 8}).t().contiguous();  // eight rows; the last element of each is one of the eight values
  CHECK(tail_of(t.select(1, n / 8 - 1)) == kEnd);
  CHECK(tail_of(t.t().contiguous().view({n})) == kEnd);
  CHECK(tail_of(cat({x.slice(0, 0, 8), x.slice(0, 8)})) == kEnd);
  const Tensor wide = x.to(kFloat);
  CHECK(tail_of(wide) == kEnd);
  const Tensor host = x.slice(0, n - 24).cpu();
  CHECK(host.to(kFloat).sum().item<float>() == 36);
}

TEST_CASE("reductions and scans are correct for 2^31 + 8 elements", "[alone]") {
  const auto [n, x] = make();
  CHECK(x.sum(kFloat).item<float>() == 36);
  CHECK(x.max().item<float>() == 8);
  CHECK(x.argmax().item<std::int64_t>() == n - 1);
  CHECK(x.view({n / 8, 8}).sum(0, false, kFloat).cpu().sum().item<float>() == 36);
  const Tensor rows = x.view({n / 8, 8}).sum(1);
  CHECK(rows[n / 8 - 1].item<float>() == 36);
  CHECK(x.cumsum(0)[n - 1].item<float>() == 36);
  CHECK((x > 0).any().item<bool>());
}

TEST_CASE("softmax and layer norm are correct for 2^28 rows", "[alone]") {
  const auto [n, x] = make();
  const Tensor rows = x.view({n / 8, 8});
  const Tensor last = rows[n / 8 - 1].to(kFloat).cpu().view({1, 8});
  CHECK(allclose(softmax(rows, 1)[n / 8 - 1].to(kFloat).cpu().view({1, 8}), softmax(last, 1), 1e-2, 1e-3));
  CHECK(allclose(layer_norm(rows, {8})[n / 8 - 1].to(kFloat).cpu().view({1, 8}), layer_norm(last, {8}), 1e-2,
                 1e-2));
}

TEST_CASE("index ops are correct for indices beyond 2^31", "[alone]") {
  const auto [n, x] = make();
  const Tensor found = (x > 0).nonzero().view({-1}).cpu();
  CHECK(equal(found, arange(n - 8, n)));
  const Tensor at = tensor({n - 1, std::int64_t{0}, n - 8}, kOnCuda.dtype(kLong));
  CHECK(equal(x.index_select(0, at).to(kFloat).cpu(), tensor({8.0f, 0.0f, 1.0f})));
  CHECK(equal(x.gather(0, at).to(kFloat).cpu(), tensor({8.0f, 0.0f, 1.0f})));
  Tensor y = x.clone();
  y.index_fill_(0, at, 5);
  CHECK(tail_of(y) == std::vector<float>{5, 2, 3, 4, 5, 6, 7, 5});
  y.index_add_(0, at, ones({3}, kOnCuda.dtype(kBFloat16)));
  CHECK(tail_of(y) == std::vector<float>{6, 2, 3, 4, 5, 6, 7, 6});
  CHECK_THROWS_AS(x.index_select(0, tensor({n}, kOnCuda.dtype(kLong))).cpu(), IndexError);
}

TEST_CASE("random ops fill 2^31 + 8 elements with different values at both ends", "[alone]") {
  const auto [n, x] = make();
  Tensor y = x.clone();
  y.uniform_();
  CHECK_FALSE(equal(y.slice(0, 0, 1000), y.slice(0, n - 1000)));
  const double kept = dropout(x + 1, 0.5, true).ne(0).sum().item<std::int64_t>() / static_cast<double>(n);
  CHECK(kept == Approx(0.5).epsilon(0.02));
}

// cuDNN supports up to 2^31 - 1 elements, so the batch is split; the weight gradient is the sum over the
// parts.
TEST_CASE("convolutions of more than 2^31 elements equal those of single samples", "[alone]") {
  manual_seed(3);
  const bool room = is_real_device() && cuda::get_device_properties().total_memory > (std::size_t{48} << 30);
  const std::int64_t batch = room ? (std::int64_t{1} << 19) + 8 : 24, kept = 8;
  const TensorOptions there = kOnCuda.dtype(kBFloat16);
  const Tensor some = randn({kept, 4, 32, 32}).to(there), weight = randn({4, 4, 3, 3}).to(there);
  const auto run = [&](const Tensor& x, const Tensor& seed) {
    Tensor w = weight.detach().requires_grad_();
    const Tensor y = conv2d(x, w, {}, 1, 1);
    y.backward(seed);
    return std::pair{y.detach(), w.grad()};
  };
  const Tensor seed = randn({kept, 4, 32, 32}).to(there);
  const auto [expected, slope] = run(some, seed);
  Tensor x = zeros({batch, 4, 32, 32}, there), seeds = zeros({batch, 4, 32, 32}, there);
  x.slice(0, batch - kept).copy_(some);
  seeds.slice(0, batch - kept).copy_(seed);
  const auto [got, total] = run(x, seeds);
  CHECK(allclose(got.slice(0, batch - kept).to(kFloat).cpu(), expected.to(kFloat).cpu(), 2e-2, 2e-2));
  CHECK(got.slice(0, 0, kept).abs().max().item<float>() == 0);
  CHECK(allclose(total.to(kFloat).cpu(), slope.to(kFloat).cpu(), 2e-2, 0.5));
}
