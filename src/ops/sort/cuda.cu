// Sorting and selecting on the device, by the keys of keys.h. A 32-bit key shares a word with its place;
// wider ones carry the place beside them.
#include "ops/sort/cuda.h"

#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cuda/sort.h"
#include "kernel/cuda/walk.h"
#include "kernel/lines.h"
#include "kernel/reduce_plan.h"
#include "kernel/sort_keys.h"

namespace ebb::cuda {
namespace {

template <class T>
__device__ bool element_is_nan(T x) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return static_cast<Compute<T>>(x) != static_cast<Compute<T>>(x);
}

// Items of all lines, sorted line by line.
struct Items {
  std::uint64_t* keys;
  std::int64_t* places;  // null when packed into the keys
  std::int64_t n;
  __device__ std::int64_t place(std::int64_t i) const {
    return places ? places[i] : static_cast<std::int64_t>(keys[i] & 0xffffffffu);
  }
  __device__ std::uint64_t key(std::int64_t i) const { return places ? keys[i] : keys[i] >> 32; }
};

template <class T>
struct MakeItems {
  Items items;
  const T* x;
  Lines lines;
  bool descending;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t line = i / lines.n, place = i - line * lines.n;
    sorting::Key<T> key = sorting::key_of(x[lines.start(line) + place * lines.inner]);
    if (descending) key = static_cast<sorting::Key<T>>(~key);
    if (items.places) {
      items.keys[i] = key;
      items.places[i] = place;
    } else {
      items.keys[i] = sorting::Packed::make(key, place).bits;
    }
  }
};

/// The bits of a packed key and place that tell elements of T apart; equal ones stand in order already. The
/// keys of 16-bit floats are those of the floats they widen to, whose last bits are all alike.
template <class T>
constexpr KeyBits packed_bits() {
  if (std::is_same_v<T, bool> || std::is_same_v<T, std::uint8_t>) return {32, 40};
  if (std::is_same_v<T, BFloat16>) return {48, 64};
  if (std::is_same_v<T, Half>) return {45, 64};
  return {32, 64};
}

/// Calls body(items) with the items of x's lines, sorted, in scratch memory.
template <class T, class Body>
void with_sorted(const NdArray& x, const Lines& lines, bool descending, const Body& body) {
  const Device device = x.device();
  const std::int64_t count = x.numel();
  const bool packed = sizeof(sorting::Key<T>) == 4 && lines.n <= std::int64_t{UINT32_MAX};
  const NdArray scratch = NdArray::empty({packed ? 1 : 2, count}, kLong, device);
  const Items items{scratch.data_as<std::uint64_t>(),
                    packed ? nullptr : scratch.data_as<std::int64_t>() + count, lines.n};
  for_each(device, count, MakeItems<T>{items, x.data_as<T>(), lines, descending});
  if (packed)
    sort_keys(device, items.keys, lines.count(), lines.n, packed_bits<T>());
  else
    sort_pairs(device, items.keys, items.places, lines.count(), lines.n);
  body(items);
}

// The first `to.n` items of every line.
template <class T>
struct WriteItems {
  Items items;
  T* values;
  std::int64_t* indices;
  const T* x;
  Lines from, to;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t line = i / to.n, rank = i - line * to.n;
    const std::int64_t place = items.place(line * from.n + rank), at = to.start(line) + rank * to.inner;
    values[at] = x[from.start(line) + place * from.inner];
    indices[at] = place;
  }
};

template <class T>
struct SelectOne {
  Items items;
  T* values;
  std::int64_t* indices;
  const T* x;
  Lines lines;
  Selection what;
  std::int64_t k;

  __device__ std::int64_t rank_of(std::int64_t first, const T* line) const {
    const auto nan_at = [&](std::int64_t i) {
      return element_is_nan(line[items.place(first + i) * lines.inner]);
    };
    if (what == Selection::kth) return k;
    if (what != Selection::mode) {
      // NaNs stand last, in the order of their places.
      std::int64_t low = 0, high = lines.n;
      while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (nan_at(middle))
          high = middle;
        else
          low = middle + 1;
      }
      if (low < lines.n && (what == Selection::median || low == 0)) return low;
      return (low - 1) / 2;
    }
    std::int64_t best = 0, length = 0, run = 0;
    for (std::int64_t i = 0; i < lines.n; ++i) {
      run = i > 0 && !nan_at(i) && items.key(first + i) == items.key(first + i - 1) ? run + 1 : 1;
      if (run > length) length = run, best = i;
    }
    return best;
  }
  __device__ void operator()(std::int64_t i) const {
    const T* const line = x + lines.start(i);
    const std::int64_t first = i * lines.n, place = items.place(first + rank_of(first, line));
    values[i] = line[place * lines.inner];
    indices[i] = place;
  }
};

template <class T>
struct Search {
  std::int64_t* out;
  const T *lines, *values;
  std::int64_t n, m, own;
  bool right;
  __device__ void operator()(std::int64_t i) const {
    const T* const from = lines + i / m * own;
    const auto key = sorting::key_of(values[i]);
    std::int64_t low = 0, high = n;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      const auto other = sorting::key_of(from[middle]);
      if (right ? !(key < other) : other < key)
        low = middle + 1;
      else
        high = middle;
    }
    out[i] = low;
  }
};

template <class T>
void write_first(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool descending) {
  const Lines lines(x.sizes(), dim), to(values.sizes(), dim);
  with_sorted<T>(x, lines, descending, [&](const Items& items) {
    for_each(x.device(), values.numel(),
             WriteItems<T>{items, values.data_as<T>(), indices.data_as<std::int64_t>(), x.data_as<T>(), lines,
                           to});
  });
}

}  // namespace

void sort(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool descending) {
  if (x.numel() == 0) return;
  visit_numeric(stored(x.dtype()), "sort",
                [&]<class T> { write_first<T>(values, indices, x, dim, descending); });
}

void topk(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest) {
  if (values.numel() == 0) return;
  visit_numeric(stored(x.dtype()), "topk",
                [&]<class T> { write_first<T>(values, indices, x, dim, largest); });
}

void select_element(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, Selection what,
                    std::int64_t k) {
  if (values.numel() == 0) return;
  const Lines lines(x.sizes(), dim);
  visit_numeric(stored(x.dtype()), "select_element", [&]<class T> {
    with_sorted<T>(x, lines, false, [&](const Items& items) {
      for_each(x.device(), lines.count(),
               SelectOne<T>{items, values.data_as<T>(), indices.data_as<std::int64_t>(), x.data_as<T>(),
                            lines, what, k});
    });
  });
}

void searchsorted(NdArray& out, const NdArray& lines, const NdArray& values, bool right) {
  const std::int64_t n = lines.sizes()[1], m = values.sizes()[1], own = lines.sizes()[0] == 1 ? 0 : n;
  visit_numeric(stored(lines.dtype()), "searchsorted", [&]<class T> {
    for_each(
        out.device(), values.numel(),
        Search<T>{out.data_as<std::int64_t>(), lines.data_as<T>(), values.data_as<T>(), n, m, own, right});
  });
}

void register_sort() {
  kernels::sort.set_cuda(&sort);
  kernels::topk.set_cuda(&topk);
  kernels::select_element.set_cuda(&select_element);
  kernels::unique.set_cuda(&unique);
  kernels::searchsorted.set_cuda(&searchsorted);
}

}  // namespace ebb::cuda
