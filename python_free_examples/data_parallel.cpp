// Data parallelism, in two ways: replicas of a network in one process, on several GPUs or in threads of the
// CPU (nn::parallel::data_parallel), and a process for each replica (DistributedDataParallel). A program that
// `ebb run -n 2 ./data_parallel` starts takes the second way.
//
// Trained on the 1,797 handwritten digits of this repository. Each replica processes a part of each batch.
// The gradients are those of the whole batch, so the replicas learn the same parameters as one network.
// Expected: differences of at most 1e-9 in double precision (3e-15 was reached), in 3 s on two cores. The
// short form takes 1 s. On a CPU replicas are not faster, because one network also uses all cores.
#include <ebb/distributed.h>
#include <ebb/watch.h>

#include "common/images.h"
#include "common/program.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

namespace dist = ebb::distributed;
namespace nn = ebb::nn;
using ebb::Tensor;
using ebb::data::datasets::MNIST;

// A replica in the same process is created by clone(), so the module derives from Cloneable and creates its
// members in reset().
struct NetImpl : nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 16, 3).padding(1)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(16, 32, 3).padding(1)));
    fc = register_module("fc", nn::Linear(32 * 2 * 2, 10));
  }
  Tensor forward(const Tensor& images) {
    const Tensor x = ebb::max_pool2d(ebb::relu(conv1(images)), 2);
    return fc(ebb::max_pool2d(ebb::relu(conv2(x)), 2).flatten(1));
  }
  nn::Conv2d conv1 = nullptr, conv2 = nullptr;
  nn::Linear fc = nullptr;
};
EBB_MODULE(Net);

struct Digits {
  explicit Digits(MNIST::Mode mode, ebb::Device device) {
    const MNIST digits(example::kDigits, mode);
    // In double precision, rounding differences are far below the stated bound.
    images = digits.images().to(device).to(ebb::kDouble);
    labels = digits.targets().to(device);
  }
  Tensor images, labels;
};

// Returns the loss of the network for a batch. Its gradient is that of the whole batch.
using Loss = std::function<Tensor(const Tensor& images, const Tensor& labels)>;

// One network, or replicas of it in this process.
Loss loss_of(Net net, std::vector<ebb::Device> devices) {
  return [net, devices](const Tensor& images, const Tensor& labels) mutable {
    return nn::functional::cross_entropy(nn::parallel::data_parallel(net, images, devices), labels);
  };
}

// A replica in each process, which computes its part of the batch. backward() averages the gradients over the
// processes, so the sum over a part is divided by the size of the batch and multiplied by their number.
Loss loss_of_processes(Net net) {
  const std::int64_t rank = dist::rank(), size = dist::world_size();
  dist::DistributedDataParallel parallel(net);
  return [=](const Tensor& images, const Tensor& labels) mutable {
    const auto part = [&](const Tensor& batch) { return batch.tensor_split(size)[rank]; };
    const auto options = nn::functional::CrossEntropyFuncOptions().reduction(ebb::kSum);
    return nn::functional::cross_entropy(parallel(part(images)), part(labels), options) *
           (double(size) / double(images.size(0)));
  };
}

struct Result {
  double loss = 0, speed = 0;  // of the last batch; images per second
};

Result train(Net& net, const Loss& loss_of, const Digits& digits, std::int64_t epochs) {
  constexpr std::int64_t kBatch = 128;
  ebb::manual_seed(1);  // the same order of images in each training and in each process
  ebb::optim::SGD optimizer(net->parameters(), ebb::optim::SGDOptions(0.05).momentum(0.9));
  const auto start = std::chrono::steady_clock::now();
  Tensor loss;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch)
    for (const Tensor& rows : ebb::randperm(digits.labels.size(0)).to(digits.labels.device()).split(kBatch)) {
      ebb::watch::check_interrupt();
      optimizer.zero_grad();
      loss = loss_of(digits.images.index_select(0, rows), digits.labels.index_select(0, rows));
      loss.backward();
      optimizer.step();
    }
  if (loss.is_cuda()) ebb::cuda::synchronize();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  return {loss.item<double>(), static_cast<double>(epochs * digits.labels.size(0)) / passed.count()};
}

double accuracy(Net& net, const Digits& digits) {
  const ebb::NoGradGuard no_grad;
  return (net(digits.images).argmax(1) == digits.labels).to(ebb::kDouble).mean().item<double>();
}

// Returns one device per replica. If there are fewer GPUs than replicas, some GPUs have several replicas.
std::vector<ebb::Device> devices_of(ebb::Device device, std::int64_t replicas) {
  std::vector<ebb::Device> devices;
  const std::int64_t gpus = static_cast<std::int64_t>(ebb::cuda::device_count());
  for (std::int64_t i = 0; i < replicas; ++i)
    devices.push_back(device.is_cuda() ? ebb::Device(ebb::kCUDA, i % gpus) : device);
  return devices;
}

int run(const example::Settings& settings, std::int64_t replicas, std::int64_t epochs) {
  if (!epochs) epochs = settings.brief ? 15 : 40;
  dist::init();  // without a launcher, the world is this process alone
  const bool in_processes = dist::world_size() > 1;
  if (in_processes) replicas = dist::world_size();
  const std::vector<ebb::Device> all = devices_of(settings.device, replicas);
  const ebb::Device own = all[static_cast<std::size_t>(in_processes ? dist::local_rank() : 0)];
  const Digits training(MNIST::Mode::kTrain, own), test(MNIST::Mode::kTest, own);
  Net single;
  single->to(own, ebb::kDouble);
  Net replicated(std::dynamic_pointer_cast<NetImpl>(single->clone()));

  const Result one = train(single, loss_of(single, {own}), training, epochs);
  Result many = train(replicated, in_processes ? loss_of_processes(replicated) : loss_of(replicated, all),
                      training, epochs);
  Tensor loss = ebb::full({}, many.loss, ebb::kDouble), difference = ebb::zeros({}, ebb::kDouble);
  const std::vector<Tensor> first = single->parameters(), other = replicated->parameters();
  for (std::size_t i = 0; i < first.size(); ++i)
    difference = ebb::maximum(difference, (first[i] - other[i]).detach().abs().max().cpu());
  dist::all_reduce(loss, dist::ReduceOp::AVG);
  dist::all_reduce(difference, dist::ReduceOp::MAX);
  if (dist::rank() > 0) return 0;  // rank 0 reports for all

  const auto report = [&](const std::string& title, const Result& result, Net& net) {
    std::printf("%-14s %6.0f images/s, last loss %.12f, test accuracy %.3f\n", title.c_str(), result.speed,
                result.loss, accuracy(net, test));
  };
  many.loss = loss.item<double>();
  report("one network:", one, single);
  report(std::to_string(replicas) + (in_processes ? " processes:" : " replicas:"), many, replicated);
  if (!in_processes && !settings.device.is_cuda())
    std::puts("(On a CPU one network also uses all cores, so replicas are not faster.)");
  return example::at_most("largest difference of a parameter", difference.item<double>(), 1e-9) |
         example::at_least("test accuracy", accuracy(replicated, test), settings.brief ? 0.9 : 0.93);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program(
      "Trains replicas of a network on several devices or threads, or in several processes (ebb run -n 2 "
      "./data_parallel).");
  std::int64_t replicas = 4, epochs = 0;
  program.option("--replicas", replicas,
                 "number of replicas in one process, on the GPUs in turn or in threads of the CPU");
  program.option("--epochs", epochs, "passes over the digits (default: 40, with --short 15)");
  return program.run(argc, argv,
                     [&](const example::Settings& settings) { return run(settings, replicas, epochs); });
}
