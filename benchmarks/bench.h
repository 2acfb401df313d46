// Timing of CPU workloads with Google Benchmark.
#pragma once

#include "roof.h"
#include "seam.h"

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <string>
#include <utility>

namespace bench {

/// Registers a benchmark. `body(state)` prepares its data and ends with measure(). One thread is timed by its
/// processor time, which other programs hardly influence, and several threads by the wall clock.
template <class F>
benchmark::internal::Benchmark* add(const std::string& name, F body) {
  auto* added = benchmark::RegisterBenchmark(name.c_str(), std::move(body));
  return threads() > 1 ? added->UseRealTime() : added;
}

template <class F>
void time(benchmark::State& state, double parts, const char* unit, F&& call, const Work& work) {
  for (auto _ : state) call();
  const auto per_call = benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert;
  state.counters["value"] = {parts * (unit[0] == 'm' ? 1e-3 : 1e-6), per_call};
  if (work.amount > 0) {
    const double roof = roof_of(work);
    state.counters["roof"] = roof;
    state.counters["of_roof"] = {work.amount / roof, benchmark::Counter::kIsIterationInvariantRate};
  }
  state.SetLabel(unit);
}

/// Times `call`. The figure is the time of one of its `parts`; `unit` begins with "ms" or "us". `work` is the
/// minimum work of a call, and the figure's share of the machine's maximum is printed beside the time. If
/// EBB_BENCH_REPLAY is set in the environment, ebb's call is compiled, and skipped if it cannot be replayed.
template <class F>
void measure(benchmark::State& state, double parts, const char* unit, F&& call, const Work& work = {}) {
#ifndef EBB_FIDELITY_TORCH
  if (std::getenv("EBB_BENCH_REPLAY")) {
    auto replayed = ebb::compile([&] { call(); });
    for (int i = 0; i < 6; ++i) replayed();
    if (!replayed.report().replayed) return state.SkipWithError(replayed.report().reason.c_str());
    time(state, parts, unit, replayed, work);
    return;
  }
#endif
  call();  // warms caches and the allocator
  time(state, parts, unit, call, work);
}

/// Adds the peak memory of this process, in MiB, as the last figure.
inline void add_peak_memory(const char* program) {
  std::string name = program;
  name.erase(0, name.rfind('/') + 1);
  for (const char* prefix : {"bench_", "torch_"})
    if (name.rfind(prefix, 0) == 0) name.erase(0, 6);
  add(name + ".peak_memory", [](benchmark::State& state) {
    for (auto _ : state) benchmark::ClobberMemory();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    state.counters["value"] = static_cast<double>(usage.ru_maxrss) / 1024;
    state.SetLabel("MiB");
  })->Iterations(1);
}

/// Runs the registered benchmarks with the command line of Google Benchmark.
inline int run(int argc, char** argv) {
  torch::set_num_threads(threads());
  add_peak_memory(argv[0]);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace bench
