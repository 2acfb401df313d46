// A custom op with CPU and CUDA kernels outside ebb: its values, derivatives and streams.
#include <ebb/ebb.h>

#include "cube.h"

#include <cstdio>
#include <string>

namespace {

using ebb::Tensor;
using ebb::autograd::AutogradContext;

/// x^3, or 3 x^2 grad if grad is defined, computed by the kernel of x's device on its current stream.
Tensor run(const Tensor& x, const Tensor& grad = {}) {
  const Tensor in = x.contiguous(), slope = grad.defined() ? grad.contiguous() : Tensor();
  Tensor out = ebb::empty_like(in);
  const auto with = [&]<class T>(T*) {
    T* const y = out.data_ptr<T>();
    const T* const of = in.data_ptr<T>();
    const T* const by = slope.defined() ? slope.data_ptr<T>() : nullptr;
    if (x.is_cuda())
      cube_on_device(y, of, by, in.numel(), ebb::cuda::Stream::current(x.device()).handle());
    else
      for (std::int64_t i = 0; i < in.numel(); ++i) y[i] = cube_of(of[i], by ? by + i : nullptr);
  };
  EBB_CHECK(x.dtype() == ebb::kFloat || x.dtype() == ebb::kDouble, "cube: expected float or double, got ",
            x.dtype(), ".");
  if (x.dtype() == ebb::kFloat)
    with(static_cast<float*>(nullptr));
  else
    with(static_cast<double*>(nullptr));
  return out;
}

/// 3 x^2 grad, which is differentiable too.
struct CubeSlope : ebb::autograd::Function<CubeSlope> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& grad) {
    ctx->save_for_backward({x, grad});
    return run(x, grad);
  }
  static ebb::variable_list backward(AutogradContext* ctx, const ebb::variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    const Tensor &x = saved[0], &grad = saved[1];
    return {grads[0] * grad * x * 6, grads[0] * x * x * 3};
  }
};

struct Cube : ebb::autograd::Function<Cube> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return run(x);
  }
  static ebb::variable_list backward(AutogradContext* ctx, const ebb::variable_list& grads) {
    return {CubeSlope::apply(ctx->get_saved_variables()[0], grads[0])};
  }
};

void check(ebb::Device device) {
  const auto cube = [](const ebb::variable_list& x) { return ebb::variable_list{Cube::apply(x[0])}; };
  const Tensor x =
      ebb::linspace(-2, 2, 1000, ebb::kDouble).to(device).slice(0, 0, 1000, 100).clone().requires_grad_();
  EBB_CHECK(ebb::gradcheck(cube, {x}) && ebb::gradgradcheck(cube, {x}), "cube: a derivative is wrong.");
  const Tensor large = ebb::randn({300, 1000}).to(device);
  EBB_CHECK(ebb::allclose(Cube::apply(large), large * large * large), "cube: a value is wrong.");
  if (!device.is_cuda()) return;

  // On another stream: it waits for the input, and the memory of both tensors is reserved for it.
  using ebb::cuda::Stream;
  const Stream usual = Stream::current(device), side = Stream::from_pool(device);
  Tensor there;
  {
    side.wait(usual);
    const ebb::cuda::StreamGuard guard(side);
    there = Cube::apply(large);
    large.record_stream(side);
  }
  usual.wait(side);
  there.record_stream(usual);
  EBB_CHECK(ebb::allclose(there, large * large * large), "cube: a value is wrong on another stream.");
}

}  // namespace

int main(int argc, char** argv) {
  check(ebb::kCPU);
  const bool wanted = argc > 1 && std::string(argv[1]) == "cuda";
  EBB_CHECK(!wanted || ebb::cuda::is_available(), "there is no device");
  if (ebb::cuda::is_available()) check(ebb::kCUDA);
  std::printf("cube is right on the CPU%s\n", ebb::cuda::is_available() ? " and on CUDA" : "");
}
