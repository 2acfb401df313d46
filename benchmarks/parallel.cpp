// What it costs to share an op among threads: small and large ops at 1 to all threads, alone and beside a
// program that keeps a core busy.
#include <atomic>
#include <thread>

#include "bench.h"

namespace {

void report_ops(const std::string& where, int threads) {
  torch::set_num_threads(threads);
  const auto report = [&](const char* op, double seconds) {
    bench::report("parallel/" + std::string(op) + "/" + std::to_string(threads) + "_threads" + where,
                  1e6 * seconds, "us");
  };
  torch::NoGradGuard no_grad;
  torch::Tensor small = torch::zeros({int64_t{1} << 17}), one = torch::ones({int64_t{1} << 17});
  report("add_512KiB", bench::median_seconds([&] { small.add_(one); }));
  torch::Tensor x = torch::randn({256, 256}), y = torch::randn({256, 256});
  report("matmul_256", bench::median_seconds([&] { torch::matmul(x, y); }));
  torch::Tensor images = torch::randn({8, 64, 28, 28}), weight = torch::randn({64, 64, 3, 3});
  report("conv_3x3_64", bench::median_seconds([&] { torch::conv2d(images, weight, {}, 1, 1); }));
}

}  // namespace

int main() {
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  for (int threads = 1; threads <= all; threads *= 2) report_ops("", threads);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop.load(std::memory_order_relaxed)) {
    }
  });
  for (int threads = 1; threads <= all; threads *= 2) report_ops("_beside_a_busy_one", threads);
  stop.store(true);
  busy.join();
}
