// What the machine can do at most, by what the library that is timed does best: the roofs of a roofline.
#pragma once

#include "seam.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <map>
#include <utility>

namespace bench {

enum class Bound { flops, double_flops, bfloat16_flops, bytes };

/// What a call has to do at least, and what bounds it: floating-point operations, or bytes read and written
/// once.
struct Work {
  double amount = 0;
  Bound bound = Bound::bytes;
};

inline Work flops(double count) { return {count, Bound::flops}; }
inline Work double_flops(double count) { return {count, Bound::double_flops}; }
inline Work bfloat16_flops(double count) { return {count, Bound::bfloat16_flops}; }
inline Work bytes(double count) { return {count, Bound::bytes}; }

/// Seconds, of the processor for one thread and of the clock for several, as the benchmarks count them.
inline double now() {
  timespec time{};
  clock_gettime(threads() > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The shortest of a few calls, in seconds.
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

/// Operations a second of a matrix product of 1024 squared, on the threads of the run.
inline double product_rate(torch::ScalarType dtype) {
  const torch::Tensor a = torch::ones({1024, 1024}, dtype), b = torch::ones({1024, 1024}, dtype);
  return 2.0 * std::pow(1024, 3) / shortest(10, [&] { torch::mm(a, b); });
}

/// Bytes a second of a copy that reads and writes so many of them, those at last: what caches hold is copied
/// faster.
inline double copy_rate(double all_bytes) {
  const int64_t floats = std::max<int64_t>(1024, static_cast<int64_t>(all_bytes / 8));
  const torch::Tensor from = torch::ones({floats}), to = torch::zeros({floats});
  const int64_t times = std::max<int64_t>(1, (1 << 20) / floats);
  const double seconds = shortest(7, [&] {
    for (int64_t i = 0; i < times; ++i) to.copy_(from);
  });
  return 8.0 * static_cast<double>(floats * times) / seconds;
}

/// The roof of that work, measured once a process; copies by the next power of two.
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

}  // namespace bench
