// Kernels of cdist on the device.
#include <ebb/core/visit.h>

#include "kernel/cuda/walk.h"
#include "ops/linalg/kernels.h"
#include "ops/linalg/math.h"

namespace ebb::cuda {
namespace {

struct Sizes {
  std::int64_t n, m, d;
  Sizes(const NdArray& a, const NdArray& b)
      : n(a.sizes()[a.dim() - 2]), m(b.sizes()[b.dim() - 2]), d(a.sizes()[a.dim() - 1]) {}
};

constexpr std::int64_t kRun = 1024;

// Accumulates sum = add(sum, k) for all k < n, in runs. Each run is accumulated in T, and the results of the
// runs are added in double.
template <class T, class Add>
__device__ T sum_by_runs(std::int64_t n, std::int64_t run, const Add& add) {
  double total = 0;
  for (std::int64_t from = 0; from < n; from += run) {
    T sum = 0;
    for (std::int64_t k = from; k < n && k < from + run; ++k) sum = add(sum, k);
    total += sum;
  }
  return static_cast<T>(total);
}

template <class T, class Norm>
struct Distance {
  T* out;
  const T *x1, *x2;
  Sizes s;
  Norm norm;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / s.m, column = i % s.m;
    const T *const a = x1 + row * s.d, *const b = x2 + (row / s.n * s.m + column) * s.d;
    const auto difference = [&](std::int64_t k) { return a[k] - b[k]; };
    const T sum = sum_by_runs<T>(s.d, Norm::kAdds ? kRun : s.d,
                                 [&](T so_far, std::int64_t k) { return norm.add(so_far, difference(k)); });
    out[i] = Norm::kScales && distance::is_extreme(sum) ? distance::scaled_distance<T>(norm, s.d, difference)
                                                        : norm.finish(sum);
  }
};

template <class T, class Norm>
struct DistanceBackward {
  T* out;
  const T *grad, *x1, *x2, *distances;
  Sizes s;
  Norm norm;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / s.d, k = i % s.d;
    const T* const b = x2 + row / s.n * s.m * s.d + k;
    out[i] = sum_by_runs<T>(s.m, kRun, [&](T sum, std::int64_t j) {
      return sum + grad[row * s.m + j] * norm.derivative(x1[i] - b[j * s.d], distances[row * s.m + j]);
    });
  }
};

}  // namespace

void cdist(NdArray& out, const NdArray& x1, const NdArray& x2, double p) {
  visit_float_double(out.dtype(), "cdist", [&]<class T> {
    distance::with_norm<T>(p, [&]<class Norm>(const Norm& norm) {
      for_each(out.device(), out.numel(),
               Distance<T, Norm>{out.address_as<T>(), x1.address_as<T>(), x2.address_as<T>(), Sizes(x1, x2),
                                 norm});
    });
  });
}

void cdist_backward(NdArray& out, const NdArray& grad, const NdArray& x1, const NdArray& x2,
                    const NdArray& distances, double p) {
  visit_float_double(out.dtype(), "cdist_backward", [&]<class T> {
    distance::with_norm<T>(p, [&]<class Norm>(const Norm& norm) {
      for_each(out.device(), out.numel(),
               DistanceBackward<T, Norm>{out.address_as<T>(), grad.address_as<T>(), x1.address_as<T>(),
                                         x2.address_as<T>(), distances.address_as<T>(), Sizes(x1, x2), norm});
    });
  });
}

}  // namespace ebb::cuda
