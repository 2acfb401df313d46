// Dropout on a device: the mask is a function of the seed and the number of the draw, the same on the host.
#include <ebb/ebb.h>

#include "ops/random/kernels.h"
#include "support/catch.h"

using namespace ebb;

namespace {

constexpr std::uint64_t kSeed = 77;

/// What dropout of x must give: x's elements in the order of its memory, masked on the host.
Tensor on_host(const Tensor& x, double p, std::uint64_t draw) {
  const Tensor from = x.detach().cpu();
  const double scale = x.dtype() == kDouble ? 1 / (1 - p) : double{1 / static_cast<float>(1 - p)};
  NdArray out = NdArray::empty_strided(from.sizes(), from.strides(), from.dtype());
  kernels::dropout(Device::CPU, out, from.array(), drawing::Dropout(Philox{kSeed, draw}, 1 - p, scale));
  return Tensor(out);
}

}  // namespace

TEST_CASE("a device's dropout is the host's, bit for bit, and so is its gradient") {
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16})
    for (const double p : {0.1, 0.5, 0.95}) {
      const Tensor odd = randn({1030}, dtype).to(Device::CUDA),
                   image = randn({4, 6, 10}, dtype).to(Device::CUDA);
      std::vector<Tensor> inputs = {odd.slice(0, 1), odd.slice(0, 3, 1000), image, image.transpose(0, 2),
                                    randn({70000}, dtype).to(Device::CUDA)};
      for (const std::int64_t size : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 255, 256, 257, 511, 512, 513, 1536})
        inputs.push_back(randn({size}, dtype).to(Device::CUDA));
      for (const Tensor& input : inputs) {
        INFO(dtype << ", p = " << p << ", size " << input.numel());
        Tensor x = input.detach().requires_grad_();
        manual_seed(kSeed);
        const Tensor first = dropout(x, p, true), second = dropout(x, p, true);
        CHECK(equal(first.cpu(), on_host(x, p, 0)));
        CHECK(equal(second.cpu(), on_host(x, p, 1)));
        CHECK(first.strides() == x.strides());
        const Tensor grad = randn(x.sizes(), x.options().requires_grad(false));
        Tensor ordered = empty_strided(x.sizes(), x.strides(), grad.options());
        ordered.copy_(grad);
        second.backward(grad);
        CHECK(equal(x.grad().cpu(), on_host(ordered, p, 1)));
        Tensor changed = x.detach().clone();
        manual_seed(kSeed);
        dropout_(changed, p, true);
        CHECK(equal(changed.cpu(), on_host(x, p, 0)));
      }
    }
}

TEST_CASE("dropout of a device keeps as many as it should, and what has holes too") {
  manual_seed(kSeed);
  const TensorOptions on_cuda(Device::CUDA);
  const Tensor y = dropout(ones({100000}, on_cuda), 0.3, true);
  CHECK((y > 0).sum().item<double>() / 100000 == Approx(0.7).margin(0.01));
  CHECK(y.max().item<double>() == Approx(1 / 0.7));
  const Tensor holes = arange(1, 61, on_cuda).to(kFloat).view({6, 10}).slice(1, 0, 10, 3);
  manual_seed(kSeed);
  CHECK(equal(dropout(holes, 0.5, true).cpu(), on_host(holes.contiguous(), 0.5, 0)));
  Tensor changed = ones({6, 10}, on_cuda);
  dropout_(changed.slice(1, 0, 10, 3), 0.5, true);
  CHECK(changed.slice(1, 1, 10, 3).sum().item<float>() == 18);
  CHECK(changed.slice(1, 0, 10, 3).max().item<float>() == 2);
}

TEST_CASE("gradients of dropout's gradient on a device") {
  manual_seed(kSeed);
  Tensor x = randn({50}, TensorOptions(Device::CUDA).dtype(kDouble)).requires_grad_();
  const Tensor y = dropout(x, 0.4, true);
  CHECK(y.grad_fn()->name() == "NativeDropoutBackward0");
  const Tensor g = autograd::grad({(y * y).sum()}, {x}, {}, true, true)[0];
  const Tensor h = autograd::grad({g.sum()}, {x})[0];  // 2 m^2 for each mask value m
  const Tensor mask = on_host(ones_like(x), 0.4, 1);   // draw 0 made x
  CHECK(allclose(h.cpu(), 2 * mask * mask));
  Tensor z = randn({30}, TensorOptions(Device::CUDA)).requires_grad_();
  Tensor changed = z * 2;
  dropout_(changed, 0.4, true);
  changed.sum().backward();
  CHECK(equal(z.grad().cpu(), 2 * on_host(ones_like(z), 0.4, 3)));
}
