// The device kernel resize_axis. One thread computes each element of the result, also for the transpose.
#include "kernel/convert.h"
#include "kernel/cuda/walk.h"
#include "ops/pool/resample_kernels.h"

namespace ebb::cuda {
namespace {

template <class C>
struct FillWindows {
  std::int64_t* starts;
  C* weights;
  resizing::AxisRule rule;
  std::int64_t width;
  __device__ void operator()(std::int64_t o) const {
    starts[o] = resizing::window_of(rule, width, o, weights + o * width);
  }
};

// The starts of windows never decrease, so the windows that contain an element are consecutive.
struct FillUsers {
  std::int64_t* users;
  const std::int64_t* starts;
  std::int64_t out, width;
  __device__ std::int64_t count_below(std::int64_t start) const {
    std::int64_t low = 0, high = out;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (starts[middle] < start)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  __device__ void operator()(std::int64_t i) const {
    users[2 * i] = count_below(i - width + 1);
    users[2 * i + 1] = count_below(i + 1);
  }
};

template <class I, class To, class From>
struct ResizeAxis {
  To* out;
  const From* in;
  const std::int64_t *starts, *users;
  const Compute<To>* weights;
  I rows, in_rows, inner, width;
  bool transposed;
  __device__ void operator()(std::int64_t element) const {
    using C = Compute<To>;
    const I at = static_cast<I>(element), row = at / inner, i = at - row * inner;
    const I outer = row / rows, r = row - outer * rows;
    const From* const from = in + outer * in_rows * inner + i;
    C sum = 0;
    if (transposed) {
      const I end = static_cast<I>(users[2 * r + 1]);
      for (I o = static_cast<I>(users[2 * r]); o < end; ++o) {
        const C w = weights[o * width + r - static_cast<I>(starts[o])];
        if (w != C(0)) sum += w * static_cast<C>(from[o * inner]);
      }
    } else {
      const I start = static_cast<I>(starts[r]);
      for (I k = 0; k < width; ++k) {
        const C w = weights[r * width + k];
        if (w != C(0)) sum += w * static_cast<C>(from[(start + k) * inner]);
      }
    }
    out[element] = static_cast<To>(sum);
  }
};

}  // namespace

void axis_table(AxisTable& table, const resizing::AxisRule& rule) {
  const std::int64_t width = rule.width();
  auto* const starts = table.starts.address_as<std::int64_t>();
  const Device device = table.starts.device();
  visit_float_double(table.weights.dtype(), "upsample", [&]<class C> {
    for_each(device, rule.out, FillWindows<C>{starts, table.weights.address_as<C>(), rule, width});
  });
  for_each(device, rule.in, FillUsers{table.users.address_as<std::int64_t>(), starts, rule.out, width});
}

void resize_axis(NdArray& out, const NdArray& in, const AxisTable& table, AxisPosition place,
                 bool transposed) {
  const std::int64_t width = table.weights.sizes()[1];
  const std::int64_t small = table.users.sizes()[0], large = table.starts.sizes()[0];
  const auto* const starts = table.starts.address_as<std::int64_t>();
  const auto* const users = table.users.address_as<std::int64_t>();
  kernels::visit_resize(out.dtype(), in.dtype(), [&]<class To, class From> {
    const auto run = [&]<class I>(I) {
      for_each(out.device(), out.numel(),
               ResizeAxis<I, To, From>{out.address_as<To>(), in.address_as<From>(), starts, users,
                                       table.weights.address_as<Compute<To>>(),
                                       static_cast<I>(transposed ? small : large),
                                       static_cast<I>(transposed ? large : small),
                                       static_cast<I>(place.inner), static_cast<I>(width), transposed});
    };
    const std::int64_t most = std::int64_t{INT32_MAX};
    if (out.numel() <= most && in.numel() <= most && large * width <= most)
      run(std::int32_t{});
    else
      run(std::int64_t{});
  });
}

}  // namespace ebb::cuda
