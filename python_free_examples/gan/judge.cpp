// Judge: a classifier of real images, which scores generated ones.
#include "judge.h"

#include "common/progress.h"

Judge::Judge(const example::Images& images, std::int64_t epochs, ebb::Device device) {
  namespace nn = ebb::nn;
  const std::int64_t inner = 32 * (images.rows() / 4) * (images.columns() / 4);
  const std::int64_t classes = images.train_labels.max().item<std::int64_t>() + 1;
  layers_ = nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 16, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2),
                           nn::Conv2d(nn::Conv2dOptions(16, 32, 3).padding(1)), nn::ReLU(), nn::MaxPool2d(2),
                           nn::Flatten(), nn::Dropout(0.3), nn::Linear(inner, classes));
  layers_->to(device);
  const ebb::Tensor train = images.train.to(device), labels = images.train_labels.to(device);
  ebb::optim::Adam optimizer(layers_->parameters(), ebb::optim::AdamOptions(3e-3));
  example::Progress progress("the judge", epochs * train.size(0));
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch)
    for (const ebb::Tensor& rows : ebb::randperm(train.size(0)).to(device).split(64)) {
      const ebb::Tensor loss =
          nn::functional::cross_entropy(layers_(train.index_select(0, rows)), labels.index_select(0, rows));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      progress.advance(rows.size(0), loss.item<double>());
    }
  progress.finish("");
  layers_->eval();
}

ebb::Tensor Judge::probabilities(const ebb::Tensor& images) {
  ebb::NoGradGuard no_grad;
  return layers_(images).softmax(1);
}

double Judge::score(const ebb::Tensor& images) {
  const ebb::Tensor p = probabilities(images).clamp_min(1e-12);
  return (p * (p.log() - p.mean(0).log())).sum(1).mean().exp().item<double>();
}

double Judge::accuracy(const ebb::Tensor& images, const ebb::Tensor& labels) {
  return (probabilities(images).argmax(1) == labels.to(images.device()))
      .to(ebb::kFloat)
      .mean()
      .item<double>();
}
