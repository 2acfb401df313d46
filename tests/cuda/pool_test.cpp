// Poolings on a device.
#include <ebb/ebb.h>

#include <catch2/catch.hpp>

using namespace ebb;

TEST_CASE("gradients of overlapping max pools take their terms in order") {
  manual_seed(2);
  // Few values, so that windows that overlap choose the same element; terms whose sum depends on the order.
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

TEST_CASE("an index out of range in max_unpool2d is reported") {
  const Tensor x = ones({1, 1, 1, 2}, Device::CUDA);
  const Tensor at = tensor({3, 9}, kLong).view({1, 1, 1, 2}).to(Device::CUDA);
  const Tensor out = max_unpool2d(x, at, {2, 2});
  CHECK_THROWS_AS(cuda::synchronize(), IndexError);
  CHECK(out.cpu().sum().item<float>() == 1);
}
