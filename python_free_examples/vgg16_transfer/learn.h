// fit and accuracy: the training and evaluation of a classifier on labelled tensors.
#pragma once

#include <ebb/ebb.h>

#include "common/interrupt.h"
#include "common/progress.h"

#include <cstdint>

/// Images or their features [n, ...], and their classes, Long [n].
struct Labelled {
  ebb::Tensor inputs, labels;
  std::int64_t size() const { return labels.size(0); }
  Labelled rows(const ebb::Tensor& at) const {
    return {inputs.index_select(0, at), labels.index_select(0, at)};
  }
  Labelled slice(std::int64_t from, std::int64_t to) const {
    return {inputs.slice(0, from, to), labels.slice(0, from, to)};
  }
  Labelled to(ebb::Device device) const { return {inputs.to(device), labels.to(device)}; }
};

struct Schedule {
  std::int64_t steps;
  std::int64_t batch;  ///< the size of a random batch; all data, if there are not more
  double lr = 1e-3;    ///< Adam's learning rate
};

/// Trains a network with Adam and cross entropy, and then sets it to evaluation mode.
template <class Net>
void fit(Net& net, const Labelled& data, const Schedule& how, example::Progress* progress = nullptr) {
  ebb::optim::Adam optimizer(net->parameters(), ebb::optim::AdamOptions(how.lr));
  net->train();
  for (std::int64_t step = 0; step < how.steps; ++step) {
    example::stop_if_interrupted();
    Labelled batch = data;
    if (how.batch < data.size())
      batch = data.rows(ebb::randint(data.size(), {how.batch}, ebb::kLong).to(data.labels.device()));
    const ebb::Tensor loss = ebb::nn::functional::cross_entropy(net(batch.inputs), batch.labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (progress) progress->advance(batch.size(), loss.template item<double>());
  }
  net->eval();
}

/// Returns the fraction of correct predictions.
template <class Net>
double accuracy(Net& net, const Labelled& data) {
  constexpr std::int64_t kBatch = 256;
  const ebb::NoGradGuard no_grad;
  net->eval();
  double right = 0;
  for (std::int64_t from = 0; from < data.size(); from += kBatch) {
    const Labelled batch = data.slice(from, std::min(from + kBatch, data.size()));
    right += net(batch.inputs).argmax(1).eq(batch.labels).sum().template item<double>();
  }
  return right / static_cast<double>(data.size());
}
