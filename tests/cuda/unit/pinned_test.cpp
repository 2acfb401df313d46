// Pinned (page-locked) CPU memory, and non-blocking copies.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/compare.h"

using namespace ebb;
using support::Contains;

namespace {

const TensorOptions kOnCuda(Device::CUDA), kPinned = TensorOptions().pinned_memory(true);

using support::same;

}  // namespace

TEST_CASE("pinned_memory and pin_memory make pinned tensors") {
  CHECK_FALSE(ones({3}).is_pinned());
  CHECK_FALSE(ones({3}, kOnCuda).is_pinned());
  CHECK(ones({3}, kPinned).is_pinned());
  CHECK(empty({2, 3}, kPinned.dtype(kLong)).is_pinned());
  CHECK(zeros_like(ones({2, 2}), kPinned).is_pinned());
  CHECK(rand({4}, kPinned).is_pinned());
  const Tensor x = arange(6).view({2, 3}).t(), p = x.pin_memory();
  CHECK(p.is_pinned());
  CHECK(p.is_cpu());
  CHECK(p.strides() == x.strides());
  CHECK(equal(p, x));
  CHECK(p.pin_memory().is_same(p));
  CHECK(p[0].is_pinned());
  CHECK_FALSE((p + 1).is_pinned());
  CHECK_THROWS_WITH(ones({3}, kOnCuda.pinned_memory(true)), Contains("pinned") && Contains("cuda"));
  CHECK_THROWS_WITH(ones({3}, kOnCuda).pin_memory(), Contains("pin_memory") && Contains("cuda:0"));
}

TEST_CASE("a blocking copy from borrowed pinned memory is complete on return") {
  const Tensor pinned = ones({1000}).pin_memory();
  const Tensor borrowed = from_blob(pinned.data_ptr(), {1000});
  const Tensor there = borrowed.to(Device::CUDA);
  borrowed.fill_(7);
  CHECK(equal(there.cpu(), ones({1000})));
}

TEST_CASE("gradients flow through pin_memory") {
  const Tensor x = ones({3}).requires_grad_();
  (x.pin_memory().to(Device::CUDA) * 4).sum().backward();
  CHECK(equal(x.grad(), full({3}, 4, kFloat)));
}

TEST_CASE("non-blocking copies to a device arrive in order") {
  const Tensor x = randn({100, 7}).pin_memory();
  const Tensor y = x.to(kOnCuda, true);
  CHECK(same(y * 2, x * 2));
  CHECK(same(x.to(Device::CUDA, kDouble, true), x.to(kDouble)));
  CHECK(same(x.t().to(kOnCuda, true), x.t()));
  CHECK(same(x.slice(0, 10, 90, 3).to(kOnCuda, true), x.slice(0, 10, 90, 3)));
  CHECK(same(x.slice(0, 5, 9).to(kOnCuda, true), x.slice(0, 5, 9)));
  Tensor z = zeros({7, 100}, kOnCuda.dtype(kDouble));
  z.t().copy_(x, true);
  CHECK(same(z.t(), x.to(kDouble)));
  CHECK(same(x.expand({3, 100, 7}).to(kOnCuda, true), x.expand({3, 100, 7})));
  // Memory that is not pinned may be overwritten directly after the call.
  Tensor plain = ones({1000});
  const Tensor copied = plain.to(kOnCuda, true);
  plain.fill_(5);
  CHECK(same(copied, ones({1000})));
  // Pinned memory may be, too, unless the copy is non-blocking.
  Tensor pinned = ones({1000}, kPinned);
  const Tensor waited = pinned.to(Device::CUDA);
  pinned.fill_(5);
  CHECK(same(waited, ones({1000})));
}

TEST_CASE("a non-blocking copy to the host is pinned and complete after synchronization") {
  const Tensor x = randn({50, 20}, kOnCuda);
  const Tensor y = (x + 1).to(TensorOptions(kCPU), true);
  CHECK(y.is_pinned());
  cuda::Event done;
  done.record();
  done.synchronize();
  CHECK(equal(y, (x + 1).cpu()));
  const Tensor converted = x.t().to(Device(kCPU), kDouble, true);
  cuda::synchronize();
  CHECK(equal(converted, x.t().cpu().to(kDouble)));
  Tensor landing = zeros({50, 20}, kPinned);
  landing.copy_(x, true);
  cuda::Stream::current().synchronize();
  CHECK(equal(landing, x.cpu()));
  // A copy into unpinned memory, or with another layout, waits.
  Tensor plain = zeros({50, 20});
  plain.copy_(x, true);
  CHECK(equal(plain, x.cpu()));
  Tensor turned = zeros({20, 50}, kPinned);
  turned.t().copy_(x, true);
  CHECK(equal(turned.t(), x.cpu()));
}

TEST_CASE("pinned memory is not reused during a copy") {
  const cuda::Stream side = cuda::Stream::from_pool();
  Tensor arrived;
  std::vector<Tensor> others;
  {
    const cuda::StreamGuard guard(side);
    const Tensor x = full({1 << 16}, 3, kPinned.dtype(kFloat));
    arrived = x.to(kOnCuda, true);
  }
  for (int i = 0; i < 3; ++i) others.push_back(full({1 << 16}, -1, kPinned.dtype(kFloat)));
  side.synchronize();
  CHECK(same(arrived, full({1 << 16}, 3, kFloat)));
  {
    const cuda::StreamGuard guard(side);
    const Tensor gone = arrived.to(TensorOptions(kCPU), true);
  }
  for (int i = 0; i < 3; ++i) others.push_back(full({1 << 16}, -1, kPinned.dtype(kFloat)));
  side.synchronize();
  for (const Tensor& other : others) CHECK(same(other, full({1 << 16}, -1, kFloat)));
}

TEST_CASE("freed pinned memory is reused") {
  const void* place;
  {
    const Tensor x = ones({1 << 14}, kPinned);
    place = x.data_ptr();
    x.to(kOnCuda, true);
  }
  cuda::synchronize();
  CHECK(ones({1 << 14}, kPinned).data_ptr() == place);
}
