// grid_sample on the CPU: interpolates planes at the points of a grid.
#include "core/parallel_for.h"
#include "kernel/cpu/convert_contiguous.h"
#include "ops/pool/resample_kernels.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace ebb::cpu {
namespace {

// The number of points that one job processes. The neighbourhood of each is computed once for all channels.
constexpr std::int64_t kBlock = 64;

template <class Body>
void for_jobs(std::int64_t jobs, std::int64_t work, Body&& body) {
  parallel_for(0, jobs, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(work, 1)),
               [&](std::int64_t from, std::int64_t to) {
                 for (std::int64_t j = from; j < to; ++j) body(j);
               });
}

/// The elements that kBlock points select, and their weights. Row k has the k-th element of each point. An
/// element outside the input has place -1 and weight 0. Places of 32 bits are gathered faster.
template <class Place, class Near, class C>
struct Selection {
  static constexpr int kCount = Near::kCount;
  Place places[kCount][kBlock];
  C weights[kCount][kBlock];

  /// Reads n points of kDims coordinates each. The others repeat the last one.
  template <class T, int kDims>
  [[gnu::flatten]] Selection(const T* points, std::int64_t n, const sampling::Axis (&axes)[kDims]) {
    for (std::int64_t p = 0; p < kBlock; ++p)
      Near(points + std::min(p, n - 1) * kDims, axes).all([&](int k, std::int64_t place, C weight) {
        places[k][p] = static_cast<Place>(place);
        weights[k][p] = place < 0 ? C(0) : weight;
      });
  }
};

/// Sets sums[p] to the weighted sum of the elements that point p selects in a plane. The inner loops run over
/// points, so that the compiler gathers elements with vector instructions.
template <class Selection, class C, class T>
void sample_plane(C (&sums)[kBlock], const T* plane, const Selection& selection) {
  std::fill_n(sums, kBlock, C(0));
  for (int k = 0; k < Selection::kCount; ++k) {
    const auto& places = selection.places[k];
    const auto& weights = selection.weights[k];
    if constexpr (std::is_same_v<T, C>) {
      for (std::int64_t p = 0; p < kBlock; ++p)
        sums[p] += (places[p] >= 0 ? plane[places[p]] : C(0)) * weights[p];
    } else {
      T picked[kBlock];
      C values[kBlock];
      for (std::int64_t p = 0; p < kBlock; ++p) picked[p] = places[p] >= 0 ? plane[places[p]] : T(0);
      convert_contiguous(values, picked, kBlock);
      for (std::int64_t p = 0; p < kBlock; ++p) sums[p] += values[p] * weights[p];
    }
  }
}

}  // namespace

void grid_sample(NdArray& out, const NdArray& in, const NdArray& grid, const SampleGeometry& g) {
  visit_floating(out.dtype(), "grid_sampler", [&]<class T> {
    using C = Compute<T>;
    visit_neighbourhood(g, [&]<int kDims, int kTaps> {
      using Near = sampling::Neighbourhood<kDims, kTaps, C>;
      sampling::Axis axes[kDims];
      g.axes(axes);
      const std::int64_t blocks = (g.places + kBlock - 1) / kBlock, volume = g.volume();
      const auto sample_block = [&]<class Place>(Place, std::int64_t job) {
        const std::int64_t n = job / blocks, first = job % blocks * kBlock;
        const std::int64_t count = std::min(kBlock, g.places - first);
        const T* const points = grid.address_as<T>() + (n * g.places + first) * kDims;
        const Selection<Place, Near, C> selection(points, count, axes);
        for (std::int64_t c = n * g.channels; c < (n + 1) * g.channels; ++c) {
          C sums[kBlock];
          sample_plane(sums, in.address_as<T>() + c * volume, selection);
          convert_contiguous(out.address_as<T>() + c * g.places + first, sums, count);
        }
      };
      const bool is_small = volume <= std::numeric_limits<std::int32_t>::max();
      for_jobs(g.batch * blocks, kBlock * g.channels * Near::kCount, [&](std::int64_t job) {
        is_small ? sample_block(std::int32_t(), job) : sample_block(std::int64_t(), job);
      });
    });
  });
}

void grid_sample_backward_input(NdArray& din, const NdArray& dout, const NdArray& grid,
                                const SampleGeometry& g) {
  visit_floating(dout.dtype(), "grid_sampler_backward", [&]<class T> {
    using C = Compute<T>;
    C* const to = din.address_as<C>();
    std::fill(to, to + din.numel(), C(0));
    visit_neighbourhood(g, [&]<int kDims, int kTaps> {
      using Near = sampling::Neighbourhood<kDims, kTaps, C>;
      sampling::Axis axes[kDims];
      g.axes(axes);
      const std::int64_t volume = g.volume();
      // One thread processes a whole plane, so the order of additions is fixed.
      for_jobs(g.batch * g.channels, g.places * Near::kCount * 2, [&](std::int64_t plane) {
        const T* const points = grid.address_as<T>() + plane / g.channels * g.places * kDims;
        const T* const from = dout.address_as<T>() + plane * g.places;
        C* const sums = to + plane * volume;
        for (std::int64_t p = 0; p < g.places; ++p) {
          const C value = static_cast<C>(from[p]);
          Near(points + p * kDims, axes).each([&](std::int64_t at, C weight) { sums[at] += value * weight; });
        }
      });
    });
  });
}

void grid_sample_backward_grid(NdArray& dgrid, const NdArray& dout, const NdArray& in, const NdArray& grid,
                               const SampleGeometry& g) {
  visit_floating(dout.dtype(), "grid_sampler_backward", [&]<class T> {
    using C = Compute<T>;
    visit_neighbourhood(g, [&]<int kDims, int kTaps> {
      using Near = sampling::Neighbourhood<kDims, kTaps, C>;
      sampling::Axis axes[kDims];
      g.axes(axes);
      const std::int64_t blocks = (g.places + kBlock - 1) / kBlock, volume = g.volume();
      for_jobs(g.batch * blocks, kBlock * g.channels * Near::kCount * kDims, [&](std::int64_t job) {
        const std::int64_t n = job / blocks, first = job % blocks * kBlock;
        const std::int64_t end = std::min(first + kBlock, g.places);
        for (std::int64_t p = first; p < end; ++p) {
          const std::int64_t point = (n * g.places + p) * kDims;
          const Near near(grid.address_as<T>() + point, axes);
          C sums[kDims] = {};
          for (std::int64_t c = 0; c < g.channels; ++c) {
            const std::int64_t plane = n * g.channels + c;
            const T* const from = in.address_as<T>() + plane * volume;
            const C value = static_cast<C>(dout.address_as<T>()[plane * g.places + p]);
            near.each_derivative([&](std::int64_t at, const C(&derivatives)[kDims]) {
              for (int d = 0; d < kDims; ++d) sums[d] += static_cast<C>(from[at]) * value * derivatives[d];
            });
          }
          for (int d = 0; d < kDims; ++d) dgrid.address_as<T>()[point + d] = static_cast<T>(sums[d]);
        }
      });
    });
  });
}

}  // namespace ebb::cpu
