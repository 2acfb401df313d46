// grid_sample on the CPU: interpolates planes at the points of a grid.
#include "core/parallel_for.h"
#include "kernel/convert.h"
#include "ops/pool/resample_kernels.h"

#include <algorithm>

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

}  // namespace

void grid_sample(NdArray& out, const NdArray& in, const NdArray& grid, const SampleGeometry& g) {
  visit_floating(out.dtype(), "grid_sampler", [&]<class T> {
    using C = Compute<T>;
    visit_neighbourhood(g, [&]<int kDims, int kTaps> {
      using Near = sampling::Neighbourhood<kDims, kTaps, C>;
      sampling::Axis axes[kDims];
      g.axes(axes);
      const std::int64_t blocks = (g.places + kBlock - 1) / kBlock, volume = g.volume();
      for_jobs(g.batch * blocks, kBlock * g.channels * Near::kCount, [&](std::int64_t job) {
        const std::int64_t n = job / blocks, first = job % blocks * kBlock;
        const std::int64_t end = std::min(first + kBlock, g.places);
        const T* const points = grid.address_as<T>() + n * g.places * kDims;
        for (std::int64_t p = first; p < end; ++p) {
          const Near near(points + p * kDims, axes);
          for (std::int64_t c = 0; c < g.channels; ++c) {
            const T* const from = in.address_as<T>() + (n * g.channels + c) * volume;
            C sum = 0;
            near.each([&](std::int64_t at, C weight) { sum += static_cast<C>(from[at]) * weight; });
            out.address_as<T>()[(n * g.channels + c) * g.places + p] = static_cast<T>(sum);
          }
        }
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
