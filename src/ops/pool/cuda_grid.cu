// grid_sample on the device: one thread for each point and several channels.
#include <ebb/core/deterministic.h>

#include "kernel/convert.h"
#include "kernel/cuda/atomic.h"
#include "kernel/cuda/walk.h"
#include "ops/common/kernels.h"
#include "ops/pool/resample_kernels.h"

namespace ebb::cuda {
namespace {

constexpr std::int64_t kChannels = 8;  // channels of a thread

// The arguments that all kernels of this file share.
template <int kDims, class T>
struct Points {
  const T* grid;
  std::int64_t places, channels, volume;
  sampling::Axis axes[kDims];
  Points(const NdArray& grid_array, const SampleGeometry& g)
      : grid(grid_array.address_as<T>()), places(g.places), channels(g.channels), volume(g.volume()) {
    g.axes(axes);
  }
  template <int kTaps>
  __device__ sampling::Neighbourhood<kDims, kTaps, Compute<T>> near(std::int64_t n, std::int64_t p) const {
    return {grid + (n * places + p) * kDims, axes};
  }
};

template <int kDims, int kTaps, class T>
struct Sample {
  T* out;
  const T* in;
  Points<kDims, T> points;
  std::int64_t groups;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    const std::int64_t group = i / points.places, p = i - group * points.places, n = group / groups;
    const std::int64_t first = (group - n * groups) * kChannels;
    const std::int64_t end = first + kChannels < points.channels ? first + kChannels : points.channels;
    const auto near = points.template near<kTaps>(n, p);
    for (std::int64_t c = first; c < end; ++c) {
      const std::int64_t plane = n * points.channels + c;
      const T* const from = in + plane * points.volume;
      C sum = 0;
      near.each([&](std::int64_t at, C weight) { sum += static_cast<C>(from[at]) * weight; });
      out[plane * points.places + p] = static_cast<T>(sum);
    }
  }
};

template <int kDims, int kTaps, class T>
struct SampleBackwardInput {
  Compute<T>* din;
  const T* dout;
  Points<kDims, T> points;
  std::int64_t groups;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    const std::int64_t group = i / points.places, p = i - group * points.places, n = group / groups;
    const std::int64_t first = (group - n * groups) * kChannels;
    const std::int64_t end = first + kChannels < points.channels ? first + kChannels : points.channels;
    const auto near = points.template near<kTaps>(n, p);
    for (std::int64_t c = first; c < end; ++c) {
      const std::int64_t plane = n * points.channels + c;
      C* const to = din + plane * points.volume;
      const C value = static_cast<C>(dout[plane * points.places + p]);
      near.each([&](std::int64_t at, C weight) { atomic_add(to + at, value * weight); });
    }
  }
};

// One thread for each plane adds the points in order, so the sums are deterministic.
template <int kDims, int kTaps, class T>
struct SampleBackwardInputInOrder {
  Compute<T>* din;
  const T* dout;
  Points<kDims, T> points;
  __device__ void operator()(std::int64_t plane) const {
    using C = Compute<T>;
    C* const to = din + plane * points.volume;
    for (std::int64_t p = 0; p < points.places; ++p) {
      const C value = static_cast<C>(dout[plane * points.places + p]);
      points.template near<kTaps>(plane / points.channels, p).each([&](std::int64_t at, C weight) {
        to[at] += value * weight;
      });
    }
  }
};

template <int kDims, int kTaps, class T>
struct SampleBackwardGrid {
  T* dgrid;
  const T *dout, *in;
  Points<kDims, T> points;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    const std::int64_t n = i / points.places, p = i - n * points.places;
    const auto near = points.template near<kTaps>(n, p);
    C sums[kDims] = {};
    for (std::int64_t c = 0; c < points.channels; ++c) {
      const std::int64_t plane = n * points.channels + c;
      const T* const from = in + plane * points.volume;
      const C value = static_cast<C>(dout[plane * points.places + p]);
      near.each_derivative([&](std::int64_t at, const C(&derivatives)[kDims]) {
        for (int d = 0; d < kDims; ++d) sums[d] += static_cast<C>(from[at]) * value * derivatives[d];
      });
    }
    for (int d = 0; d < kDims; ++d) dgrid[i * kDims + d] = static_cast<T>(sums[d]);
  }
};

}  // namespace

void grid_sample(NdArray& out, const NdArray& in, const NdArray& grid, const SampleGeometry& g) {
  const std::int64_t groups = (g.channels + kChannels - 1) / kChannels;
  visit_floating(out.dtype(), "grid_sampler", [&]<class T> {
    visit_neighbourhood(g, [&]<int kDims, int kTaps> {
      for_each(out.device(), g.batch * groups * g.places,
               Sample<kDims, kTaps, T>{out.address_as<T>(), in.address_as<T>(), Points<kDims, T>(grid, g),
                                       groups});
    });
  });
}

void grid_sample_backward_input(NdArray& din, const NdArray& dout, const NdArray& grid,
                                const SampleGeometry& g) {
  kernels::fill(din.device(), din, 0);
  const std::int64_t groups = (g.channels + kChannels - 1) / kChannels;
  visit_floating(dout.dtype(), "grid_sampler_backward", [&]<class T> {
    using C = Compute<T>;
    visit_neighbourhood(g, [&]<int kDims, int kTaps> {
      const Points<kDims, T> points(grid, g);
      if (are_deterministic_algorithms_enabled())
        return for_each(
            din.device(), g.batch * g.channels,
            SampleBackwardInputInOrder<kDims, kTaps, T>{din.address_as<C>(), dout.address_as<T>(), points});
      for_each(
          din.device(), g.batch * groups * g.places,
          SampleBackwardInput<kDims, kTaps, T>{din.address_as<C>(), dout.address_as<T>(), points, groups});
    });
  });
}

void grid_sample_backward_grid(NdArray& dgrid, const NdArray& dout, const NdArray& in, const NdArray& grid,
                               const SampleGeometry& g) {
  visit_floating(dout.dtype(), "grid_sampler_backward", [&]<class T> {
    visit_neighbourhood(g, [&]<int kDims, int kTaps> {
      for_each(dgrid.device(), g.batch * g.places,
               SampleBackwardGrid<kDims, kTaps, T>{dgrid.address_as<T>(), dout.address_as<T>(),
                                                   in.address_as<T>(), Points<kDims, T>(grid, g)});
    });
  });
}

}  // namespace ebb::cuda
