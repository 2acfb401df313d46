// Training steps of models that are mostly tables: a recommender, and word embeddings. Gradients are dense.
#include "bench.h"

#include <vector>

namespace {

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

template <class Net, class Loss>
void measure_step(benchmark::State& state, Net& net, const bench::Work& work, const Loss& loss) {
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01));
  bench::measure(
      state, 1, "ms/step",
      [&] {
        optimizer.zero_grad();
        loss().backward();
        optimizer.step();
      },
      work);
}

// For a table of `floats`, backward writes its gradient, and the step reads both and writes the table.
bench::Work tables(double floats) { return bench::bytes(4 * 4 * floats); }

// A recommender as DLRM: 13 numbers and 26 categories, the products of all pairs of their vectors, and an
// MLP.
struct RecommenderImpl : nn::Module {
  static constexpr int64_t kNumbers = 13, kBags = 26, kRows = 10000, kWidth = 16;

  RecommenderImpl() {
    for (int64_t i = 0; i < kBags; ++i)
      bags.push_back(
          register_module("bag" + std::to_string(i),
                          nn::EmbeddingBag(nn::EmbeddingBagOptions(kRows, kWidth).mode(torch::kSum))));
    bottom = register_module(
        "bottom", nn::Sequential(nn::Linear(kNumbers, 64), nn::ReLU(), nn::Linear(64, kWidth), nn::ReLU()));
    pairs = torch::tril_indices(kBags + 1, kBags + 1, -1);
    top = register_module("top", nn::Sequential(nn::Linear(kWidth + pairs.size(1), 128), nn::ReLU(),
                                                nn::Linear(128, 64), nn::ReLU(), nn::Linear(64, 1)));
  }
  Tensor forward(const Tensor& numbers, const std::vector<Tensor>& categories, const Tensor& starts) {
    const Tensor dense = bottom->forward(numbers);
    std::vector<Tensor> vectors = {dense};
    for (std::size_t i = 0; i < bags.size(); ++i) vectors.push_back(bags[i]->forward(categories[i], starts));
    const Tensor all = torch::stack(vectors, 1);
    const Tensor products = torch::bmm(all, all.transpose(1, 2)).flatten(1);
    const Tensor below = pairs.select(0, 0) * (kBags + 1) + pairs.select(0, 1);
    return top->forward(torch::cat({dense, products.index_select(1, below)}, 1)).squeeze(1);
  }
  std::vector<nn::EmbeddingBag> bags;
  nn::Sequential bottom{nullptr}, top{nullptr};
  Tensor pairs;
};
TORCH_MODULE(Recommender);

void recommender(benchmark::State& state, int64_t batch) {
  torch::manual_seed(1);
  Recommender net;
  using Sizes = RecommenderImpl;
  constexpr int64_t kEach = 4;  // categories of a bag
  const Tensor numbers = torch::rand({batch, Sizes::kNumbers}), clicks = torch::rand({batch}).round();
  const Tensor starts = torch::arange(0, batch * kEach, kEach);
  std::vector<Tensor> categories;
  for (int64_t i = 0; i < Sizes::kBags; ++i)
    categories.push_back(torch::randint(Sizes::kRows, {batch * kEach}, torch::kLong));
  measure_step(state, net, tables(Sizes::kBags * Sizes::kRows * Sizes::kWidth), [&] {
    return F::binary_cross_entropy_with_logits(net->forward(numbers, categories, starts), clicks);
  });
}

// Skip-gram with negative samples (word2vec): 512 pairs of words, and five more words for each.
struct SkipGramImpl : nn::Module {
  SkipGramImpl(int64_t words, int64_t width) {
    centers = register_module("centers", nn::Embedding(words, width));
    contexts = register_module("contexts", nn::Embedding(words, width));
  }
  // Returns the scores [batch, n] of `center`, [batch], with `context`, [batch, n].
  Tensor forward(const Tensor& center, const Tensor& context) {
    return torch::bmm(contexts->forward(context), centers->forward(center).unsqueeze(2)).squeeze(2);
  }
  nn::Embedding centers{nullptr}, contexts{nullptr};
};
TORCH_MODULE(SkipGram);

void skip_gram(benchmark::State& state, int64_t words) {
  torch::manual_seed(1);
  SkipGram net(words, 128);
  const Tensor center = torch::randint(words, {512}, torch::kLong);
  const Tensor context = torch::randint(words, {512, 6}, torch::kLong);
  const Tensor real = torch::zeros({512, 6});
  real.select(1, 0).fill_(1);
  measure_step(state, net, tables(2 * 128.0 * static_cast<double>(words)),
               [&] { return F::binary_cross_entropy_with_logits(net->forward(center, context), real); });
}

}  // namespace

int main(int argc, char** argv) {
  for (const int64_t batch : {128, 2048})
    bench::add("embeddings.recommender." + std::to_string(batch),
               [=](benchmark::State& state) { recommender(state, batch); });
  for (const int64_t words : {1000, 50000})
    bench::add("embeddings.skip_gram." + std::to_string(words),
               [=](benchmark::State& state) { skip_gram(state, words); });
  return bench::run(argc, argv);
}
