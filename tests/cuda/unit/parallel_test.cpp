// One batch over replicas on several devices, or several on one.
#include <ebb/ebb.h>

#include "support/catch.h"

using namespace ebb;

namespace {

// Keeps the device that is current where it runs.
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

TEST_CASE("replicas on devices compute what one module does", "[two_devices]") { check_spread(); }

TEST_CASE("replicas on devices follow the caller's stream", "[two_devices]") {
  const cuda::StreamGuard guard(cuda::Stream::from_pool());
  check_spread();
}

TEST_CASE("a batch is spread over all devices where none are given", "[two_devices]") {
  Here net;
  net->to(Device("cuda:0"));
  const Variable x = ones({4, 4}, TensorOptions(Device("cuda:0")).dtype(kDouble));
  CHECK(allclose(nn::parallel::data_parallel(net, x), net(x)));
}
