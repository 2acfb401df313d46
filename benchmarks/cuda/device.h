// Timing of benchmarks on a CUDA device, where calls return before their work is done. The timed interval
// ends with a synchronization, or when the last launch is queued. Google Benchmark is not used, because it
// cannot measure such intervals itself, and machines with a GPU often lack it.
#pragma once

#include "../seam.h"

#ifdef EBB_FIDELITY_TORCH
#include <ATen/Context.h>
#include <torch/cuda.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace bench {

inline torch::Device device() {
  if (!torch::cuda::is_available()) {
    std::fprintf(stderr, "This benchmark needs a CUDA device; there is none.\n");
    std::exit(1);
  }
  return {torch::kCUDA, 0};
}

inline torch::TensorOptions on_device(torch::ScalarType dtype = torch::kFloat) {
  return torch::TensorOptions().device(device()).dtype(dtype);
}

inline void allow_tf32(bool allow) {
#ifdef EBB_FIDELITY_TORCH
  at::globalContext().setAllowTF32CuBLAS(allow);
  at::globalContext().setAllowTF32CuDNN(allow);
#else
  torch::cuda::allow_tf32(allow);
#endif
}

inline const char* name_of(torch::ScalarType dtype) {
  return dtype == torch::kFloat ? "f32" : dtype == torch::kBFloat16 ? "bf16" : "f64";
}

inline double now() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

/// Prints a figure as one line: name, value, unit. The flush ensures that no line is lost if the program is
/// killed.
inline void report(const std::string& name, double value, const char* unit) {
  std::printf("%s %.6g %s\n", name.c_str(), value, unit);
  std::fflush(stdout);
}

/// Returns whether EBB_BENCH_ONCE is set. If it is, each call runs only twice, and a profiler can inspect the
/// second run.
inline bool once() {
  static const bool requested = std::getenv("EBB_BENCH_ONCE") != nullptr;
  return requested;
}

/// The number of seconds for each figure: EBB_BENCH_SECONDS, or half a second.
inline double budget() {
  static const char* const requested = std::getenv("EBB_BENCH_SECONDS");
  return requested ? std::atof(requested) : 0.5;
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns the seconds of one call if calls follow each other without synchronization. The result is the
// median over groups of calls, after some calls that warm caches, plans and the allocator. A group takes
// about 10 ms, which is long compared with the resolution of the clock.
inline double device_seconds(const std::function<void()>& call) {
  for (int i = 0; i < (once() ? 1 : 5); ++i) call();
  torch::cuda::synchronize();
  double start = now();
  call();
  torch::cuda::synchronize();
  if (once()) return now() - start;
  const int group = std::max(1, static_cast<int>(0.01 / std::max(now() - start, 1e-6)));
  std::vector<double> seconds;
  for (const double end = now() + budget(); now() < end || seconds.size() < 5;) {
    start = now();
    for (int i = 0; i < group; ++i) call();
    torch::cuda::synchronize();
    seconds.push_back(now() - start);
  }
  return median(std::move(seconds)) / group;
}

// Returns the size in the program's first argument. Without an argument returns `otherwise`, a size that
// fills a large device.
inline int64_t size_argument(int argc, char** argv, int64_t otherwise) {
  return argc > 1 ? std::atoll(argv[1]) : otherwise;
}

}  // namespace bench
