// The three workloads and their timing.
#include "workloads.h"

#include <algorithm>
#include <chrono>
#include <functional>

using namespace ebb;

namespace {

// Returns the best time of several runs, after one run that warms the caches. A run repeats short work so
// often that the clock can measure it.
double seconds(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto run = [&](int times) {
    const auto start = Clock::now();
    for (int i = 0; i < times; ++i) {
      watch::check_interrupt();
      work();
    }
    if (cuda::is_available()) cuda::synchronize();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  run(1);
  int times = 1;
  double taken = run(times);
  while (taken < 0.02 && times < 10000) taken = run(times *= 4);
  double best = taken / times;
  for (int i = 0; i < 2 && taken < 1; ++i) best = std::min(best, run(times) / times);
  return best;
}

using Inputs = std::vector<Tensor>;
using Function = std::function<Tensor(const Inputs&)>;

Timing measure(std::int64_t size, const Inputs& inputs, const Function& f, bool on_gpu) {
  const NoGradGuard guard;
  Timing timing{size};
  timing.cpu = seconds([&] { f(inputs); });
  if (!on_gpu) return timing;
  const auto moved = [&] {
    Inputs there;
    for (const Tensor& x : inputs) there.push_back(x.to(Device::CUDA));
    return there;
  };
  const Inputs there = moved();
  timing.gpu = seconds([&] { f(there); });
  timing.gpu_with_transfer = seconds([&] { f(moved()).cpu(); });
  return timing;
}

}  // namespace

Workload vector_add(std::int64_t largest, bool on_gpu) {
  Workload w{"vector add, a + b", "elements", {}};
  for (std::int64_t n = 1000; n <= largest; n *= 10)
    w.timings.push_back(
        measure(n, {rand({n}), rand({n})}, [](const Inputs& x) { return x[0] + x[1]; }, on_gpu));
  return w;
}

Workload matrix_product(std::int64_t largest, bool on_gpu) {
  Workload w{"matrix product, A B", "N", {}};
  for (std::int64_t n = 64; n <= largest; n *= 2)
    w.timings.push_back(
        measure(n, {rand({n, n}), rand({n, n})}, [](const Inputs& x) { return matmul(x[0], x[1]); }, on_gpu));
  return w;
}

Workload dense_layer(std::int64_t largest, bool on_gpu) {
  Workload w{"y = sigmoid(W x + b), batch 256", "N", {}};
  for (std::int64_t n = 64; n <= largest; n *= 2)
    w.timings.push_back(measure(
        n, {rand({256, n}), rand({n, n}), rand({n})},
        [](const Inputs& x) { return sigmoid(nn::functional::linear(x[0], x[1], x[2])); }, on_gpu));
  return w;
}
