// The roofs of a roofline model: the machine's maximum rates, measured with the best calls of the timed
// library.
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

/// The minimum work of a call, and its bound: floating-point operations, or bytes that are read and written
/// once.
struct Work {
  double amount = 0;
  Bound bound = Bound::bytes;
};

inline Work flops(double count) { return {count, Bound::flops}; }
inline Work double_flops(double count) { return {count, Bound::double_flops}; }
inline Work bfloat16_flops(double count) { return {count, Bound::bfloat16_flops}; }
inline Work bytes(double count) { return {count, Bound::bytes}; }

/// Returns processor time in seconds for one thread and wall time for several, as in the benchmarks.
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

/// Returns the bytes per second of a copy that reads and writes `all_bytes` in total. The size matters,
/// because copies within caches are faster.
inline double copy_rate(double all_bytes) {
  const int64_t floats = std::max<int64_t>(1024, static_cast<int64_t>(all_bytes / 8));
  const torch::Tensor from = torch::ones({floats}), to = torch::zeros({floats});
  const int64_t times = std::max<int64_t>(1, (1 << 20) / floats);
  const double seconds = shortest(7, [&] {
    for (int64_t i = 0; i < times; ++i) to.copy_(from);
  });
  return 8.0 * static_cast<double>(floats * times) / seconds;
}

/// Returns the roof of the work. It is measured once per process, and for copies with the next power of two
/// as size.
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
