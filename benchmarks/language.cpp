// Language models: a training step of a small GPT, and cross entropy over a large vocabulary.
#include "bench.h"
#include "transformer.h"

namespace {

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int64_t kLayers = 4, kWidth = 256, kHeads = 8, kSteps = 128, kWords = 1000;

struct GPTImpl : nn::Module {
  GPTImpl() {
    words = register_module("words", nn::Embedding(kWords, kWidth));
    places = register_module("places", nn::Embedding(kSteps, kWidth));
    for (int64_t i = 0; i < kLayers; ++i) blocks->push_back(bench::Block(kWidth, kHeads, true));
    register_module("blocks", blocks);
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
    head = register_module("head", nn::Linear(nn::LinearOptions(kWidth, kWords).bias(false)));
  }
  Tensor forward(const Tensor& tokens) {
    const Tensor x = words->forward(tokens) + places->forward(torch::arange(tokens.size(1)));
    return head->forward(norm->forward(blocks->forward(x)));
  }
  nn::Embedding words{nullptr}, places{nullptr};
  nn::Sequential blocks;
  nn::LayerNorm norm{nullptr};
  nn::Linear head{nullptr};
};
TORCH_MODULE(GPT);

void train_gpt(benchmark::State& state, int64_t batch) {
  torch::manual_seed(1);
  GPT net;
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(3e-4));
  const Tensor text = torch::randint(kWords, {batch, kSteps + 1}, torch::kLong);
  const Tensor tokens = text.slice(1, 0, kSteps), next = text.slice(1, 1).reshape({-1});
  // The causal mask removes half of the steps.
  const double positions = static_cast<double>(batch * kSteps);
  const double forward =
      kLayers * bench::transformer_flops(positions, kSteps / 2.0, kWidth) + 2 * positions * kWidth * kWords;
  bench::measure(
      state, 1, "ms/step",
      [&] {
        optimizer.zero_grad();
        F::cross_entropy(net->forward(tokens).view({-1, kWords}), next).backward();
        optimizer.step();
      },
      bench::flops(3 * forward));
}

// Forward reads the scores, and backward reads them again and writes their gradient.
void cross_entropy(benchmark::State& state, double smoothing) {
  torch::manual_seed(1);
  const Tensor scores = torch::randn({128, 50000}).requires_grad_();
  const Tensor classes = torch::randint(50000, {128}, torch::kLong);
  bench::measure(
      state, 1, "ms",
      [&] {
        scores.mutable_grad() = Tensor();
        F::cross_entropy(scores, classes, F::CrossEntropyFuncOptions().label_smoothing(smoothing)).backward();
      },
      bench::bytes(3 * 4 * 128 * 50000.0));
}

// The last layer of a language model and its loss, with the gradients of its input and its weight.
void head(benchmark::State& state) {
  torch::manual_seed(1);
  nn::Linear layer(nn::LinearOptions(128, 50000).bias(false));
  const Tensor x = torch::randn({128, 128}).requires_grad_();
  const Tensor classes = torch::randint(50000, {128}, torch::kLong);
  bench::measure(
      state, 1, "ms",
      [&] {
        layer->zero_grad();
        x.mutable_grad() = Tensor();
        F::cross_entropy(layer->forward(x), classes).backward();
      },
      bench::flops(3 * 2 * 128.0 * 128 * 50000));
}

}  // namespace

int main(int argc, char** argv) {
  for (const int64_t batch : {1, 4})
    bench::add("language.gpt.train." + std::to_string(batch),
               [=](benchmark::State& state) { train_gpt(state, batch); });
  bench::add("language.cross_entropy.50000", [](benchmark::State& state) { cross_entropy(state, 0); });
  bench::add("language.cross_entropy.50000.smoothed",
             [](benchmark::State& state) { cross_entropy(state, 0.1); });
  bench::add("language.head.50000", head);
  return bench::run(argc, argv);
}
