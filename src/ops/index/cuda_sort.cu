// The device kernels sort, topk, select_element and searchsorted, with the keys of sort_keys.h.
#include <ebb/core/visit.h>

#include "kernel/reduce_plan.h"
#include "ops/index/cuda_select.h"
#include "ops/index/sort_kernels.h"

namespace ebb::cuda {
namespace {

template <class T>
struct MakeItems {
  Items items;
  const T* x;
  Lines lines;
  sort_keys::Key<T> turn;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t line = i / lines.n, place = i - line * lines.n;
    items.put(i, sort_keys::key_of(x[lines.start(line) + place * lines.inner]) ^ turn, place);
  }
};

/// Calls body(items) with the sorted items of x's lines, in scratch memory.
template <class T, class Body>
void with_sorted(const NdArray& x, const Lines& lines, bool descending, const Body& body) {
  with_items<T>(x.device(), lines.count(), lines.n, lines.n, [&](const Items& items) {
    for_each(x.device(), x.numel(),
             MakeItems<T>{items, x.address_as<T>(), lines, sort_keys::key_flip<T>(descending)});
    sort_items<T>(x.device(), items, lines.count());
    body(items);
  });
}

// Finds the most frequent element of each line, and the last index of this element. If several elements are
// equally frequent, it finds the smallest one.
template <class T>
struct SelectMode {
  Items items;
  T* values;
  std::int64_t* indices;
  const T* x;
  Lines lines;
  __device__ void operator()(std::int64_t number) const {
    const T* const line = x + lines.start(number);
    const std::int64_t first = number * lines.n;
    std::int64_t best = 0, length = 0, run = 0;
    for (std::int64_t i = 0; i < lines.n; ++i) {
      const bool nan = element_is_nan(line[items.place(first + i) * lines.inner]);  // a NaN equals no element
      run = i > 0 && !nan && items.key(first + i) == items.key(first + i - 1) ? run + 1 : 1;
      if (run > length) length = run, best = i;
    }
    const std::int64_t place = items.place(first + best);
    values[number] = line[place * lines.inner];
    indices[number] = place;
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
    const auto key = sort_keys::key_of(values[i]);
    std::int64_t low = 0, high = n;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      const auto other = sort_keys::key_of(from[middle]);
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
             WriteItems<T>{items, values.address_as<T>(), indices.address_as<std::int64_t>(),
                           x.address_as<T>(), lines, to});
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
  const Wanted wanted{.k = Lines(values.sizes(), dim).n, .first_k = true};
  if (select_ranks(values, indices, x, dim, wanted, largest)) return;
  visit_numeric(stored(x.dtype()), "topk",
                [&]<class T> { write_first<T>(values, indices, x, dim, largest); });
}

void select_element(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, Selection what,
                    std::int64_t k) {
  if (values.numel() == 0) return;
  if (what != Selection::mode) {
    select_ranks(values, indices, x, dim, {.what = what, .k = k}, false);
    return;
  }
  const Lines lines(x.sizes(), dim);
  visit_numeric(stored(x.dtype()), "mode", [&]<class T> {
    with_sorted<T>(x, lines, false, [&](const Items& items) {
      for_each(x.device(), lines.count(),
               SelectMode<T>{items, values.address_as<T>(), indices.address_as<std::int64_t>(),
                             x.address_as<T>(), lines});
    });
  });
}

void searchsorted(NdArray& out, const NdArray& lines, const NdArray& values, bool right) {
  const std::int64_t n = lines.sizes()[1], m = values.sizes()[1], own = lines.sizes()[0] == 1 ? 0 : n;
  visit_numeric(stored(lines.dtype()), "searchsorted", [&]<class T> {
    for_each(out.device(), values.numel(),
             Search<T>{out.address_as<std::int64_t>(), lines.address_as<T>(), values.address_as<T>(), n, m,
                       own, right});
  });
}

}  // namespace ebb::cuda
