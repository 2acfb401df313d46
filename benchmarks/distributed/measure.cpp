// Times of collectives and of training steps in several processes: the constants of docs/scaling.md, and the
// steps that its model must predict. benchmarks/distributed/run starts it: bench_distributed ROUNDS [steps].
//
// Prints lines of NAME MEDIAN BEST UNIT on rank 0. A step is measured in three ways: as it is ("step"),
// without averages, but at the same time on all ranks ("local"), and its gradients alone, in buckets, after
// each other ("reduce"). All kinds of samples are taken in turn in each round, so other programs of the
// machine slow all of them alike. A sample is the median of some calls, on the slowest rank. MEDIAN is that
// of the rounds, and BEST is the fastest tenth, which other programs affect less.
#include <ebb/distributed.h>
#include <ebb/models.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

namespace dist = ebb::distributed;
namespace nn = ebb::nn;
using ebb::Tensor;

struct Figure {
  std::string name;
  int calls;  // a sample is the median of so many
  std::function<void()> call;
  std::vector<double> samples = {};  // in microseconds
};

std::vector<Figure> figures;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void take_sample(Figure& figure) {
  dist::barrier();
  std::vector<double> times;
  for (int i = 0; i < figure.calls; ++i) {
    const auto start = std::chrono::steady_clock::now();
    figure.call();
    const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - start;
    times.push_back(passed.count());
  }
  const Tensor slowest = ebb::full({1}, median(times), ebb::kDouble);
  dist::all_reduce(slowest, dist::ReduceOp::MAX);
  figure.samples.push_back(slowest.item<double>());
}

void add_all_reduce(std::int64_t bytes) {
  const Tensor values = ebb::zeros({bytes / 4});
  figures.push_back({"all_reduce." + std::to_string(bytes),
                     bytes < 1 << 16   ? 50
                     : bytes < 1 << 20 ? 5
                                       : 1,
                     [values] { dist::all_reduce(values); }});
}

// The sizes of the buckets of DistributedDataParallel in bytes: parameters in reverse order, 1 MiB and
// then 25.
std::vector<std::int64_t> buckets_of(const std::vector<Tensor>& parameters) {
  std::vector<std::int64_t> buckets = {0};
  for (std::size_t i = parameters.size(); i-- > 0;) {
    const std::int64_t limit = (buckets.size() == 1 ? 1 : 25) << 20;
    if (buckets.back() >= limit) buckets.push_back(0);
    buckets.back() += static_cast<std::int64_t>(parameters[i].nbytes());
  }
  return buckets;
}

template <class Net>
void add_steps(const std::string& name, Net net, const Tensor& x, const Tensor& y, int calls) {
  const auto parallel = std::make_shared<dist::DistributedDataParallel<typename Net::ContainedType>>(net);
  const auto optimizer = std::make_shared<ebb::optim::SGD>(net->parameters(), ebb::optim::SGDOptions(0.01));
  const auto step = [=](auto forward) {
    optimizer->zero_grad();
    nn::functional::cross_entropy(forward(x), y).backward();
    optimizer->step();
  };
  figures.push_back(
      {name + ".step", calls, [=] { step([&](const Tensor& in) { return (*parallel)(in); }); }});
  figures.push_back(
      {name + ".local", calls, [=]() mutable { step([&](const Tensor& in) { return net(in); }); }});
  std::vector<Tensor> gradients;
  for (const std::int64_t bytes : buckets_of(net->parameters())) gradients.push_back(ebb::zeros({bytes / 4}));
  figures.push_back({name + ".reduce", calls, [gradients] {
                       for (const Tensor& each : gradients) dist::all_reduce(each, dist::ReduceOp::AVG);
                     }});
}

nn::Sequential mlp(std::vector<std::int64_t> widths) {
  nn::Sequential net;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    if (i > 1) net->push_back(nn::ReLU());
    net->push_back(nn::Linear(widths[i - 1], widths[i]));
  }
  return net;
}

nn::Sequential cnn() {
  const auto conv = [](std::int64_t in, std::int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1));
  };
  return nn::Sequential(conv(1, 32), nn::ReLU(), nn::MaxPool2d(2), conv(32, 64), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Flatten(), nn::Linear(64 * 7 * 7, 128), nn::ReLU(), nn::Linear(128, 10));
}

}  // namespace

int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 15;
  const bool steps_only = count > 2;  // no table of sizes
  ebb::set_num_threads(1);
  dist::init();
  ebb::manual_seed(static_cast<std::uint64_t>(1 + dist::rank()));
  if (!steps_only)
    for (std::int64_t bytes = 4; bytes <= 64 << 20; bytes *= 4) add_all_reduce(bytes);
  const auto classes = [](std::int64_t most, std::int64_t rows) {
    return ebb::randint(0, most, {rows}, ebb::kLong);
  };
  add_steps("tiny_mlp", mlp({20, 32, 32, 10}), ebb::rand({32, 20}), classes(10, 32), 100);
  add_steps("mlp", mlp({784, 1024, 1024, 1024, 10}), ebb::rand({32, 784}), classes(10, 32), 4);
  add_steps("cnn", cnn(), ebb::rand({64, 1, 28, 28}), classes(10, 64), 4);
  add_steps("resnet18", ebb::models::resnet18(), ebb::rand({4, 3, 64, 64}), classes(1000, 4), 1);

  for (Figure& figure : figures)
    for (int i = 0; i < 2; ++i) figure.call();  // the first backward sorts the buckets
  for (int round = 0; round < rounds; ++round)
    for (Figure& figure : figures) take_sample(figure);
  if (dist::rank() > 0) return 0;
  for (Figure& figure : figures) {
    std::sort(figure.samples.begin(), figure.samples.end());
    std::printf("%s %.4g %.4g us\n", figure.name.c_str(), median(figure.samples),
                figure.samples[figure.samples.size() / 10]);
  }
}
