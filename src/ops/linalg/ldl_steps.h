// The Bunch-Kaufman factorisation of symmetric indefinite matrices. Its steps run on one thread or on all
// threads of a block (Bunch and Kaufman 1977; pivots and interchanges as in LAPACK's sytf2 and sytrs, lower
// triangle).
#pragma once

#include "kernel/carrier.h"

#include <cmath>
#include <cstdint>

namespace ebb::decomposition {

/// The next block of D, which begins at row k. `row` is the row that must be swapped to the block's last row,
/// and `size` is 1 or 2.
struct LdlPivot {
  std::int64_t row;
  int size;
};

/// Returns the pivot at row k. All threads compute the same pivot. Sets `zero` if the block cannot be a
/// divisor, because column k is zero.
template <class T>
EBB_HD LdlPivot ldl_pivot(const T* a, std::int64_t n, std::int64_t k, bool& zero) {
  const T alpha = static_cast<T>(0.64038820320220757);  // (1 + sqrt(17)) / 8
  const T here = std::fabs(a[k * n + k]);
  T column = 0;
  std::int64_t at = k;
  for (std::int64_t i = k + 1; i < n; ++i)
    if (std::fabs(a[i * n + k]) > column) {
      column = std::fabs(a[i * n + k]);
      at = i;
    }
  zero = here == T(0) && column == T(0);
  if (at == k || here >= alpha * column) return {k, 1};
  T row = 0;
  for (std::int64_t j = k; j < at; ++j) row = std::fmax(row, std::fabs(a[at * n + j]));
  for (std::int64_t i = at + 1; i < n; ++i) row = std::fmax(row, std::fabs(a[i * n + at]));
  if (here >= alpha * column * (column / row)) return {k, 1};
  return {at, std::fabs(a[at * n + at]) >= alpha * row ? 1 : 2};
}

template <class T>
EBB_HD void exchange(T& x, T& y) {
  const T kept = x;
  x = y;
  y = kept;
}

/// Swaps rows and columns `from` and `to` of the lower triangle that begins at (k, k). `to` is larger than
/// `from`.
template <class T, class Team>
EBB_HD void ldl_interchange(T* a, std::int64_t n, std::int64_t k, std::int64_t from, std::int64_t to,
                            const Team& team) {
  for (std::int64_t i = from + 1 + team.rank(); i < n; i += team.size()) {
    if (i > to) exchange(a[i * n + from], a[i * n + to]);
    if (i < to) exchange(a[i * n + from], a[to * n + i]);
    if (i == to) exchange(a[from * n + from], a[to * n + to]);
  }
  if (team.rank() == 0 && from > k) exchange(a[from * n + k], a[to * n + k]);
}

/// Subtracts the contribution of a block of D from the remaining matrix, row by row. Then overwrites the
/// columns below the block with the columns of L.
template <class T, class Team>
EBB_HD void ldl_eliminate(T* a, std::int64_t n, std::int64_t k, int size, const Team& team) {
  const std::int64_t start = k + size;
  const T d11 = a[k * n + k], d21 = size == 2 ? a[(k + 1) * n + k] : T(0),
          d22 = size == 2 ? a[(k + 1) * n + k + 1] : T(0);
  // The inverse of the block, scaled by d21 to prevent overflow.
  const T p = size == 2 ? d22 / d21 : T(0), q = size == 2 ? d11 / d21 : T(0);
  const T t = size == 2 ? 1 / (p * q - 1) / d21 : 1 / d11;
  const auto first = [&](std::int64_t j) {
    return size == 2 ? t * (p * a[j * n + k] - a[j * n + k + 1]) : a[j * n + k] * t;
  };
  const auto second = [&](std::int64_t j) { return t * (q * a[j * n + k + 1] - a[j * n + k]); };
  for (std::int64_t i = start + team.rank(); i < n; i += team.size())
    for (std::int64_t j = start; j <= i; ++j) {
      a[i * n + j] -= a[i * n + k] * first(j);
      if (size == 2) a[i * n + j] -= a[i * n + k + 1] * second(j);
    }
  team.sync();
  for (std::int64_t i = start + team.rank(); i < n; i += team.size()) {
    const T one = first(i), two = size == 2 ? second(i) : T(0);
    a[i * n + k] = one;
    if (size == 2) a[i * n + k + 1] = two;
  }
}

/// Factors the matrix. Returns k + 1 if the first zero block of D is at row k, or 0 if there is none.
template <class T, class Team>
EBB_HD std::int32_t ldl_factor(T* a, std::int32_t* pivots, std::int64_t n, const Team& team) {
  std::int32_t info = 0;
  for (std::int64_t k = 0; k < n;) {
    bool zero = false;
    const LdlPivot pivot = ldl_pivot(a, n, k, zero);
    const std::int64_t last = k + pivot.size - 1;
    team.sync();
    if (pivot.row != last) ldl_interchange(a, n, k, last, pivot.row, team);
    team.sync();
    if (zero && info == 0) info = static_cast<std::int32_t>(k + 1);
    if (!zero) ldl_eliminate(a, n, k, pivot.size, team);
    team.sync();
    if (team.rank() == 0) {
      const auto row = static_cast<std::int32_t>(pivot.row + 1);
      for (std::int64_t i = k; i <= last; ++i) pivots[i] = pivot.size == 1 ? row : -row;
    }
    k = last + 1;
  }
  return info;
}

/// Solves for one right side, whose elements are `step` apart.
template <class T>
EBB_HD void ldl_solve_column(const T* a, const std::int32_t* pivots, std::int64_t n, T* x,
                             std::int64_t step) {
  const auto other = [&](std::int64_t k) {
    const std::int64_t row = (pivots[k] > 0 ? pivots[k] : -std::int64_t{pivots[k]}) - 1;
    return row >= 0 && row < n ? row : k;
  };
  for (std::int64_t k = 0; k < n;) {
    const int size = pivots[k] > 0 || k + 1 == n ? 1 : 2;
    const std::int64_t last = k + size - 1;
    exchange(x[last * step], x[other(k) * step]);
    for (std::int64_t i = last + 1; i < n; ++i) {
      x[i * step] -= a[i * n + k] * x[k * step];
      if (size == 2) x[i * step] -= a[i * n + last] * x[last * step];
    }
    if (size == 1) {
      x[k * step] /= a[k * n + k];
    } else {
      const T d21 = a[last * n + k], p = a[k * n + k] / d21, q = a[last * n + last] / d21, t = p * q - 1;
      const T one = x[k * step] / d21, two = x[last * step] / d21;
      x[k * step] = (q * one - two) / t;
      x[last * step] = (p * two - one) / t;
    }
    k = last + 1;
  }
  for (std::int64_t k = n - 1; k >= 0;) {
    const int size = pivots[k] > 0 || k == 0 ? 1 : 2;
    for (int c = 0; c < size; ++c)
      for (std::int64_t i = k + 1; i < n; ++i) x[(k - c) * step] -= a[i * n + k - c] * x[i * step];
    exchange(x[k * step], x[other(k) * step]);
    k -= size;
  }
}

}  // namespace ebb::decomposition
