// Memory after all that a program may have done with it: an op costs the same after any history of threads
// and sizes, and what is kept stays in proportion to what is used.
#include "bench.h"

#include <fstream>
#include <string>
#include <thread>

namespace {

using torch::Tensor;

void small_op(const std::string& after) {
  const double seconds = bench::median_seconds(
      [] {
        for (int i = 0; i < 1000; ++i) torch::zeros({4});
      },
      0.2);
  bench::report("memory.zeros4." + after, seconds * 1e3, "us/op");
}

std::vector<Tensor> many(int n) {
  std::vector<Tensor> made;
  for (int i = 0; i < n; ++i) made.push_back(torch::zeros({4}));
  return made;
}

// Frees and takes blocks of one class in turn, more than any thread keeps.
void histories() {
  small_op("nothing");
  {
    std::vector<Tensor> live = many(600000);
    live.clear();
    live = many(200000);
    small_op("600k_freed_200k_taken");
  }
  small_op("all_freed");
  {
    std::vector<Tensor> live = many(400000);
    std::thread([&] { live.clear(); }).join();
  }
  small_op("400k_freed_by_another_thread");
}

// A step of a training loop on a buffer of transitions: one comes, the oldest goes, 32 are read.
void replay_buffer() {
  constexpr std::size_t kKept = 200000;
  std::vector<Tensor> buffer(kKept);
  std::size_t at = 0;
  const auto step = [&] {
    buffer[at++ % kKept] = torch::full({4}, 0.5);
    Tensor sum = torch::zeros({4});
    for (std::size_t i = 0; i < 32; ++i) sum = sum + buffer[(at * 7919 + i * 104729) % std::min(at, kKept)];
  };
  const auto measure = [&](const std::string& name) {
    const double seconds = bench::median_seconds(
        [&] {
          for (int i = 0; i < 100; ++i) step();
        },
        0.3);
    bench::report("memory.replay_buffer." + name, seconds * 1e4, "us/step");
  };
  measure("empty");
  while (at < kKept) step();
  measure("full");
}

// A recurrence by hand: the graph's length must not change what a step costs.
void recurrence(int64_t length) {
  const Tensor w = torch::full({16, 16}, 0.05).requires_grad_();
  const Tensor x = torch::full({1, 16}, 0.1);
  const double seconds = bench::median_seconds(
      [&] {
        Tensor h = x, c = x, sum = x;  // of all steps, so that no gradient fades to a subnormal number
        for (int64_t t = 0; t < length; ++t) {
          const Tensor gates = torch::mm(h, w) + x;
          c = torch::sigmoid(gates) * c + torch::sigmoid(gates + 1) * torch::tanh(gates);
          h = torch::sigmoid(gates - 1) * torch::tanh(c);
          sum = sum + h;
        }
        sum.sum().backward();
        w.mutable_grad().reset();
      },
      0.5, 3);
  bench::report("memory.recurrence." + std::to_string(length), seconds / length * 1e6, "us/step");
}

double resident_peak() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::atof(line.c_str() + 6) / 1024;
  return 0;
}

void growing_shapes() {
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak starts anew
  for (int64_t i = 1; i <= 750; ++i) torch::zeros({i * 40000});
  bench::report("memory.growing_to_114_MiB.peak", resident_peak(), "MiB");
}

}  // namespace

int main() {
  bench::set_threads();
  histories();
  replay_buffer();
  for (const int64_t length : {64, 1024, 16384}) recurrence(length);
#ifndef EBB_FIDELITY_TORCH
  torch::empty_cache();
#endif
  growing_shapes();
}
