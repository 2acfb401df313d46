// grid_sample on the CPU: interpolates planes at the points of a grid.
#include "core/parallel_for.h"
#include "kernel/cpu/convert_contiguous.h"
#include "ops/pool/cpu_grid_axis.h"
#include "ops/pool/resample_kernels.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace ebb::cpu {
namespace {

using grid::kBlock;

template <class Body>
void for_jobs(std::int64_t jobs, std::int64_t work, Body&& body) {
  parallel_for(0, jobs, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(work, 1)),
               [&](std::int64_t from, std::int64_t to) {
                 for (std::int64_t j = from; j < to; ++j) body(j);
               });
}

/// The coordinates of kBlock points of a grid.
template <int kDims, class C>
struct Points {
  C coordinates[kDims][kBlock];

  /// Reads n points of kDims coordinates each. The others repeat the last one.
  template <class T>
  Points(const T* from, std::int64_t n) {
    for (int d = 0; d < kDims; ++d)
      for (std::int64_t p = 0; p < kBlock; ++p)
        coordinates[d][p] = static_cast<C>(from[std::min(p, n - 1) * kDims + d]);
  }
};

/// The elements that kBlock points select, and the factors of the elements: their weights, or the derivatives
/// of these with respect to each coordinate. Row k has the k-th element of each point. An element outside the
/// input has place -1 and factor 0. Places of 32 bits are gathered faster.
template <class Place, int kDims, int kTaps, class C, bool kDerive = false>
struct Selection {
  static constexpr int kCount = sampling::power(kTaps, kDims), kFactors = kDerive ? kDims : 1;
  Place places[kCount][kBlock];
  C factors[kFactors][kCount][kBlock];

  [[gnu::noinline]] Selection(const Points<kDims, C>& points, const sampling::Axis (&axes)[kDims]) {
    for (auto& row : places) std::fill_n(row, kBlock, Place(0));
    for (auto& rows : factors)
      for (auto& row : rows) std::fill_n(row, kBlock, C(1));
    Place stride = 1;
    for (int d = 0, step = 1; d < kDims; ++d, step *= kTaps) {
      const grid::AxisSelection<Place, kTaps, C> axis(points.coordinates[d], axes[d]);
      for (int k = 0; k < kCount; ++k) {
        const int tap = k / step % kTaps;
        move(places[k], axis.places[tap], stride);
        for (int e = 0; e < kFactors; ++e)
          multiply(factors[e][k], kDerive && e == d ? axis.derivatives[tap] : axis.weights[tap], places[k]);
      }
      stride *= static_cast<Place>(axes[d].size);
    }
  }

 private:
  static void move(Place (&places)[kBlock], const Place (&along)[kBlock], Place stride) {
    for (std::int64_t p = 0; p < kBlock; ++p)
      places[p] = ((places[p] >= 0) & (along[p] >= 0)) ? places[p] + along[p] * stride : Place(-1);
  }
  static void multiply(C (&factors)[kBlock], const C (&by)[kBlock], const Place (&places)[kBlock]) {
    for (std::int64_t p = 0; p < kBlock; ++p) factors[p] = places[p] >= 0 ? factors[p] * by[p] : C(0);
  }
};

/// Sets values[p] to the element of a plane that point p selects, or 0. The loops run over points, so that
/// the compiler gathers elements with vector instructions.
template <class C, class T, class Place>
void pick(C (&values)[kBlock], const T* plane, const Place (&places)[kBlock]) {
  if constexpr (std::is_same_v<T, C>) {
    for (std::int64_t p = 0; p < kBlock; ++p) values[p] = places[p] >= 0 ? plane[places[p]] : C(0);
  } else {
    T picked[kBlock];
    for (std::int64_t p = 0; p < kBlock; ++p) picked[p] = places[p] >= 0 ? plane[places[p]] : T(0);
    convert_contiguous(values, picked, kBlock);
  }
}

/// Calls body(type of places, axes) for a geometry: 32 bits if all places of a plane fit.
template <int kDims, class Body>
void with_axes(const SampleGeometry& g, Body&& body) {
  sampling::Axis axes[kDims];
  g.axes(axes);
  if (g.volume() <= std::numeric_limits<std::int32_t>::max())
    body(std::int32_t(), axes);
  else
    body(std::int64_t(), axes);
}

}  // namespace

void grid_sample(NdArray& out, const NdArray& in, const NdArray& grid, const SampleGeometry& g) {
  visit_floating(out.dtype(), "grid_sampler", [&]<class T> {
    using C = Compute<T>;
    visit_neighbourhood(g, [&]<int kDims, int kTaps> {
      const std::int64_t blocks = (g.places + kBlock - 1) / kBlock, volume = g.volume();
      with_axes<kDims>(g, [&]<class Place>(Place, const auto& axes) {
        using Near = Selection<Place, kDims, kTaps, C>;
        for_jobs(g.batch * blocks, kBlock * g.channels * Near::kCount, [&](std::int64_t job) {
          const std::int64_t n = job / blocks, first = job % blocks * kBlock;
          const std::int64_t count = std::min(kBlock, g.places - first);
          const Near near({grid.address_as<T>() + (n * g.places + first) * kDims, count}, axes);
          for (std::int64_t c = n * g.channels; c < (n + 1) * g.channels; ++c) {
            C sums[kBlock] = {}, values[kBlock];
            for (int k = 0; k < Near::kCount; ++k) {
              pick(values, in.address_as<T>() + c * volume, near.places[k]);
              for (std::int64_t p = 0; p < kBlock; ++p) sums[p] += values[p] * near.factors[0][k][p];
            }
            convert_contiguous(out.address_as<T>() + c * g.places + first, sums, count);
          }
        });
      });
    });
  });
}

void grid_sample_backward_input(NdArray& din, const NdArray& dout, const NdArray& grid,
                                const SampleGeometry& g) {
  // A job processes this many planes, for which it selects elements once.
  constexpr std::int64_t kPlanes = 16;
  visit_floating(dout.dtype(), "grid_sampler_backward", [&]<class T> {
    using C = Compute<T>;
    C* const to = din.address_as<C>();
    std::fill(to, to + din.numel(), C(0));
    visit_neighbourhood(g, [&]<int kDims, int kTaps> {
      const std::int64_t volume = g.volume(), groups = (g.channels + kPlanes - 1) / kPlanes;
      with_axes<kDims>(g, [&]<class Place>(Place, const auto& axes) {
        using Near = Selection<Place, kDims, kTaps, C>;
        // One thread processes a whole plane, so the order of additions is fixed.
        for_jobs(g.batch * groups, g.places * Near::kCount * 2 * kPlanes, [&](std::int64_t job) {
          const std::int64_t n = job / groups, c = job % groups * kPlanes;
          const std::int64_t end = n * g.channels + std::min(c + kPlanes, g.channels);
          for (std::int64_t first = 0; first < g.places; first += kBlock) {
            const std::int64_t count = std::min(kBlock, g.places - first);
            const Near near({grid.address_as<T>() + (n * g.places + first) * kDims, count}, axes);
            for (std::int64_t plane = n * g.channels + c; plane < end; ++plane) {
              const T* const from = dout.address_as<T>() + plane * g.places + first;
              C* const sums = to + plane * volume;
              for (std::int64_t p = 0; p < count; ++p)
                for (int k = 0; k < Near::kCount; ++k)
                  if (near.places[k][p] >= 0)
                    sums[near.places[k][p]] += static_cast<C>(from[p]) * near.factors[0][k][p];
            }
          }
        });
      });
    });
  });
}

void grid_sample_backward_grid(NdArray& dgrid, const NdArray& dout, const NdArray& in, const NdArray& grid,
                               const SampleGeometry& g) {
  visit_floating(dout.dtype(), "grid_sampler_backward", [&]<class T> {
    using C = Compute<T>;
    visit_neighbourhood(g, [&]<int kDims, int kTaps> {
      const std::int64_t blocks = (g.places + kBlock - 1) / kBlock, volume = g.volume();
      with_axes<kDims>(g, [&]<class Place>(Place, const auto& axes) {
        using Near = Selection<Place, kDims, kTaps, C, true>;
        for_jobs(g.batch * blocks, kBlock * g.channels * Near::kCount * kDims, [&](std::int64_t job) {
          const std::int64_t n = job / blocks, first = job % blocks * kBlock;
          const std::int64_t count = std::min(kBlock, g.places - first),
                             point = (n * g.places + first) * kDims;
          const Near near({grid.address_as<T>() + point, count}, axes);
          C sums[kDims][kBlock] = {}, grads[kBlock] = {}, values[kBlock];
          for (std::int64_t c = n * g.channels; c < (n + 1) * g.channels; ++c) {
            convert_contiguous(grads, dout.address_as<T>() + c * g.places + first, count);
            for (int k = 0; k < Near::kCount; ++k) {
              const auto& places = near.places[k];
              pick(values, in.address_as<T>() + c * volume, places);
              for (int d = 0; d < kDims; ++d)
                for (std::int64_t p = 0; p < kBlock; ++p)
                  sums[d][p] += places[p] >= 0 ? values[p] * grads[p] * near.factors[d][k][p] : C(0);
            }
          }
          for (std::int64_t p = 0; p < count; ++p)
            for (int d = 0; d < kDims; ++d)
              dgrid.address_as<T>()[point + p * kDims + d] = static_cast<T>(sums[d][p]);
        });
      });
    });
  });
}

}  // namespace ebb::cpu
