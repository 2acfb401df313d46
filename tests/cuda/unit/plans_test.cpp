// Handles and plans of libraries belong to a device and a thread: several of either at once, and one after
// the other.
#include <ebb/ebb.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/catch.h"

using namespace ebb;

namespace {

struct Expected {
  Tensor x, w, image, filter, product, filtered, gradient;
};

Expected make(std::int64_t n) {
  Expected e;
  e.x = randn({n, 33});
  e.w = randn({33, n + 5});
  e.image = randn({2, 4, n, 9});
  e.filter = randn({8, 4, 3, 3});
  e.product = matmul(e.x, e.w);
  Tensor filter = e.filter.clone().requires_grad_();
  const Tensor y = conv2d(e.image, filter, {}, 1, 1);
  y.backward(ones_like(y));
  e.filtered = y.detach();
  e.gradient = filter.grad();
  return e;
}

bool holds(const Expected& e, const Device& device) {
  const auto close = [](const Tensor& a, const Tensor& b) { return allclose(a.cpu(), b, 1e-4, 1e-3); };
  if (!close(matmul(e.x.to(device), e.w.to(device)), e.product)) return false;
  Tensor filter = e.filter.to(device).detach().requires_grad_();
  const Tensor y = conv2d(e.image.to(device), filter, {}, 1, 1);
  y.backward(ones_like(y));
  return close(y.detach(), e.filtered) && close(filter.grad(), e.gradient);
}

}  // namespace

TEST_CASE("two devices have plans of their own for one shape", "[two_devices]") {
  if (cuda::device_count() < 2) {
    WARN("one device only");
    return;
  }
  const Expected e = make(12);
  for (int i = 0; i < 3; ++i) {
    CHECK(holds(e, Device("cuda:0")));
    CHECK(holds(e, Device("cuda:1")));
  }
  cuda::set_device(1);
  CHECK(holds(e, Device("cuda:0")));
  CHECK(holds(e, Device("cuda:1")));
  cuda::set_device(0);
}

TEST_CASE("several threads make and use plans of a convolution at once") {
  std::vector<Expected> expected;
  for (const std::int64_t n : {5, 12, 17}) expected.push_back(make(n));
  for (int round = 0; round < 2; ++round) {  // the second with new threads, after the first have ended
    std::atomic<int> good = 0;
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const cuda::StreamGuard own(cuda::Stream::from_pool());
        for (std::size_t i = 0; i < 3; ++i) good += holds(expected[(t + i) % 3], Device(Device::CUDA));
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(good == 12);
  }
}
