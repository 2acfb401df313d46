// Two devices of one machine, and data parallel replicas on one or several devices.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/compare.h"

#include <array>
#include <thread>
#include <vector>

// Two devices of one machine, or two emulated ones: copies between them, replicas that train together,
// kernels and threads of each.

using namespace ebb;
using support::same;

namespace {

const Device kFirst("cuda:0"), kSecond("cuda:1");

bool are_two() {
  if (cuda::device_count() >= 2) return true;
  WARN("one device only");
  return false;
}

Tensor numbers(const DimVector& sizes, DType dtype) {
  return is_floating(dtype) ? randn(sizes, kFloat).to(dtype) : randint(0, 2, sizes, kLong).to(dtype);
}

nn::Sequential network() {
  manual_seed(51);
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2),
                     nn::Flatten(), nn::Linear(4 * 4 * 4, 5));
  net->to(kDouble);
  net->to(kFirst);
  return net;
}

// The parameters after some steps with batches that are split over these devices.
std::vector<Tensor> trained(const std::vector<Device>& devices) {
  nn::Sequential net = network();
  manual_seed(52);
  const Tensor x = randn({10, 1, 8, 8}, kDouble).to(kFirst), y = randint(5, {10}, kLong).to(kFirst);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.01));
  for (int step = 0; step < 6; ++step) {
    optimizer.zero_grad();
    nn::functional::cross_entropy(nn::parallel::data_parallel(net, x, devices, kFirst), y).backward();
    optimizer.step();
  }
  return net->parameters();
}

// Chains of copies back and forth on separate streams, in which each copy waits for the other device.
Tensor passed_to_and_fro(const Tensor& start, int times) {
  const cuda::StreamGuard on_first(cuda::Stream::from_pool(kFirst)),
      on_second(cuda::Stream::from_pool(kSecond));
  Tensor here = start.to(kFirst), there = empty(start.sizes(), TensorOptions(kSecond).dtype(start.dtype()));
  for (int i = 0; i < times; ++i) {
    there.copy_(here);
    there.add_(1);
    here.copy_(there);
    here.mul_(2);
  }
  return here.cpu();
}

}  // namespace

TEST_CASE("copies between two devices keep the values of all dtypes", "[two_devices]") {
  if (!are_two()) return;
  manual_seed(53);
  for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16, kLong, kInt, kShort, kChar, kByte, kBool})
    for (const std::int64_t n : {0, 1, 7, 4099, 1 << 18}) {
      INFO(to_string(dtype) << ", " << n);
      const Tensor x = numbers({n}, dtype), there = x.to(kSecond), here = x.to(kFirst);
      CHECK(same(here.to(kSecond).cpu(), x));
      CHECK(same(there.to(kFirst).cpu(), x));
      if (n < 3) continue;
      CHECK(same(here.slice(0, 1).to(kSecond).cpu(), x.slice(0, 1)));  // from a misaligned address
      CHECK(same(here.slice(0, 0, n, 3).to(kSecond).cpu(), x.slice(0, 0, n, 3)));
    }
}

TEST_CASE("concurrent copies in both directions wait for pending reads and writes", "[two_devices]") {
  if (!are_two()) return;
  for (const std::int64_t n : {10, 100000}) {
    Tensor expected = arange(n, kDouble);
    const Tensor start = expected.clone();
    for (int i = 0; i < 20; ++i) expected = (expected + 1) * 2;
    std::array<Tensor, 3> got;
    std::vector<std::thread> threads;
    for (Tensor& each : got) threads.emplace_back([&] { each = passed_to_and_fro(start, 20); });
    for (std::thread& thread : threads) thread.join();
    for (const Tensor& each : got) CHECK(same(each, expected));
  }
}

TEST_CASE("replicas on two devices learn the parameters that one module learns", "[two_devices]") {
  if (!are_two()) return;
  const std::vector<Tensor> expected = trained({kFirst});
  for (const std::vector<Device>& devices : {std::vector<Device>{kFirst, kSecond}, {kSecond, kFirst}}) {
    const std::vector<Tensor> got = trained(devices);
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      INFO("parameter " << i);
      CHECK(got[i].device() == kFirst);
      CHECK(allclose(got[i].cpu(), expected[i].cpu(), 1e-9, 1e-10));
    }
  }
}

TEST_CASE("kernels with large shared memory run on both devices", "[two_devices]") {
  if (!are_two()) return;
  manual_seed(54);
  const Tensor query = randn({1, 2, 70, 128}), key = randn({1, 2, 65, 128}), value = randn({1, 2, 65, 128}),
               mask = randn({70, 65});
  const auto attend = [&](Device device, DType dtype) {
    const auto there = [&](const Tensor& x) { return x.to(device).to(dtype); };
    Tensor q = there(query).requires_grad_();
    const Tensor y = scaled_dot_product_attention(q, there(key), there(value), there(mask));
    return std::array<Tensor, 2>{y.detach().cpu(), autograd::grad({y.sum()}, {q})[0].cpu()};
  };
  for (const DType dtype : {kFloat, kHalf}) {
    const auto here = attend(kFirst, dtype), there = attend(kSecond, dtype), again = attend(kFirst, dtype);
    for (std::size_t i = 0; i < 2; ++i) {
      INFO(to_string(dtype) << ", " << i);
      CHECK(allclose(there[i].to(kDouble), here[i].to(kDouble), 1e-2, 1e-2));
      CHECK(allclose(again[i].to(kDouble), here[i].to(kDouble), 1e-2, 1e-2));
    }
  }
}

TEST_CASE("two devices run concurrently with one thread each", "[two_devices]") {
  if (!are_two()) return;
  manual_seed(55);
  const Tensor x = randn({2, 4, 9, 9}), w = randn({8, 4, 3, 3}), m = randn({33, 17});
  const auto work = [&](Device device) {
    const cuda::DeviceGuard guard(device);
    const auto there = [](const Tensor& t) { return t.to(Device::CUDA); };
    Tensor sum = zeros({}, Device::CUDA);
    for (int i = 0; i < 10; ++i) {
      sum = sum + conv2d(there(x), there(w)).relu().sum() + matmul(there(m), there(m).t()).softmax(1).sum();
      sum = sum + std::get<0>(there(m).view({-1}).sort()).cumsum(0).max();
    }
    return sum.cpu();
  };
  std::array<Tensor, 2> got;
  std::thread other([&] { got[1] = work(kSecond); });
  got[0] = work(kFirst);
  other.join();
  const Tensor expected = (conv2d(x, w).relu().sum() + matmul(m, m.t()).softmax(1).sum() +
                           std::get<0>(m.view({-1}).sort()).cumsum(0).max()) *
                          10;
  for (const Tensor& each : got) CHECK(allclose(each, expected, 1e-4, 1e-3));
}

// One batch on replicas on several devices, or several replicas on one.

namespace {

// Records the current device of its forward.
struct HereImpl : nn::Cloneable<HereImpl> {
  HereImpl() { HereImpl::reset(); }
  void reset() override {
    first = register_module("first", nn::Linear(4, 8));
    last = register_module("last", nn::Linear(8, 3));
    to(kDouble);
  }
  Variable forward(const Variable& x) {
    const Variable here = ones({1}, TensorOptions(kCUDA).dtype(kDouble));
    EBB_CHECK(here.device() == x.device(), "on ", here.device(), ", not on ", x.device());
    return last(tanh(first(x))) * here;
  }
  nn::Linear first = nullptr, last = nullptr;
};
EBB_MODULE(Here);

std::vector<Device> three() {
  const Device first("cuda:0"), second(cuda::device_count() > 1 ? "cuda:1" : "cuda:0");
  return {first, second, first};
}

void check_spread() {
  manual_seed(1);
  Here net;
  net->to(Device("cuda:0"));
  const variable_list parameters = net->parameters();
  const Variable x = randn({8, 4}, kDouble).to(Device("cuda:0")).requires_grad_();
  const Variable one = net(x), many = nn::parallel::data_parallel(net, x, three());
  CHECK(many.device() == Device("cuda:0"));
  CHECK(allclose(many, one));
  variable_list inputs = parameters;
  inputs.push_back(x);
  const variable_list expected = autograd::grad({one.pow(2).sum()}, inputs),
                      sums = autograd::grad({many.pow(2).sum()}, inputs);
  for (std::size_t i = 0; i < sums.size(); ++i) CHECK(allclose(sums[i], expected[i]));

  const Variable on_cpu = nn::parallel::data_parallel(net, x, three(), kCPU);
  CHECK(on_cpu.device() == Device(kCPU));
  CHECK(allclose(on_cpu, one.cpu()));
}

}  // namespace

TEST_CASE("replicas on devices give the results of one module", "[two_devices]") { check_spread(); }

TEST_CASE("replicas on devices use the stream of the caller", "[two_devices]") {
  const cuda::StreamGuard guard(cuda::Stream::from_pool());
  check_spread();
}

TEST_CASE("data_parallel without devices uses all devices", "[two_devices]") {
  Here net;
  net->to(Device("cuda:0"));
  const Variable x = ones({4, 4}, TensorOptions(Device("cuda:0")).dtype(kDouble));
  CHECK(allclose(nn::parallel::data_parallel(net, x), net(x)));
}
