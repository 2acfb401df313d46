// The cost of multithreading: small and large ops with one thread, with a thread for each CPU, and with more
// threads than CPUs, on an idle machine and while another thread keeps a core busy.
#include "bench.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace {

using torch::Tensor;

// A thread that keeps a core busy until it is destroyed.
class Busy {
 public:
  ~Busy() {
    stop_.store(true);
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_{[this] {
    while (!stop_.load(std::memory_order_relaxed)) {
    }
  }};
};

// Returns the powers of two up to the number of CPUs, and larger ones up to 64 that oversubscribe them.
std::vector<int> thread_counts() {
  std::vector<int> counts;
  for (int n = 1; n <= std::max(64, static_cast<int>(std::thread::hardware_concurrency())); n *= 2)
    counts.push_back(n);
  return counts;
}

// Adds the benchmark of an op, which make() returns as a function.
template <class Make>
void add(const std::string& op, Make make) {
  for (const bool beside : {false, true})
    for (const int threads : thread_counts())
      bench::add("parallel/" + op + "/" + std::to_string(threads) + "_threads" +
                     (beside ? "_beside_a_busy_one" : ""),
                 [=](benchmark::State& state) {
                   torch::set_num_threads(threads);
                   const torch::NoGradGuard no_grad;
                   const auto busy = beside ? std::make_unique<Busy>() : nullptr;
                   const auto call = make();
                   bench::measure(state, 1, "us", call);
                 })
          ->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  // About ten microseconds with one thread.
  add("exp_32KiB", [] { return [x = torch::zeros({int64_t{1} << 13})] { torch::exp(x); }; });
  add("add_512KiB", [] {
    return [x = torch::zeros({int64_t{1} << 17}), one = torch::ones({int64_t{1} << 17})] { x.add_(one); };
  });
  add("matmul_256",
      [] { return [x = torch::randn({256, 256}), y = torch::randn({256, 256})] { torch::matmul(x, y); }; });
  add("conv_3x3_64", [] {
    return [x = torch::randn({8, 64, 28, 28}), w = torch::randn({64, 64, 3, 3})] {
      torch::conv2d(x, w, {}, 1, 1);
    };
  });
  return bench::run(argc, argv);
}
