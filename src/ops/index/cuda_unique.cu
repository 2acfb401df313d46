// The device kernel unique: finds the distinct rows of a matrix. It sorts rows column by column, the last
// column first.
#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cuda/sort.h"
#include "kernel/cuda/walk.h"
#include "kernel/reduce_plan.h"
#include "kernel/sort_keys.h"
#include "ops/common/kernels.h"
#include "ops/index/sort_kernels.h"

namespace ebb::cuda {
namespace {

template <class T>
struct ColumnKeys {
  std::uint64_t* keys;
  const T* rows;
  const std::int64_t* order;
  std::int64_t m, column;
  __device__ void operator()(std::int64_t i) const {
    keys[i] = sort_keys::key_of(rows[order[i] * m + column]);
  }
};

// Sets flags[i] to 1 if the row differs from the previous row. NaN differs from NaN.
template <class T>
struct Differs {
  std::int64_t* flags;
  const T* rows;
  const std::int64_t* order;
  std::int64_t m;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    bool equal = i > 0;
    for (std::int64_t c = 0; equal && c < m; ++c)
      equal = static_cast<C>(rows[order[i] * m + c]) == static_cast<C>(rows[order[i - 1] * m + c]);
    flags[i] = !equal;
  }
};

// Assigns class numbers. ends[i] is the number of distinct rows among the first i + 1 sorted rows.
struct Assign {
  std::int64_t *inverse, *first, *starts;
  const std::int64_t *ends, *flags, *order;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t number = ends[i] - 1;
    inverse[order[i]] = number;
    if (!flags[i]) return;
    first[number] = order[i];
    starts[number] = i;
  }
};

struct Count {
  std::int64_t* counts;
  const std::int64_t* starts;
  std::int64_t classes, n;
  __device__ void operator()(std::int64_t k) const {
    counts[k] = (k + 1 < classes ? starts[k + 1] : n) - starts[k];
  }
};

struct CountUp {
  std::int64_t* out;
  __device__ void operator()(std::int64_t i) const { out[i] = i; }
};

}  // namespace

void unique(NdArray& first, NdArray& inverse, NdArray& counts, const NdArray& rows, bool consecutive) {
  const Device device = rows.device();
  const std::int64_t n = rows.sizes()[0], m = rows.sizes()[1];
  const auto longs = [&](std::int64_t size) { return NdArray::empty({size}, kLong, device); };
  inverse = longs(n);
  if (n == 0) {
    first = longs(0);
    counts = longs(0);
    return;
  }
  NdArray order = longs(n), flags = longs(n), ends = longs(n);
  std::int64_t* const in_order = order.address_as<std::int64_t>();
  for_each(device, n, CountUp{in_order});
  visit_numeric(stored(rows.dtype()), "unique", [&]<class T> {
    const T* const x = rows.address_as<T>();
    if (!consecutive) {
      const NdArray keys = longs(n);
      auto* const key = keys.address_as<std::uint64_t>();
      for (std::int64_t column = m - 1; column >= 0; --column) {
        for_each(device, n, ColumnKeys<T>{key, x, in_order, m, column});
        sort_pairs(device, key, in_order, 1, n, {0, 8 * static_cast<int>(sizeof(sort_keys::Key<T>))});
      }
    }
    for_each(device, n, Differs<T>{flags.address_as<std::int64_t>(), x, in_order, m});
  });
  kernels::scan(device, ends, flags, 0, ScanKind::sum, false);
  const auto classes = read_back<std::int64_t>(device, ends.address_as<std::int64_t>() + n - 1);
  first = longs(classes);
  counts = longs(classes);
  const NdArray starts = longs(classes);
  for_each(device, n,
           Assign{inverse.address_as<std::int64_t>(), first.address_as<std::int64_t>(),
                  starts.address_as<std::int64_t>(), ends.address_as<std::int64_t>(),
                  flags.address_as<std::int64_t>(), in_order});
  for_each(device, classes,
           Count{counts.address_as<std::int64_t>(), starts.address_as<std::int64_t>(), classes, n});
}

}  // namespace ebb::cuda
