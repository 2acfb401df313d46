// evaluate: the confusion matrix of a classifier on a dataset.
#include "evaluate.h"

#include <cstdio>

Confusion evaluate(Net& net, const ebb::data::datasets::MNIST& images, std::int64_t classes,
                   ebb::Device device) {
  constexpr std::int64_t kBatch = 512;
  ebb::NoGradGuard no_grad;
  net->eval();
  Confusion confusion(classes, std::vector<std::int64_t>(classes));
  const std::int64_t n = images.images().size(0);
  for (std::int64_t start = 0; start < n; start += kBatch) {
    const auto end = std::min(n, start + kBatch);
    const ebb::Tensor guess = net(images.images().slice(0, start, end).to(device)).argmax(1).to(ebb::kCPU);
    const ebb::Tensor truth = images.targets().slice(0, start, end);
    const auto g = guess.accessor<std::int64_t, 1>(), t = truth.accessor<std::int64_t, 1>();
    for (std::int64_t i = 0; i < end - start; ++i) ++confusion[t[i]][g[i]];
  }
  net->train();
  return confusion;
}

double accuracy(const Confusion& confusion) {
  std::int64_t right = 0, all = 0;
  for (std::size_t i = 0; i < confusion.size(); ++i)
    for (std::size_t j = 0; j < confusion.size(); ++j) {
      all += confusion[i][j];
      if (i == j) right += confusion[i][j];
    }
  return all ? static_cast<double>(right) / static_cast<double>(all) : 0;
}

void print(const Confusion& confusion, const std::vector<std::string>& names) {
  std::printf("\nrows: true classes; columns: predictions\n%10s", "");
  for (std::size_t j = 0; j < confusion.size(); ++j) std::printf(" %8.8s", names[j].c_str());
  std::printf("   recall\n");
  for (std::size_t i = 0; i < confusion.size(); ++i) {
    std::int64_t row = 0;
    std::printf("%10.10s", names[i].c_str());
    for (const std::int64_t count : confusion[i]) {
      row += count;
      if (count)
        std::printf(" %8lld", static_cast<long long>(count));
      else
        std::printf(" %8s", ".");
    }
    std::printf("  %6.1f%%\n",
                row ? 100.0 * static_cast<double>(confusion[i][i]) / static_cast<double>(row) : 0.0);
  }
}
