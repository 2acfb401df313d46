// Pooling on a device.
#include <ebb/ebb.h>

#include "cuda/unit/against_cpu.h"
#include "support/catch.h"

#include <limits>

using namespace ebb;
using testing::compare;

TEST_CASE("gradients of overlapping max pools are added in order") {
  manual_seed(2);
  // Few different values, so that overlapping windows select the same element; the sum of the terms depends
  // on their order.
  const Tensor x = randint(4, {2, 3, 9, 8}, kFloat), seed = randn({2, 3, 9, 8}) * 1e3;
  const auto gradient = [&](Device device, MemoryFormat format) {
    Tensor leaf = x.clone().to(device).contiguous(format).requires_grad_();
    max_pool2d(leaf, 3, 1, 1).backward(seed.to(device));
    return leaf.grad().cpu().contiguous();
  };
  const Tensor expected = gradient(Device::CPU, MemoryFormat::Contiguous);
  CHECK(equal(gradient(Device::CUDA, MemoryFormat::Contiguous), expected));
  CHECK(equal(gradient(Device::CUDA, MemoryFormat::ChannelsLast), expected));
  CHECK(expected.ne(0).sum().item<std::int64_t>() < x.numel());
}

TEST_CASE("an index out of range in max_unpool2d is an error") {
  const Tensor x = ones({1, 1, 1, 2}, Device::CUDA);
  const Tensor at = tensor({3, 9}, kLong).view({1, 1, 1, 2}).to(Device::CUDA);
  const Tensor out = max_unpool2d(x, at, {2, 2});
  CHECK_THROWS_AS(cuda::synchronize(), IndexError);
  CHECK(out.cpu().sum().item<float>() == 1);
}

TEST_CASE("max_unpool on a device agrees with the CPU") {
  manual_seed(4);
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16})
    for (const bool last : {false, true}) {
      INFO(to_string(dtype) << (last ? ", channels-last" : ""));
      const MemoryFormat format = last ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous;
      // Overlapping windows contain an index twice, with the same value.
      const Tensor image = randn({3, 5, 17, 14}).to(dtype);
      const auto pooled = max_pool2d_with_indices(image, 3, 2, 1);
      const Tensor value = std::get<0>(pooled), place = std::get<1>(pooled);
      const auto run = [&](const Device& device) {
        Tensor leaf = value.contiguous(format).to(device).detach().requires_grad_();
        const Tensor out = max_unpool2d(leaf, place.contiguous(format).to(device), {17, 14});
        out.backward(arange(out.numel(), kFloat).view(out.sizes()).remainder(61).to(dtype).to(device));
        return std::pair(out.detach().cpu().contiguous(), leaf.grad().cpu().contiguous());
      };
      const auto expected = run(Device::CPU), got = run(Device::CUDA);
      CHECK(equal(got.first, expected.first));
      CHECK(equal(got.second, expected.second));
    }
  const Tensor cube = randn({2, 3, 7, 6, 9});
  const auto [value, place] = max_pool3d_with_indices(cube, 2);
  const auto put = [&](const Device& device) {
    return max_unpool3d(value.to(device), place.to(device), {7, 6, 9}, {2, 2, 2}, {0, 0, 0}).cpu();
  };
  CHECK(equal(put(Device::CUDA), put(Device::CPU)));
}

TEST_CASE("pooling of all geometries agrees with the CPU with 32-bit and 64-bit indices") {
  manual_seed(11);
  constexpr std::int64_t kFar = std::int64_t{1} << 31;  // a stride that only fits in 64 bits: one window
  struct Case {
    std::int64_t kernel, stride, padding, dilation;
  };
  for (const DType dtype : {kFloat, kDouble, kHalf})
    for (const Case& c : {Case{3, 2, 1, 1}, Case{2, 2, 0, 1}, Case{3, 1, 1, 2}, Case{5, kFar, 2, 1}})
      for (const MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
        INFO(to_string(dtype) << ", kernel " << c.kernel << ", stride " << c.stride << ", dilation "
                              << c.dilation);
        const Tensor image = randint(-40, 40, {2, 5, 11, 13}, kFloat).to(dtype);
        const auto run = [&](const Device& device, const auto& pool) {
          Tensor leaf = image.to(device).contiguous(format).detach().requires_grad_();
          const Tensor out = pool(leaf);
          out.backward(arange(out.numel(), kFloat).view(out.sizes()).remainder(7).to(dtype).to(device));
          return std::pair(out.detach().cpu().contiguous(), leaf.grad().cpu().contiguous());
        };
        const auto compare = [&](const auto& pool, double tolerance) {
          const auto expected = run(Device::CPU, pool), got = run(Device::CUDA, pool);
          CHECK(allclose(got.first, expected.first, tolerance, tolerance));
          CHECK(allclose(got.second, expected.second, tolerance, tolerance));
        };
        compare([&](const Tensor& x) { return max_pool2d(x, c.kernel, c.stride, c.padding, c.dilation); }, 0);
        const double rounding = dtype == kHalf ? 2e-3 : 1e-6;
        if (c.dilation != 1) continue;
        compare([&](const Tensor& x) { return avg_pool2d(x, c.kernel, c.stride, c.padding, false, false); },
                rounding);
        compare([&](const Tensor& x) { return adaptive_avg_pool2d(x, {4, 5}); }, rounding);
        if (dtype != kHalf)  // a divisor that only fits in 64 bits
          compare(
              [&](const Tensor& x) {
                return avg_pool2d(x, c.kernel, c.stride, 0, false, true, 8 * kFar) * 1e9;
              },
              rounding);
      }
}

TEST_CASE("max pooling without gradients agrees with the CPU in all dtypes and layouts") {
  manual_seed(15);
  Tensor x = randn({2, 3, 9, 8}, kDouble), cube = randn({2, 3, 5, 4, 6}, kDouble);
  x[0][1][4][4].fill_(std::numeric_limits<double>::quiet_NaN());
  x[1][2].fill_(-std::numeric_limits<double>::infinity());
  const auto pool = [](auto... arguments) {
    return [=](const Tensor& v) { return max_pool2d(v, arguments...); };
  };
  compare("2x2", pool(2), x, false);
  compare("overlapping", pool(3, 1, 1), x, false);
  compare("two sizes", pool(IntArrayRef({3, 2}), IntArrayRef({2, 1}), IntArrayRef({1, 0})), x, false);
  compare("rounded up", pool(3, 2, 0, 1, true), x, false);
  compare("dilated", pool(2, 1, 0, 2), x, false);
  compare("no batch", pool(3, 2, 1), x[0], false);
  compare("one axis", [](const Tensor& v) { return max_pool1d(v, 3, 2, 1); }, x[0], false);
  compare("three axes", [](const Tensor& v) { return max_pool3d(v, 2, 1, 1); }, cube, false);
  compare("three axes, no batch", [](const Tensor& v) { return max_pool3d(v, 2); }, cube[0], false, false);
  compare("adaptive", [](const Tensor& v) { return std::get<0>(adaptive_max_pool2d(v, {4, 3})); }, x, false);
}

TEST_CASE("average pooling agrees with the CPU in all dtypes and layouts") {
  manual_seed(16);
  const Tensor x = randn({2, 3, 9, 8}, kDouble), cube = randn({2, 3, 5, 4, 6}, kDouble);
  for (const bool padding_counts : {true, false}) {
    INFO(padding_counts);
    const auto pool = [=](std::int64_t window, std::int64_t stride, std::int64_t padding, bool rounds_up) {
      return
          [=](const Tensor& v) { return avg_pool2d(v, window, stride, padding, rounds_up, padding_counts); };
    };
    compare("2x2", pool(2, 2, 0, false), x);
    compare("overlapping", pool(3, 1, 1, false), x);
    compare("rounded up", pool(3, 2, 0, true), x);
    compare("padded and rounded up", pool(3, 2, 1, true), x);
    compare("padded and rounded up beyond the padding", pool(4, 3, 1, true), x);
    compare("no batch", pool(3, 2, 1, false), x[0]);
    compare("divisor", [](const Tensor& v) { return avg_pool2d(v, 2, 2, 0, false, true, 3); }, x);
    compare("one axis", [=](const Tensor& v) { return avg_pool1d(v, 3, 2, 1, false, padding_counts); }, x[0]);
    compare(
        "three axes", [=](const Tensor& v) { return avg_pool3d(v, 3, 2, 1, false, padding_counts); }, cube);
    compare("adaptive", [](const Tensor& v) { return adaptive_avg_pool2d(v, {4, 3}); }, x);
  }
}
