// Arrays of more than 2^31 elements: all kinds of kernels at the end of such an array (the emulation and
// small devices use smaller arrays, which test only the calls). Misaligned arrays and split batches: device
// libraries get only arrays that are aligned and within their size limits.
#include <ebb/ebb.h>

#include "cuda/unit/against_cpu.h"
#include "support/catch.h"
#include "support/compare.h"

#include <utility>
#include <vector>

using namespace ebb;
using testing::check_close;
using testing::compare;
using testing::with_and_without_cudnn;

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

namespace {

// The same values, one element after the start of an allocation, with the same layout; the gradient is
// shifted, too.
Tensor shifted(const Tensor& x) {
  const bool last = !x.is_contiguous();
  const Tensor lines = last ? x.permute({0, 2, 3, 1}) : x;
  const Tensor moved = cat({zeros({1}, TensorOptions(x.dtype()).device(x.device())), lines.reshape({-1})})
                           .slice(0, 1)
                           .view(lines.sizes());
  return last ? moved.permute({0, 3, 1, 2}) : moved;
}

Tensor like(const Tensor& t, const Tensor& x) { return t.to(x.dtype()).to(x.device()); }

// The weight gradient of a convolution on the device, compared with the CPU in double.
void compare_weight(const Tensor& values, const Tensor& weight, const Tensor& seed, bool shift) {
  for (const DType dtype : {kFloat, kHalf, kDouble})
    for (const bool last : {false, true}) {
      INFO(to_string(dtype) << (last ? ", channels-last" : ", contiguous"));
      const auto gradient = [&](const TensorOptions& options) {
        const auto there = [&](const Tensor& t) {
          return t.to(dtype).contiguous(testing::format_of(t, last)).to(options.device()).to(options.dtype());
        };
        Tensor w = there(weight).clone().requires_grad_();
        const Tensor x = there(values), y = conv2d(shift ? shifted(x) : x, shift ? shifted(w) : w, {}, 1, 1);
        (shift ? shifted(y) : y).backward(there(seed));
        return w.grad();
      };
      check_close(gradient(TensorOptions(kCUDA).dtype(dtype)), gradient(TensorOptions(kCPU).dtype(kDouble)),
                  dtype);
    }
}

}  // namespace

TEST_CASE("convolutions of misaligned arrays agree with the CPU with and without cuDNN") {
  manual_seed(41);
  const Tensor x = randn({2, 4, 7, 6}, kDouble), w = randn({8, 4, 3, 3}, kDouble) * 0.3,
               b = randn({8}, kDouble), turned = randn({4, 8, 3, 3}, kDouble) * 0.3;
  const auto all = [&](const Tensor& v, const Tensor& weight) {
    return like(weight, v).contiguous(testing::format_of(weight, !v.is_contiguous()));
  };
  with_and_without_cudnn([&] {
    compare(
        "plain", [&](const Tensor& v) { return shifted(conv2d(shifted(v), shifted(all(v, w)), {}, 1, 1)); },
        x);
    compare(
        "with a bias",
        [&](const Tensor& v) { return conv2d(shifted(v), shifted(all(v, w)), shifted(like(b, v)), 1, 1); },
        x);
    compare(
        "transposed",
        [&](const Tensor& v) { return shifted(conv_transpose2d(shifted(v), shifted(all(v, turned)))); }, x);
    compare_weight(x, w, randn({2, 8, 7, 6}, kDouble), true);
  });
}

TEST_CASE("convolutions with split batches agree with the CPU with and without cuDNN") {
  manual_seed(42);
  const Tensor w = randn({8, 4, 3, 3}, kDouble) * 0.3, b = randn({8}, kDouble);
  // The emulated cuDNN supports up to 2^14 elements: parts of 8 and 6 samples, of 2 and 1, and no part for a
  // too large sample.
  for (const DimVector& shape :
       {DimVector{14, 4, 14, 16}, DimVector{3, 4, 30, 30}, DimVector{2, 4, 48, 48}}) {
    INFO(IntArrayRef(shape));
    const Tensor x = randn(shape, kDouble);
    DimVector result = shape;
    result[1] = 8;
    const Tensor seed = randn(result, kDouble) * 0.1;
    with_and_without_cudnn([&] {
      compare("with a bias", [&](const Tensor& v) { return conv2d(v, like(w, v), like(b, v), 1, 1); }, x);
      compare_weight(x * 0.1, w, seed, false);
    });
  }
}

TEST_CASE("gradients of attention on misaligned arrays agree with the CPU with and without cuDNN") {
  manual_seed(44);
  const Tensor query = randn({1, 2, 20, 16}, kDouble), key = randn({1, 2, 24, 16}, kDouble),
               value = randn({1, 2, 24, 16}, kDouble), seed = randn({1, 2, 20, 16}, kDouble);
  for (const DType dtype : {kHalf, kBFloat16}) {
    const auto gradients = [&](const TensorOptions& options) {
      const auto there = [&](const Tensor& x) {
        return x.to(dtype).to(options.device()).to(options.dtype());
      };
      const variable_list leaves = {there(query).requires_grad_(), there(key).requires_grad_(),
                                    there(value).requires_grad_()};
      const Tensor y = shifted(scaled_dot_product_attention(leaves[0], leaves[1], leaves[2]));
      return autograd::grad({y}, leaves, {there(seed)});
    };
    const variable_list expected = gradients(TensorOptions(kCPU).dtype(kDouble));
    with_and_without_cudnn([&] {
      const variable_list got = gradients(TensorOptions(kCUDA).dtype(dtype));
      for (std::size_t i = 0; i < got.size(); ++i) {
        INFO(to_string(dtype) << ", " << i);
        const Tensor error = (got[i].cpu().to(kDouble) - expected[i]).abs();
        CHECK((error / (1 + expected[i].abs())).max().item<double>() < (dtype == kHalf ? 8e-3 : 6e-2));
      }
    });
  }
}

TEST_CASE("matmul of misaligned matrices agrees with the CPU") {
  manual_seed(43);
  const Tensor a = randn({5, 7, 9}, kDouble), b = randn({5, 9, 6}, kDouble), c = randn({5, 7, 6}, kDouble);
  for (const DType dtype : {kFloat, kHalf, kBFloat16, kDouble}) {
    INFO(to_string(dtype));
    const auto there = [&](const Tensor& t) { return t.to(dtype).to(Device::CUDA); };
    const auto rounded = [&](const Tensor& t) { return t.to(dtype).to(kDouble); };
    const Tensor product = matmul(rounded(a), rounded(b));
    check_close(matmul(shifted(there(a)), there(b)), product, dtype);
    check_close(matmul(there(a), shifted(there(b))), product, dtype);
    check_close(matmul(shifted(there(a)), shifted(there(b).mT().contiguous()).mT()), product, dtype);
    // Accumulates into misaligned memory.
    Tensor sum = shifted(there(c));
    sum.baddbmm_(there(a), there(b), 0.5, 2);
    check_close(sum, rounded(c) * 0.5 + product * 2, dtype);
    // A linear layer whose bias is added to the product.
    const Tensor x = a[0], weight = b[0].t().contiguous(), bias = c[0][0];
    check_close(linear(shifted(there(x)), there(weight), there(bias)),
                linear(rounded(x), rounded(weight), rounded(bias)), dtype);
  }
}
