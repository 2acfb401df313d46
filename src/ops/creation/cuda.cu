// Kernels of ranges and identity matrices on the device.
#include <ebb/core/visit.h>

#include "kernel/cuda/walk.h"
#include "ops/creation/kernels.h"
#include "ops/creation/range.h"

#include <algorithm>

namespace ebb::cuda {
namespace {

template <class T, class F>
struct Generate {
  T* out;
  F f;
  __device__ void operator()(std::int64_t i) const { out[i] = f(i); }
};

template <class T>
struct Diagonal {
  T* out;
  std::int64_t step;
  __device__ void operator()(std::int64_t i) const { out[i * step] = T(1); }
};

}  // namespace

void arange(NdArray& out, const Scalar& start, const Scalar& step) {
  visit_all(out.dtype(), "arange", [&]<class T> {
    using F = creating::Arange<T>;
    for_each(out.device(), out.numel(), Generate<T, F>{out.address_as<T>(), F(start, step)});
  });
}

void linspace(NdArray& out, const Scalar& start, const Scalar& end, double base) {
  visit_all(out.dtype(), "linspace", [&]<class T> {
    using F = creating::Linspace<T>;
    for_each(out.device(), out.numel(),
             Generate<T, F>{out.address_as<T>(), F(out.numel(), start, end, base)});
  });
}

void eye(NdArray& out) {
  const std::int64_t columns = out.sizes()[1];
  visit_all(out.dtype(), "eye", [&]<class T> {
    for_each(out.device(), std::min(out.sizes()[0], columns), Diagonal<T>{out.address_as<T>(), columns + 1});
  });
}

}  // namespace ebb::cuda
