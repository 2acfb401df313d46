// A small transformer block from its parts: embeddings, heads, masks, layer norm, residuals.
#include "fidelity.h"

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
    // Greedy continuation, one token at a time.
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
