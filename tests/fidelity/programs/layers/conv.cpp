// Convolutions in one, two and three dimensions.
#include "fidelity.h"

namespace conv {

namespace F = torch::nn::functional;

void run() {
  const Tensor x1 = ramp({2, 4, 7}), x2 = ramp({2, 4, 5, 6}), x3 = ramp({1, 2, 3, 4, 4});
  const Tensor w1 = ramp({4, 4, 3}, -1, 1, 1.1), w2 = ramp({6, 4, 3, 2}, -1, 1, 1.2),
               w3 = ramp({2, 2, 2, 2, 3}, -1, 1, 1.3);
  const Tensor b4 = ramp({4}), b6 = ramp({6}), b2 = ramp({2});

  grads("conv1d", [](const Tensors& t) { return torch::conv1d(t[0], t[1], t[2]); }, {x1, w1, b4});
  grads("conv1d.nobias", [](const Tensors& t) { return torch::conv1d(t[0], t[1]); }, {x1, w1});
  grads("conv1d.stride", [](const Tensors& t) { return torch::conv1d(t[0], t[1], t[2], 2, 1); },
        {x1, w1, b4});
  grads("conv1d.dilation", [](const Tensors& t) { return torch::conv1d(t[0], t[1], {}, 1, 2, 2); }, {x1, w1});
  grads("conv1d.groups", [](const Tensors& t) { return torch::conv1d(t[0], t[1], t[2], 1, 1, 1, 2); },
        {x1, ramp({4, 2, 3}), b4});
  grads("conv1d.same", [](const Tensors& t) { return torch::conv1d(t[0], t[1], t[2], 1, "same"); },
        {x1, w1, b4});
  grads("conv1d.same_even", [](const Tensors& t) { return torch::conv1d(t[0], t[1], {}, 1, "same", 2); },
        {x1, ramp({2, 4, 4})});
  grads("conv1d.unbatched", [](const Tensors& t) { return torch::conv1d(t[0], t[1], t[2]); },
        {ramp({4, 7}), w1, b4});

  grads("conv2d", [](const Tensors& t) { return torch::conv2d(t[0], t[1], t[2]); }, {x2, w2, b6});
  grads("conv2d.padding", [](const Tensors& t) { return torch::conv2d(t[0], t[1], t[2], 1, 1); },
        {x2, w2, b6});
  grads("conv2d.pairs",
        [](const Tensors& t) {
          return torch::conv2d(t[0], t[1], t[2], {2, 1}, {1, 0}, {1, 2});
        },
        {x2, w2, b6});
  grads("conv2d.groups", [](const Tensors& t) { return torch::conv2d(t[0], t[1], t[2], 1, 1, 1, 2); },
        {x2, ramp({6, 2, 3, 2}), b6});
  grads("conv2d.depthwise", [](const Tensors& t) { return torch::conv2d(t[0], t[1], {}, 2, 1, 1, 4); },
        {x2, ramp({8, 1, 3, 3})});
  grads("conv2d.same", [](const Tensors& t) { return torch::conv2d(t[0], t[1], t[2], 1, "same"); },
        {x2, w2, b6});
  grads("conv2d.valid", [](const Tensors& t) { return torch::conv2d(t[0], t[1], t[2], 2, "valid"); },
        {x2, w2, b6});
  grads("conv2d.1x1", [](const Tensors& t) { return torch::conv2d(t[0], t[1], t[2]); },
        {x2, ramp({6, 4, 1, 1}), b6});
  grads("conv2d.unbatched", [](const Tensors& t) { return torch::conv2d(t[0], t[1], t[2]); },
        {ramp({4, 5, 6}), w2, b6});
  grads("conv2d.strided", [](const Tensors& t) { return torch::conv2d(t[0].transpose(2, 3), t[1], t[2]); },
        {x2, w2, b6});
  grads("conv2d.wide_stride", [](const Tensors& t) { return torch::conv2d(t[0], t[1], t[2], 3); },
        {x2, w2, b6});
  grads("F.conv2d",
        [](const Tensors& t) {
          return F::conv2d(t[0], t[1],
                           F::Conv2dFuncOptions().bias(t[2]).stride({1, 2}).padding(1).dilation(1).groups(1));
        },
        {x2, w2, b6});
  grads("F.conv1d", [](const Tensors& t) { return F::conv1d(t[0], t[1], F::Conv1dFuncOptions().stride(2)); },
        {x1, w1});

  grads("conv3d", [](const Tensors& t) { return torch::conv3d(t[0], t[1], t[2]); }, {x3, w3, b2});
  grads("conv3d.all",
        [](const Tensors& t) {
          return torch::conv3d(t[0], t[1], t[2], {1, 2, 1}, {1, 0, 1}, {1, 1, 2});
        },
        {x3, w3, b2});

  section("modules", [&] {
    torch::nn::Conv2d conv(torch::nn::Conv2dOptions(4, 6, {3, 2}).stride(2).padding({1, 0}).bias(false));
    {
      torch::NoGradGuard guard;
      conv->weight.copy_(w2);
    }
    conv->to(torch::kFloat64);
    report("Conv2d", conv->forward(x2));
    report("Conv2d.call", conv(x2));
    report_value("Conv2d.bias", conv->bias.defined());
    torch::nn::Conv1d same(
        torch::nn::Conv1dOptions(4, 4, 3).padding(torch::kSame).padding_mode(torch::kReplicate));
    report_sizes("Conv1d.same", same->forward(x1.to(torch::kFloat32)).sizes().vec());
    torch::nn::Conv2d circular(
        torch::nn::Conv2dOptions(4, 6, {3, 2}).padding({1, 1}).padding_mode(torch::kCircular));
    circular->to(torch::kFloat64);
    {
      torch::NoGradGuard guard;
      circular->weight.copy_(w2);
      circular->bias.copy_(b6);
    }
    report("Conv2d.circular", circular(x2));
    torch::nn::Conv3d volume(torch::nn::Conv3dOptions(2, 2, {2, 2, 3}));
    report_sizes("Conv3d.weight", volume->weight.sizes().vec());
    report_sizes("Conv2d.groups",
                 torch::nn::Conv2d(torch::nn::Conv2dOptions(4, 8, 3).groups(4))->weight.sizes().vec());
  });

  section("refused", [&] {
    report_error("channels", [&] { torch::conv2d(x2, ramp({6, 3, 3, 2})); });
    report_error("dims", [&] { torch::conv2d(x1, w1); });
    report_error("kernel", [&] { torch::conv2d(x2, ramp({6, 4, 9, 2})); });
    report_error("bias", [&] { torch::conv2d(x2, w2, b4); });
    report_error("stride", [&] { torch::conv2d(x2, w2, {}, 0); });
    report_error("padding", [&] { torch::conv2d(x2, w2, {}, 1, -1); });
    report_error("dilation", [&] { torch::conv2d(x2, w2, {}, 1, 1, 0); });
    report_error("groups", [&] { torch::conv2d(x2, w2, {}, 1, 1, 1, 3); });
    report_error("dtype", [&] { torch::conv2d(x2, w2.to(torch::kFloat32)); });
    report_error("same.stride", [&] { torch::conv2d(x2, w2, {}, 2, "same"); });
    report_error("mode", [&] { torch::conv2d(x2, w2, {}, 1, "full"); });
    report("batch0", torch::conv2d(x2.slice(0, 0, 0), w2));
    report("f32",
           torch::conv2d(x2.to(torch::kFloat32), w2.to(torch::kFloat32), b6.to(torch::kFloat32), 1, 1));
  });
}

const Program program("conv", run);

}  // namespace conv
