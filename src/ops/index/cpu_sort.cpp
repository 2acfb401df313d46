// The CPU kernels sort, topk, select_element and searchsorted. They compare keys of the elements.
#include <ebb/core/visit.h>

#include "kernel/cpu/lines.h"
#include "kernel/cpu/scratch.h"
#include "kernel/reduce_plan.h"
#include "kernel/reducers.h"
#include "kernel/sort_keys.h"
#include "ops/index/cpu_sort_items.h"
#include "ops/index/sort_kernels.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace ebb::cpu {
namespace {

using reducers::is_nan;

template <class T>
bool element_is_nan(T x) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return is_nan(static_cast<reducers::Accumulator<T>>(x));
}

template <class Item, class T>
void fill_items(Item* items, const T* line, std::int64_t n, std::int64_t stride, bool descending) {
  using K = sort_keys::Key<T>;
  const K turned = descending ? ~K{0} : K{0};
  if (stride == 1)
    for (std::int64_t i = 0; i < n; ++i) items[i] = Item::make(K(sort_keys::key_of(line[i]) ^ turned), i);
  else
    for (std::int64_t i = 0; i < n; ++i)
      items[i] = Item::make(K(sort_keys::key_of(line[i * stride]) ^ turned), i);
}

template <class T>
void write_items(T* values, std::int64_t* indices, const T* line, const auto* items, std::int64_t k,
                 std::int64_t stride) {
  for (std::int64_t i = 0; i < k; ++i) {
    indices[i * stride] = items[i].index();
    values[i * stride] = line[items[i].index() * stride];
  }
}

// Returns the index of the element that `what` and k select from one line. `items` is scratch memory for the
// keys and indices of the line's elements.
template <class Item, class T>
std::int64_t select_one(Item* items, const T* line, std::int64_t n, std::int64_t stride, Selection what,
                        std::int64_t k) {
  if (what == Selection::median || what == Selection::nanmedian) {
    std::int64_t numbers = 0, first_nan = -1;
    for (std::int64_t i = n - 1; i >= 0; --i)
      if (element_is_nan(line[i * stride]))
        first_nan = i;
      else
        ++numbers;
    if (first_nan >= 0 && (what == Selection::median || numbers == 0)) return first_nan;
    k = (numbers - 1) / 2;
  }
  fill_items(items, line, n, stride, false);
  if (what != Selection::mode) {
    std::nth_element(items, items + k, items + n);
    return items[k].index();
  }
  sort_items(items, n);
  std::int64_t best = 0, length = 0, run = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool nan = element_is_nan(line[items[i].index() * stride]);  // a NaN equals no element
    run = i > 0 && !nan && items[i].same_key(items[i - 1]) ? run + 1 : 1;
    if (run > length) length = run, best = i;
  }
  return items[best].index();
}

}  // namespace

void sort(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool descending) {
  const Lines lines(x.sizes(), dim);
  const std::int64_t n = lines.n;
  if (x.numel() == 0) return;
  visit_numeric(stored(x.dtype()), "sort", [&]<class T> {
    with_items<T>(n, [&]<class Item> {
      for_each_line(lines, 16, [&](std::int64_t i) {
        const Scratch<Item> items(n);
        const std::int64_t at = lines.start(i);
        const T* line = x.address_as<T>() + at;
        fill_items(items.get(), line, n, lines.inner, descending);
        sort_items(items.get(), n);
        write_items(values.address_as<T>() + at, indices.address_as<std::int64_t>() + at, line, items.get(),
                    n, lines.inner);
      });
    });
  });
}

void topk(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest) {
  const Lines lines(x.sizes(), dim), to(values.sizes(), dim);
  const std::int64_t n = lines.n, k = to.n;
  if (values.numel() == 0) return;
  visit_numeric(stored(x.dtype()), "topk", [&]<class T> {
    with_items<T>(n, [&]<class Item> {
      for_each_line(lines, 8, [&](std::int64_t i) {
        const Scratch<Item> items(n);
        const T* line = x.address_as<T>() + lines.start(i);
        fill_items(items.get(), line, n, lines.inner, largest);
        sort_first(items.get(), n, k);
        write_items(values.address_as<T>() + to.start(i), indices.address_as<std::int64_t>() + to.start(i),
                    line, items.get(), k, lines.inner);
      });
    });
  });
}

void select_element(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, Selection what,
                    std::int64_t k) {
  const Lines lines(x.sizes(), dim);
  const std::int64_t n = lines.n;
  if (values.numel() == 0) return;
  visit_numeric(stored(x.dtype()), "select_element", [&]<class T> {
    with_items<T>(n, [&]<class Item> {
      for_each_line(lines, 8, [&](std::int64_t i) {
        const Scratch<Item> items(n);
        const T* line = x.address_as<T>() + lines.start(i);
        const std::int64_t at = select_one(items.get(), line, n, lines.inner, what, k);
        values.address_as<T>()[i] = line[at * lines.inner];
        indices.address_as<std::int64_t>()[i] = at;
      });
    });
  });
}

void searchsorted(NdArray& out, const NdArray& lines, const NdArray& values, bool right) {
  const std::int64_t n = lines.sizes()[1], m = values.sizes()[1], own = lines.sizes()[0] == 1 ? 0 : n;
  visit_numeric(stored(lines.dtype()), "searchsorted", [&]<class T> {
    using K = sort_keys::Key<T>;
    const T *sequence = lines.address_as<T>(), *value = values.address_as<T>();
    std::int64_t* place = out.address_as<std::int64_t>();
    // `all` contains the elements, whose keys are then computed in each comparison, or the keys.
    const auto search = [&](const auto* all) {
      const auto key = [](auto element) {
        if constexpr (std::is_same_v<decltype(element), T>)
          return sort_keys::key_of(element);
        else
          return element;
      };
      parallel_for(0, values.numel(), 2048, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const auto* const from = all + i / m * own;
          const K wanted = sort_keys::key_of(value[i]);
          const auto* const at =
              right ? std::partition_point(from, from + n, [&](auto e) { return key(e) <= wanted; })
                    : std::partition_point(from, from + n, [&](auto e) { return key(e) < wanted; });
          place[i] = at - from;
        }
      });
    };
    if (std::is_same_v<T, K> || values.numel() < lines.numel()) return search(sequence);
    const Scratch<K> keys(lines.numel());
    std::transform(sequence, sequence + lines.numel(), keys.get(), [](T e) { return sort_keys::key_of(e); });
    search(static_cast<const K*>(keys.get()));
  });
}

}  // namespace ebb::cpu
