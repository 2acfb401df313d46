// Convolutions and attention.
#include "fidelity.h"

// Convolutions in one, two and three dimensions.
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
        [](const Tensors& t) { return torch::conv2d(t[0], t[1], t[2], {2, 1}, {1, 0}, {1, 2}); },
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
        [](const Tensors& t) { return torch::conv3d(t[0], t[1], t[2], {1, 2, 1}, {1, 0, 1}, {1, 1, 2}); },
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

// A small transformer block built from parts: embeddings, heads, masks, layer norm, residuals.
namespace attention {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using namespace torch::indexing;

struct AttentionImpl : nn::Module {
  AttentionImpl(int64_t width, int64_t heads)
      : heads_(heads), qkv(nn::LinearOptions(width, 3 * width).bias(false)), out(width, width) {
    register_module("qkv", qkv);
    register_module("out", out);
  }
  Tensor forward(const Tensor& x) {
    const auto batch = x.size(0), length = x.size(1), width = x.size(2);
    auto parts = qkv(x).chunk(3, -1);
    for (auto& part : parts) part = part.view({batch, length, heads_, width / heads_}).transpose(1, 2);
    auto scores =
        torch::matmul(parts[0], parts[1].transpose(-2, -1)) / std::sqrt(static_cast<double>(width / heads_));
    auto mask = torch::ones({length, length}, torch::kBool).triu(1);
    auto weights = torch::softmax(scores.masked_fill(mask, -kInf), -1);
    return out(torch::matmul(weights, parts[2]).transpose(1, 2).contiguous().view({batch, length, width}));
  }
  int64_t heads_;
  nn::Linear qkv, out;
};
TORCH_MODULE(Attention);

struct BlockImpl : nn::Module {
  explicit BlockImpl(int64_t width)
      : norm1(nn::LayerNormOptions({width})),
        attention(width, 2),
        norm2(nn::LayerNormOptions({width})),
        mlp(nn::Linear(width, 2 * width), nn::GELU(), nn::Linear(2 * width, width)) {
    register_module("norm1", norm1);
    register_module("attention", attention);
    register_module("norm2", norm2);
    register_module("mlp", mlp);
  }
  Tensor forward(Tensor x) {
    x = x + attention(norm1(x));
    return x + mlp->forward(norm2(x));
  }
  nn::LayerNorm norm1;
  Attention attention;
  nn::LayerNorm norm2;
  nn::Sequential mlp;
};
TORCH_MODULE(Block);

struct ModelImpl : nn::Module {
  ModelImpl() : tokens(7, 8), blocks(), head(nn::LinearOptions(8, 7)) {
    register_module("tokens", tokens);
    places = register_parameter("places", torch::zeros({5, 8}));
    for (int i = 0; i < 2; ++i) blocks->push_back(Block(8));
    register_module("blocks", blocks);
    register_module("head", head);
  }
  Tensor forward(const Tensor& text) {
    auto x = tokens(text) + places.index({Slice(None, text.size(1))});
    for (const auto& block : *blocks) x = block->as<Block>()->forward(x);
    return head(x);
  }
  nn::Embedding tokens;
  Tensor places;
  nn::ModuleList blocks;
  nn::Linear head;
};
TORCH_MODULE(Model);

void run() {
  section("transformer", [] {
    Model model;
    model->to(torch::kFloat64);
    {
      torch::NoGradGuard guard;
      double phase = 0;
      for (auto& item : model->named_parameters())
        if (item.key().find("norm") == std::string::npos)
          item.value().copy_(ramp(item.value().sizes().vec(), -0.5, 0.5, phase += 0.3));
    }
    for (const auto& item : model->named_parameters()) report_sizes(item.key(), item.value().sizes().vec());
    const Tensor text = torch::tensor({{1, 4, 2, 6, 0}, {3, 3, 5, 1, 2}});
    report("logits", model->forward(text));
    torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(1e-2).weight_decay(0.05));
    const Tensor input = text.index({Slice(), Slice(None, -1)}),
                 target = text.index({Slice(), Slice(1, None)});
    for (int step = 0; step < 6; ++step) {
      optimizer.zero_grad();
      auto logits = model->forward(input);
      auto loss = F::cross_entropy(logits.reshape({-1, 7}), target.reshape(-1));
      loss.backward();
      if (step == 0) {
        report("grad.tokens", model->tokens->weight.grad());
        report("grad.places", model->places.grad());
      }
      const double norm = nn::utils::clip_grad_norm_(model->parameters(), 1.0);
      if (step % 2 == 0) report_value("norm" + std::to_string(step), norm);
      optimizer.step();
      report("loss" + std::to_string(step), loss);
    }
    model->eval();
    torch::NoGradGuard guard;
    // Greedy generation, one token at a time.
    Tensor line = torch::tensor({{1}});
    for (int i = 0; i < 4; ++i) {
      auto next = model->forward(line).index({Slice(), -1}).argmax(-1, true);
      line = torch::cat({line, next}, 1);
    }
    report("greedy", line);
  });
}

const Program program("attention", run);

}  // namespace attention
