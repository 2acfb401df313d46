// Distributions of dropout, initial values and data samplers.
#include "random_distributions/law.h"

#include <cmath>

using namespace distributions;

namespace {

/// Tests dropout with probability p on ones.
void dropout_row(const std::string& name, double p, double kept, double dropped, const Draw& draw) {
  Law law = coin(1 - p, kept, dropped);
  law.steps = 16;  // from products and cancelling sums
  follows(name, kReals, law, draw);
}

/// Tests bounds below the mean or around it, because the distribution function of the normal is exact only
/// there.
void trunc_normal_row(double mean, double deviation, double from, double to) {
  const std::string of = " of " + std::to_string(deviation) + " from " + std::to_string(from);
  const auto few = [](auto fill) {  // few numbers, because each is redrawn often if the bounds are narrow
    return [=](const TensorOptions& o) {
      Tensor x = empty({kDraws / 4}, o);
      fill(x);
      return x;
    };
  };
  for (const DType dtype : kReals) {
    Law law = cut(normal(mean, deviation), from, to);
    law.steps = element_size(dtype) == 2;  // numbers beyond that round to a bound are accepted, as in torch
    follows("trunc_normal_" + of, {dtype}, law,
            few([=](Tensor& x) { nn::init::trunc_normal_(x, mean, deviation, from, to); }));
    follows("trunc_normal_ mirrored" + of, {dtype}, law,
            few([=](Tensor& x) { nn::init::trunc_normal_(x, -mean, deviation, -to, -from).neg_(); }));
  }
}

/// Returns the draw of a function on a matrix of 512 outputs and 384 inputs.
template <class Fill>
Draw weights(Fill fill) {
  return [fill](const TensorOptions& o) { return fill(empty({512, 384}, o)); };
}

/// Returns all indices of a sampler.
template <class Sampler>
std::vector<std::int64_t> handed_out(Sampler& sampler) {
  std::vector<std::int64_t> all;
  while (const auto batch = sampler.next(16)) all.insert(all.end(), batch->begin(), batch->end());
  return all;
}

/// Returns the ranks of the orders of epochs among all permutations.
template <class Sampler>
Tensor orders(Sampler sampler, const std::function<void(Sampler&, int)>& begin) {
  std::vector<std::vector<std::int64_t>> epochs;
  for (int epoch = 0; epoch < kCalls; ++epoch) {
    begin(sampler, epoch);
    epochs.push_back(handed_out(sampler));
  }
  std::vector<Tensor> rows;
  for (const auto& epoch : epochs) rows.push_back(tensor(epoch, kLong));
  return ranks_of(stack(rows));
}

}  // namespace

TEST_CASE("dropout masks follow their distribution") {
  for (const double p : {0.1, 0.5, 0.9}) {
    const auto of = [=](auto drop, IntArrayRef sizes) {
      return [=, sizes = DimVector(sizes)](const TensorOptions& o) { return drop(ones(sizes, o), p, true); };
    };
    const double alpha = 1.7580993408473766, scale = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
    const double dropped = scale * alpha * (p - 1), kept = scale * (1 + alpha * p);
    dropout_row("dropout", p, 1 / (1 - p), 0, of(ebb::dropout, {kDraws}));
    dropout_row("dropout_", p, 1 / (1 - p), 0, filled([=](Tensor& x) { dropout_(x.fill_(1), p, true); }));
    dropout_row("alpha_dropout", p, kept, dropped, of(ebb::alpha_dropout, {kDraws}));
    const auto features = [](const Draw& draw) {
      return [draw](const TensorOptions& o) { return draw(o).select(2, 0); };
    };
    dropout_row("feature_dropout", p, 1 / (1 - p), 0, features(of(ebb::feature_dropout, {512, 128, 3})));
    dropout_row("feature_alpha_dropout", p, kept, dropped,
                features(of(ebb::feature_alpha_dropout, {512, 128, 3})));
  }
  Law slopes = uniform(0.125, 0.375);
  slopes.steps = 1;
  slopes.never.clear();  // the rounding of products can give these
  follows("rrelu", kReals, slopes,
          [](const TensorOptions& o) { return rrelu(full({kDraws}, -1, o), 0.125, 0.375, true).neg(); });
}

TEST_CASE("initial values of layers follow their distribution") {
  trunc_normal_row(0, 1, -2, 2);
  trunc_normal_row(0, 0.02, -2, 2);
  trunc_normal_row(1, 0.5, -3, 1.25);
  trunc_normal_row(0, 1, -8, -3);
  trunc_normal_row(0, 1, -16, -8);  // the normal distribution has a probability of 6e-16 here
  const double glorot = std::sqrt(2.0 / (512 + 384)), he = 1 / std::sqrt(384.0);
  follows("xavier_normal_", kReals, normal(0, glorot),
          weights([](const Tensor& x) { return nn::init::xavier_normal_(x); }));
  follows("kaiming_normal_", kReals, normal(0, he * std::sqrt(2.0)),
          weights([](const Tensor& x) { return nn::init::kaiming_normal_(x); }));
  const double b = glorot * std::sqrt(3.0), c = he * std::sqrt(6.0);
  follows("xavier_uniform_", kWide, uniform(-b, b),
          weights([](const Tensor& x) { return nn::init::xavier_uniform_(x); }));
  follows("kaiming_uniform_", kWide, uniform(-c, c),
          weights([](const Tensor& x) { return nn::init::kaiming_uniform_(x); }));
  follows("sparse_", kWide, normal(0, 0.01), [](const TensorOptions& o) {
    const Tensor x = nn::init::sparse_(empty({4000, 20}, o), 0.25);
    return x.masked_select(x.ne(0));
  });
  // by Archimedes' theorem on the sphere
  follows("orthogonal_", kWide, uniform(-1, 1), [](const TensorOptions& o) {
    std::vector<Tensor> corners;
    for (int i = 0; i < kCalls / 10; ++i) corners.push_back(nn::init::orthogonal_(empty({3, 3}, o))[0][0]);
    return stack(corners);
  });
}

#ifndef EBB_TEST_ON_CUDA
TEST_CASE("the orders of random samplers follow their distribution") {
  namespace samplers = data::samplers;
  const auto row = [](const std::string& name, const Law& law, const std::function<Tensor()>& draw) {
    follows(name, {kLong}, law, [&](const TensorOptions&) { return draw(); });
  };
  row("RandomSampler", integers(0, 120), [] {
    return orders<samplers::RandomSampler>(samplers::RandomSampler(5), [](auto& s, int) { s.reset(); });
  });
  row("SubsetRandomSampler", integers(0, 24), [] {
    return orders<samplers::SubsetRandomSampler>(samplers::SubsetRandomSampler({3, 1, 7, 9}),
                                                 [](auto& s, int) { s.reset(); });
  });
  row("DistributedRandomSampler", integers(0, 120), [] {
    return orders<samplers::DistributedRandomSampler>(samplers::DistributedRandomSampler(5),
                                                      [](auto& s, int epoch) {
                                                        s.set_epoch(static_cast<std::size_t>(epoch));
                                                        s.reset();
                                                      });
  });
  const std::vector<double> weights = {1, 0, 2, 5, 0, 0.5};
  row("WeightedRandomSampler", categories(weights), [&] {
    samplers::WeightedRandomSampler sampler(weights, kDraws);
    return tensor(handed_out(sampler), kLong);
  });
  row("WeightedRandomSampler, nothing put back", integers(0, 24), [] {
    return orders<samplers::WeightedRandomSampler>(samplers::WeightedRandomSampler({2, 2, 2, 2}, 4, false),
                                                   [](auto& s, int) { s.reset(); });
  });
  row("random_split", integers(0, 120), [] {
    std::vector<Tensor> all;
    const data::datasets::TensorDataset five(arange(5));
    for (int i = 0; i < kCalls; ++i) {
      std::vector<Tensor> order;
      for (auto& part : data::datasets::random_split(five, {2.0, 3.0}))
        for (std::size_t j = 0; j < *part.size(); ++j) order.push_back(part.get(j).data);
      all.push_back(stack(order));
    }
    return ranks_of(stack(all));
  });
}
#endif
