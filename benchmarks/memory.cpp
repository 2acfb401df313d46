// The allocator after long histories: an op must cost the same after any history of threads and sizes, and
// the cached memory must stay proportional to the used memory.
#include "bench.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using torch::Tensor;

std::vector<Tensor> many(int n) {
  std::vector<Tensor> made;
  for (int i = 0; i < n; ++i) made.push_back(torch::zeros({4}));
  return made;
}

// Times a small op after a history. `history` returns the tensors that stay alive.
template <class History>
void add_small_op(const std::string& after, History history) {
  bench::add("memory.zeros4." + after, [=](benchmark::State& state) {
    const std::vector<Tensor> live = history();
    bench::measure(state, 1000, "us/op", [] {
      for (int i = 0; i < 1000; ++i) torch::zeros({4});
    });
  });
}

// Adds histories that free and allocate more blocks of one size class than a thread caches.
void add_histories() {
  add_small_op("nothing", [] { return std::vector<Tensor>(); });
  add_small_op("600k_freed_200k_taken", [] {
    many(600000);
    return many(200000);
  });
  add_small_op("all_freed", [] { return std::vector<Tensor>(); });
  add_small_op("400k_freed_by_another_thread", [] {
    std::vector<Tensor> live = many(400000);
    std::thread([&] { live.clear(); }).join();
    return live;
  });
}

// The buffer of transitions of a training loop. A step adds one transition, removes the oldest and reads 32.
class ReplayBuffer {
 public:
  void step() {
    put();
    Tensor sum = torch::zeros({4});
    for (std::size_t i = 0; i < 32; ++i)
      sum = sum + buffer_[(at_ * 7919 + i * 104729) % std::min(at_, kKept)];
  }
  void fill() {
    while (at_ < kKept) put();
  }

 private:
  void put() { buffer_[at_++ % kKept] = torch::full({4}, 0.5); }

  static constexpr std::size_t kKept = 200000;
  std::vector<Tensor> buffer_ = std::vector<Tensor>(kKept);
  std::size_t at_ = 0;
};

void add_replay_buffer(const std::string& name, bool full) {
  bench::add("memory.replay_buffer." + name, [=](benchmark::State& state) {
    ReplayBuffer buffer;
    if (full) buffer.fill();
    bench::measure(state, 100, "us/step", [&] {
      for (int i = 0; i < 100; ++i) buffer.step();
    });
  });
}

// Adds a hand-written recurrence of `length` steps. The time per step must not depend on `length`.
void add_recurrence(int64_t length) {
  bench::add("memory.recurrence." + std::to_string(length), [=](benchmark::State& state) {
    const Tensor w = torch::full({16, 16}, 0.05).requires_grad_();
    const Tensor x = torch::full({1, 16}, 0.1);
    bench::measure(state, static_cast<double>(length), "us/step", [&] {
      Tensor h = x, c = x, sum = x;  // the sum over all steps prevents subnormal gradients
      for (int64_t t = 0; t < length; ++t) {
        const Tensor gates = torch::mm(h, w) + x;
        c = torch::sigmoid(gates) * c + torch::sigmoid(gates + 1) * torch::tanh(gates);
        h = torch::sigmoid(gates - 1) * torch::tanh(c);
        sum = sum + h;
      }
      sum.sum().backward();
      w.mutable_grad().reset();
    });
  });
}

double resident_peak() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::atof(line.c_str() + 6) / 1024;
  return 0;
}

// Measures the peak memory of tensors of increasing size.
void growing_shapes(benchmark::State& state) {
#ifndef EBB_FIDELITY_TORCH
  torch::empty_cache();
#endif
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak
  for (auto _ : state)
    for (int64_t i = 1; i <= 750; ++i) torch::zeros({i * 40000});
  state.counters["value"] = resident_peak();
  state.SetLabel("MiB");
}

}  // namespace

int main(int argc, char** argv) {
  add_histories();
  add_replay_buffer("empty", false);
  add_replay_buffer("full", true);
  for (const int64_t length : {64, 1024, 16384}) add_recurrence(length);
  bench::add("memory.growing_to_114_MiB.peak", growing_shapes)->Iterations(1)->Repetitions(1);
  return bench::run(argc, argv);
}
