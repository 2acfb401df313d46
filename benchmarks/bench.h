// The seam and the clock of the benchmarks: one source a workload, for ebb and for libtorch.
#pragma once

#ifdef EBB_FIDELITY_TORCH
#include <torch/torch.h>
#else
#include <ebb/ebb.h>
namespace torch = ebb;
#define TORCH_MODULE EBB_MODULE
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace bench {

inline double now() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

// OMP_NUM_THREADS decides for both libraries; the default is one thread.
inline void set_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  torch::set_num_threads(text ? std::atoi(text) : 1);
}

// Median seconds of a call over the samples that fit into a budget, after two calls that warm it up.
template <class F>
double median_seconds(F&& call, double budget = 1.0, int least = 5) {
  call();
  call();
  std::vector<double> seconds;
  const double end = now() + budget;
  while (now() < end || static_cast<int>(seconds.size()) < least) {
    const double start = now();
    call();
    seconds.push_back(now() - start);
  }
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

// One line a figure: name, number, unit. The runner collects them.
inline void report(const std::string& name, double value, const char* unit) {
  std::printf("%s %.6g %s\n", name.c_str(), value, unit);
}

}  // namespace bench
