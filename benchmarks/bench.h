// Timing of CPU workloads with Google Benchmark, and the roofs of a roofline model: the machine's maximum
// rates, measured with the best calls of the timed library.
#pragma once

#include "seam.h"

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <map>
#include <string>
#include <utility>

namespace bench {

enum class Bound { flops, double_flops, bfloat16_flops, bytes };

/// The minimum work of a call. `amount` is a number of floating-point operations of the type `bound`, or for
/// Bound::bytes the number of bytes that the call must read and write.
struct Work {
  double amount = 0;
  Bound bound = Bound::bytes;
};

inline Work flops(double count) { return {count, Bound::flops}; }
inline Work double_flops(double count) { return {count, Bound::double_flops}; }
inline Work bfloat16_flops(double count) { return {count, Bound::bfloat16_flops}; }
inline Work bytes(double count) { return {count, Bound::bytes}; }

/// Returns the time in seconds by the clock of the benchmarks: processor time for one thread, and wall time
/// for several.
inline double now() {
  timespec time{};
  clock_gettime(threads() > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Returns the time of the shortest of several calls, in seconds.
template <class F>
double shortest(int calls, F&& call) {
  call();  // warms caches
  double best = 1e300;
  for (int i = 0; i < calls; ++i) {
    const double start = now();
    call();
    best = std::min(best, now() - start);
  }
  return best;
}

/// Returns the operations per second of a 1024 x 1024 matrix product with the threads of the run.
inline double product_rate(torch::ScalarType dtype) {
  const torch::Tensor a = torch::ones({1024, 1024}, dtype), b = torch::ones({1024, 1024}, dtype);
  return 2.0 * std::pow(1024, 3) / shortest(10, [&] { torch::mm(a, b); });
}

/// Returns the bytes per second of a copy that reads and writes `all_bytes` in total. The rate depends on the
/// size, because copies within caches are faster.
inline double copy_rate(double all_bytes) {
  const int64_t floats = std::max<int64_t>(1024, static_cast<int64_t>(all_bytes / 8));
  const torch::Tensor from = torch::ones({floats}), to = torch::zeros({floats});
  const int64_t times = std::max<int64_t>(1, (1 << 20) / floats);
  const double seconds = shortest(7, [&] {
    for (int64_t i = 0; i < times; ++i) to.copy_(from);
  });
  return 8.0 * static_cast<double>(floats * times) / seconds;
}

/// Returns the maximum rate (roof) for the bound of `work`. Each roof is measured once per process. The roof
/// of Bound::bytes is measured by a copy of the next power of two bytes.
inline double roof_of(const Work& work) {
  const torch::NoGradGuard no_grad;
  const int scale = work.bound == Bound::bytes ? static_cast<int>(std::ceil(std::log2(work.amount))) : 0;
  static std::map<std::pair<Bound, int>, double> measured;
  double& roof = measured[{work.bound, scale}];
  if (roof == 0)
    roof = work.bound == Bound::bytes            ? copy_rate(std::exp2(scale))
           : work.bound == Bound::flops          ? product_rate(torch::kFloat)
           : work.bound == Bound::bfloat16_flops ? product_rate(torch::kBFloat16)
                                                 : product_rate(torch::kDouble);
  return roof;
}

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
/// minimum work of a call, from which the share of the roof is computed that the call reaches. If
/// EBB_BENCH_REPLAY is set in the environment, ebb compiles the call, and the benchmark is skipped if the
/// call cannot be replayed.
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
