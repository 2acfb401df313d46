// Tensors that move to a device and back.
#include <ebb/ebb.h>

#include <sstream>

#include "support/catch.h"
#include "support/compare.h"

using namespace ebb;
using support::Contains;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

using support::same;

}  // namespace

TEST_CASE("to moves values and keeps dtype and shape") {
  const Tensor x = randn({3, 4}, kDouble), y = x.to(Device::CUDA);
  CHECK(y.device() == Device(Device::CUDA, 0));
  CHECK(y.is_cuda());
  CHECK(y.dtype() == kDouble);
  CHECK(y.sizes() == x.sizes());
  CHECK(same(x, y));
  CHECK(y.to(Device::CUDA).is_same(y));
  CHECK(y.to(Device("cuda:0")).is_same(y));
}

TEST_CASE("to goes through layouts and dtypes") {
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

TEST_CASE("gradients flow through a move") {
  Tensor x = tensor({1.0, 2.0, 3.0}, kDouble).requires_grad_();
  const Tensor y = (x.to(Device::CUDA) * 2).exp().cpu().sum();
  y.backward();
  CHECK(x.grad().device().is_cpu());
  CHECK(allclose(x.grad(), 2 * (2 * x.detach()).exp()));
}

TEST_CASE("printing names the device") {
  std::ostringstream out;
  out << tensor({1.0, 2.0}, kOnCuda);
  CHECK(out.str() == "tensor([1., 2.], device='cuda:0')");
}

TEST_CASE("creation happens where the options say") {
  CHECK(zeros({2}, kOnCuda).device() == Device("cuda:0"));
  CHECK(same(arange(5, kOnCuda), arange(5)));
  CHECK(same(eye(3, kOnCuda), eye(3)));
  CHECK(same(linspace(0, 1, 7, kOnCuda), linspace(0, 1, 7)));
  // A fused multiplication and subtraction gives 49 in place of 50.
  CHECK(linspace(0, 100, 7, kOnCuda.dtype(kInt64)).select(0, 3).item<std::int64_t>() == 50);
  CHECK(same(full({2, 2}, 7, kOnCuda.dtype(kLong)), full({2, 2}, 7, kLong)));
  CHECK(ones_like(zeros({2}, kOnCuda)).is_cuda());
}

TEST_CASE("operands on two devices are an error that names both") {
  const Tensor x = ones({2}), y = ones({2}, kOnCuda);
  CHECK_THROWS_WITH(x + y, Contains("add") && Contains("cpu") && Contains("cuda:0"));
  CHECK_THROWS_WITH(matmul(x.view({1, 2}), y.view({2, 1})), Contains("cpu") && Contains("cuda:0"));
  CHECK_THROWS_WITH(nn::functional::conv2d(ones({1, 1, 3, 3}), ones({1, 1, 2, 2}, kOnCuda)),
                    Contains("cpu") && Contains("cuda:0"));
  // A number is at home everywhere.
  CHECK(same(y + tensor(2.0f), tensor({3.0f, 3.0f})));
}

TEST_CASE("there are as many devices as the driver shows") {
  CHECK(cuda::device_count() >= 1);
  cuda::synchronize();
  CHECK_THROWS_AS(cuda::synchronize(100), Error);
  CHECK_THROWS_WITH(ones({1}).to(Device("cuda:100")), Contains("cuda:100"));
}

TEST_CASE("a second device is a device of its own", "[two_devices]") {
  if (cuda::device_count() < 2) return;
  const Tensor x = arange(4, kOnCuda), y = x.to(Device("cuda:1"));
  CHECK(y.device() == Device("cuda:1"));
  CHECK(same(x, y));
  CHECK(same((y * y).to(Device("cuda:0")), x * x));
  CHECK_THROWS_WITH(x + y, Contains("cuda:0") && Contains("cuda:1"));
}

TEST_CASE("an index out of range is an error at the next wait, and the device stays usable") {
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

TEST_CASE("host memory that is borrowed is copied to the device") {
  std::vector<float> values = {1, 2, 3};
  const Tensor x = from_blob(values.data(), {3}).to(Device::CUDA);
  values[0] = 9;
  CHECK(x[0].item<float>() == 1);
}
