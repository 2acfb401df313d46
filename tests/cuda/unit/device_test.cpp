// Devices: moving tensors, a kernel in every slot, and a device out of memory.
#include <ebb/ebb.h>

#include "cuda/unit/against_cpu.h"
#include "support/all_slots.h"
#include "support/catch.h"
#include "support/compare.h"

#include <bit>
#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

// Tensors that are moved to a device and back.

using namespace ebb;
using support::Contains;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

using support::same;

}  // namespace

TEST_CASE("Tensor::to a device keeps values and dtype and shape") {
  const Tensor x = randn({3, 4}, kDouble), y = x.to(Device::CUDA);
  CHECK(y.device() == Device(Device::CUDA, 0));
  CHECK(y.is_cuda());
  CHECK(y.dtype() == kDouble);
  CHECK(y.sizes() == x.sizes());
  CHECK(same(x, y));
  CHECK(y.to(Device::CUDA).is_same(y));
  CHECK(y.to(Device("cuda:0")).is_same(y));
}

TEST_CASE("Tensor::to a device handles all layouts and dtypes") {
  const Tensor x = arange(24).view({2, 3, 4});
  CHECK(same(x.transpose(0, 2).to(Device::CUDA), x.transpose(0, 2)));
  CHECK(same(x.to(Device::CUDA).transpose(0, 2), x.transpose(0, 2)));
  CHECK(same(x.to(Device::CUDA).slice(2, 1, 4, 2), x.slice(2, 1, 4, 2)));
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kInt, kShort, kChar, kByte, kBool}) {
    INFO(to_string(dtype));
    CHECK(same(x.to(Device::CUDA, dtype), x.to(dtype)));
    CHECK(same(x.to(Device::CUDA).to(dtype), x.to(dtype)));
  }
  CHECK(x.to(Device::CUDA).slice(0, 0, 0).numel() == 0);
}

TEST_CASE("gradients flow through Tensor::to a device") {
  Tensor x = tensor({1.0, 2.0, 3.0}, kDouble).requires_grad_();
  const Tensor y = (x.to(Device::CUDA) * 2).exp().cpu().sum();
  y.backward();
  CHECK(x.grad().device().is_cpu());
  CHECK(allclose(x.grad(), 2 * (2 * x.detach()).exp()));
}

TEST_CASE("a printed tensor names its device") {
  std::ostringstream out;
  out << tensor({1.0, 2.0}, kOnCuda);
  CHECK(out.str() == "tensor([1., 2.], device='cuda:0')");
}

TEST_CASE("factory functions create tensors on the device of their options") {
  CHECK(zeros({2}, kOnCuda).device() == Device("cuda:0"));
  CHECK(same(arange(5, kOnCuda), arange(5)));
  CHECK(same(eye(3, kOnCuda), eye(3)));
  CHECK(same(linspace(0, 1, 7, kOnCuda), linspace(0, 1, 7)));
  // A fused multiply-subtract gives 49 instead of 50.
  CHECK(linspace(0, 100, 7, kOnCuda.dtype(kInt64)).select(0, 3).item<std::int64_t>() == 50);
  CHECK(same(full({2, 2}, 7, kOnCuda.dtype(kLong)), full({2, 2}, 7, kLong)));
  CHECK(ones_like(zeros({2}, kOnCuda)).is_cuda());
}

TEST_CASE("an op whose operands are on different devices throws and names both devices") {
  const Tensor x = ones({2}), y = ones({2}, kOnCuda);
  CHECK_THROWS_WITH(x + y, Contains("add") && Contains("cpu") && Contains("cuda:0"));
  CHECK_THROWS_WITH(matmul(x.view({1, 2}), y.view({2, 1})), Contains("cpu") && Contains("cuda:0"));
  CHECK_THROWS_WITH(nn::functional::conv2d(ones({1, 1, 3, 3}), ones({1, 1, 2, 2}, kOnCuda)),
                    Contains("cpu") && Contains("cuda:0"));
  // A zero-dimensional tensor may be on another device.
  CHECK(same(y + tensor(2.0f), tensor({3.0f, 3.0f})));
}

TEST_CASE("device_count is at least 1 and a device index beyond it throws") {
  CHECK(cuda::device_count() >= 1);
  cuda::synchronize();
  CHECK_THROWS_AS(cuda::synchronize(100), Error);
  CHECK_THROWS_WITH(ones({1}).to(Device("cuda:100")), Contains("cuda:100"));
}

TEST_CASE("a second device has its own tensors", "[two_devices]") {
  if (cuda::device_count() < 2) return;
  const Tensor x = arange(4, kOnCuda), y = x.to(Device("cuda:1"));
  CHECK(y.device() == Device("cuda:1"));
  CHECK(same(x, y));
  CHECK(same((y * y).to(Device("cuda:0")), x * x));
  CHECK_THROWS_WITH(x + y, Contains("cuda:0") && Contains("cuda:1"));
}

TEST_CASE("an index out of range is an error at the next synchronization and the device stays usable") {
  const Tensor x = arange(10, kOnCuda), bad = tensor({1, 12}, kOnCuda.dtype(kLong));
  CHECK_THROWS_WITH(x.index_select(0, bad).cpu(),
                    Contains("index_select") && Contains("12") && Contains("size 10"));
  CHECK_THROWS_AS([&] { return x.gather(0, bad).cpu(); }(), IndexError);
  CHECK_THROWS_WITH(
      nn::functional::cross_entropy(ones({2, 3}, kOnCuda), tensor({1, 5}, kOnCuda.dtype(kLong))).cpu(),
      Contains("cross_entropy") && Contains("5"));
  CHECK_THROWS_WITH(bernoulli(full({2}, 1.5, kOnCuda)).cpu(), Contains("bernoulli") && Contains("[0, 1]"));
  CHECK(same(x, arange(10)));
}

TEST_CASE("the host memory of from_blob can be changed after the tensor is copied to a device") {
  std::vector<float> values = {1, 2, 3};
  const Tensor x = from_blob(values.data(), {3}).to(Device::CUDA);
  values[0] = 9;
  CHECK(x[0].item<float>() == 1);
}

// Every kernel slot of the library has a kernel on every device, except slots that may decline.

TEST_CASE("every slot has a kernel on every device") {
  REQUIRE(ebb::cuda::is_available());  // loads the plugin
  const std::vector<ebb::testing::Named> slots = ebb::testing::all_slots();
  CHECK(slots.size() > 200);
  for (const ebb::testing::Named& s : slots) {
    INFO(s.symbol);
    REQUIRE(s.slot != nullptr);
    CHECK(s.slot->name[0] != '\0');
    for (const auto kernel : s.slot->cpu) CHECK((kernel == nullptr) == ebb::testing::may_decline(*s.slot));
    CHECK(s.slot->cuda.load() != nullptr);
  }
}

// A full device: an error with memory statistics, after which all works again. A broken device: every later
// call reports the fault.

namespace {

// Allocates smaller and smaller pieces until memory is full, and returns the last error message.
std::string fill(std::vector<Tensor>& pieces) {
  std::string said;
  for (auto bytes = static_cast<std::int64_t>(cuda::get_device_properties().total_memory / 8);
       bytes >= (4 << 20);)
    try {
      pieces.push_back(empty({bytes}, kOnCuda.dtype(kByte)));
    } catch (const Error& error) {
      said = error.what();
      bytes /= 2;
    }
  return said;
}

}  // namespace

TEST_CASE("an allocation on a full device throws and the device stays usable", "[alone]") {
  const Tensor before = arange(1000, kOnCuda);
  before.sum().item();  // loads the kernel, which does not fit on a full device
  std::vector<Tensor> pieces;
  CHECK_THAT(fill(pieces), Contains("out of memory") && Contains("MiB"));
  CHECK(pieces.size() >= 4);
  CHECK(before.sum().item<std::int64_t>() == 499500);  // results that fit into cached blocks still work
  pieces.clear();
  const Tensor large = zeros({std::int64_t{1} << 24}, kOnCuda);
  CHECK((large + 1).sum().item<float>() == static_cast<float>(1 << 24));
  cuda::empty_cache();
}

TEST_CASE("a backward that runs out of memory leaves the graph and the device usable", "[alone]") {
  const Tensor x = ones({std::int64_t{1} << 22}, kOnCuda).requires_grad_();
  std::vector<Tensor> pieces;
  Tensor y = (x * 3).exp().sum();
  fill(pieces);
  cuda::empty_cache();
  // The device determines whether a cached block is large enough for the gradient: both outcomes are fine,
  // but not an inconsistent state.
  try {
    y.backward();
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains("out of memory"));
  }
  pieces.clear();
  Tensor z = ones({8}, kOnCuda).requires_grad_();
  (z * z).sum().backward();
  CHECK(z.grad().sum().item<float>() == 16);
}

TEST_CASE("a capture on a full device throws and the next capture works", "[alone]") {
  std::vector<Tensor> pieces;
  fill(pieces);
  cuda::empty_cache();
  cuda::Graph graph;
  CHECK_THROWS_WITH(graph.capture([] { zeros({std::int64_t{1} << 24}, kOnCuda); }),
                    Contains("out of memory"));
  pieces.clear();
  cuda::empty_cache();
  Tensor x = zeros({8}, kOnCuda);
  graph.capture([&] { x.add_(1); });
  graph.replay();
  CHECK(x.sum().item<float>() == 8);
}

// The device is unusable for its process afterwards, so the case is hidden and runs alone.
TEST_CASE("after an illegal access every call reports the kernel", "[.sticky]") {
  if (!is_real_device()) {
    WARN("the emulation dies of an illegal access");
    return;
  }
  const Tensor nowhere =
      from_blob(std::bit_cast<void*>(std::uintptr_t{0x10000}), {1024}, kOnCuda.dtype(kFloat));
  const auto check_illegal = [](const std::function<void()>& call) {
    CHECK_THROWS_WITH(call(), Contains("illegal memory access") && !Contains("out of memory"));
  };
  check_illegal([&] { (nowhere + 1).cpu(); });
  check_illegal([] { cuda::synchronize(); });
  check_illegal([] { ones({4}, kOnCuda).cpu(); });
  check_illegal([] { empty({std::int64_t{1} << 28}, kOnCuda); });  // requests a new segment from the driver
  // A library only reports that it failed.
  CHECK_THROWS_AS(matmul(empty({8, 8}, kOnCuda), empty({8, 8}, kOnCuda)).cpu(), Error);
  CHECK_THROWS_AS(cuda::Graph().capture([] { ones({4}, kOnCuda); }), Error);
}
