// How a workload of the CPU is timed by Google Benchmark, and what its figure is.
#pragma once

#include <benchmark/benchmark.h>

#include "seam.h"

#include <string>
#include <utility>

namespace bench {

/// A benchmark of that name; `body(state)` prepares what it needs and ends with measure(). One thread is
/// timed by what it has of the processor, so that other programs hardly show; several are timed by the clock.
template <class F>
benchmark::internal::Benchmark* add(const std::string& name, F body) {
  auto* added = benchmark::RegisterBenchmark(name.c_str(), std::move(body));
  return threads() > 1 ? added->UseRealTime() : added;
}

/// Times `call`. The figure is the time of one of its `parts`; `unit` begins with "ms" or "us".
template <class F>
void measure(benchmark::State& state, double parts, const char* unit, F&& call) {
  call();  // warms caches and the allocator
  for (auto _ : state) call();
  const auto per_call = benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert;
  state.counters["value"] = {parts * (unit[0] == 'm' ? 1e-3 : 1e-6), per_call};
  state.SetLabel(unit);
}

/// Runs what was added, by the command line of Google Benchmark.
inline int run(int argc, char** argv) {
  torch::set_num_threads(threads());
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace bench
