// The CPU kernel unique: finds the distinct rows of a matrix.
#include <ebb/core/visit.h>

#include "kernel/cpu/scratch.h"
#include "kernel/reduce_plan.h"
#include "kernel/reducers.h"
#include "kernel/sort_keys.h"
#include "ops/index/cpu_sort_items.h"
#include "ops/index/sort_kernels.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace ebb::cpu {
namespace {

template <class T>
int compare(const T* a, const T* b, std::int64_t m) {
  for (std::int64_t i = 0; i < m; ++i) {
    const auto ka = sort_keys::key_of(a[i]), kb = sort_keys::key_of(b[i]);
    if (ka != kb) return ka < kb ? -1 : 1;
  }
  return 0;
}

// Compares values, so NaN differs from NaN.
template <class T>
bool equal(const T* a, const T* b, std::int64_t m) {
  using A = reducers::Accumulator<T>;
  for (std::int64_t i = 0; i < m; ++i)
    if (!(static_cast<A>(a[i]) == static_cast<A>(b[i]))) return false;
  return true;
}

template <class T>
std::vector<std::int64_t> order_of(const T* rows, std::int64_t n, std::int64_t m) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const int c = compare(rows + a * m, rows + b * m, m);
    return c != 0 ? c < 0 : a < b;
  });
  return order;
}

// Classes of equal rows: the first row and the size of each class (`first`, `sizes`), and the class of each
// row (`of_row`).
struct RowClasses {
  std::vector<std::int64_t> first, sizes;
  std::int64_t* of_row;
  void add(std::int64_t row, bool is_new) {
    if (is_new) {
      first.push_back(row);
      sizes.push_back(0);
    }
    ++sizes.back();
    of_row[row] = static_cast<std::int64_t>(first.size()) - 1;
  }
};

// Finds the classes of integers with a table of counts. Returns false and does nothing if their range is not
// smaller than n, the number of elements.
template <class T>
bool count_classes(RowClasses& classes, const T* x, std::int64_t n) {
  if (n == 0) return false;
  T low = x[0], high = x[0];  // without the branches of std::minmax_element
  for (std::int64_t i = 0; i < n; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
  const auto above_low = [low = static_cast<std::uint64_t>(low)](T value) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(value) - low);
  };
  if (above_low(high) >= static_cast<std::size_t>(n)) return false;
  struct Entry {
    std::int64_t first, size;  // `first` is replaced by the number of the class later
  };
  std::vector<Entry> table(above_low(high) + 1, Entry{0, 0});
  for (std::int64_t i = 0; i < n; ++i) {
    Entry& entry = table[above_low(x[i])];
    if (entry.size++ == 0) entry.first = i;
  }
  for (Entry& entry : table) {
    if (entry.size == 0) continue;
    classes.first.push_back(std::exchange(entry.first, static_cast<std::int64_t>(classes.first.size())));
    classes.sizes.push_back(entry.size);
  }
  for (std::int64_t i = 0; i < n; ++i) classes.of_row[i] = table[above_low(x[i])].first;
  return true;
}

// Finds the classes of equal elements if each row is a single element. Integers in a small range are counted;
// other elements are sorted by their keys.
template <class T>
void find_classes(RowClasses& classes, const T* x, std::int64_t n) {
  if constexpr (std::is_integral_v<T>)
    if (count_classes(classes, x, n)) return;
  with_items<T>(n, [&]<class Item> {
    const Scratch<Item> items(n);
    for (std::int64_t i = 0; i < n; ++i) items[i] = Item::make(sort_keys::key_of(x[i]), i);
    sort_items(items.get(), n);
    for (std::int64_t i = 0; i < n; ++i) {
      const bool follows = i > 0 && items[i].same_key(items[i - 1]);
      const std::int64_t at = items[i].index();
      classes.add(at, !follows || !equal(x + at, x + at, 1));
    }
  });
}

NdArray long_array(const std::vector<std::int64_t>& values) {
  NdArray out = NdArray::empty({static_cast<std::int64_t>(values.size())}, kLong);
  std::copy(values.begin(), values.end(), out.address_as<std::int64_t>());
  return out;
}

}  // namespace

void unique(NdArray& first, NdArray& inverse, NdArray& counts, const NdArray& rows, bool consecutive) {
  const std::int64_t n = rows.sizes()[0], m = rows.sizes()[1];
  inverse = NdArray::empty({n}, kLong);
  RowClasses classes{{}, {}, inverse.address_as<std::int64_t>()};
  visit_numeric(stored(rows.dtype()), "unique", [&]<class T> {
    const T* x = rows.address_as<T>();
    if (m == 1 && !consecutive) return find_classes(classes, x, n);
    std::vector<std::int64_t> order;
    if (!consecutive) order = order_of(x, n, m);
    for (std::int64_t i = 0, last = 0; i < n; ++i) {
      const std::int64_t at = consecutive ? i : order[static_cast<std::size_t>(i)];
      classes.add(at, i == 0 || !equal(x + at * m, x + last * m, m));
      last = at;
    }
  });
  first = long_array(classes.first);
  counts = long_array(classes.sizes);
}

}  // namespace ebb::cpu
