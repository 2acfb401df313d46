// Rows as Eigen arrays. 16-bit rows are converted to float.
#pragma once

#include <ebb/core/ndarray.h>

#include "core/parallel_for.h"
#include "kernel/cpu/convert_contiguous.h"
#include "kernel/cpu/parts.h"

#include <Eigen/Core>

#include <algorithm>
#include <vector>

namespace ebb::cpu {

template <class T>
using Compute = std::conditional_t<is_half_v<T>, float, T>;
template <class C>
using ConstRow = Eigen::Map<const Eigen::Array<C, Eigen::Dynamic, 1>>;
template <class C>
using MutableRow = Eigen::Map<Eigen::Array<C, Eigen::Dynamic, 1>>;

/// Returns n values to read. Converts 16-bit values into `scratch`.
template <class T>
ConstRow<Compute<T>> read_row(const T* data, std::int64_t n, std::vector<Compute<T>>& scratch) {
  if constexpr (is_half_v<T>) {
    scratch.resize(static_cast<std::size_t>(n));
    convert_contiguous(scratch.data(), data, n);
    return {scratch.data(), n};
  } else {
    return {data, n};
  }
}

/// Writes an expression to n elements.
template <class T, class Expression>
void write_row(T* data, std::int64_t n, const Expression& values, std::vector<Compute<T>>& scratch) {
  if constexpr (is_half_v<T>) {
    scratch.resize(static_cast<std::size_t>(n));
    MutableRow<float>(scratch.data(), n) = values;
    convert_contiguous(data, scratch.data(), n);
  } else {
    MutableRow<T>(data, n) = values;
  }
}

/// Returns all elements of the array, or `n` copies of `missing` if it is undefined.
template <class T>
std::vector<Compute<T>> read_all(const NdArray& x, std::int64_t n, Compute<T> missing) {
  if (!x.defined()) return std::vector<Compute<T>>(static_cast<std::size_t>(n), missing);
  return std::vector<Compute<T>>(x.address_as<T>(), x.address_as<T>() + n);
}

/// Returns the sum of a row. Long rows of floats are summed in runs, and the sums of the runs are added in
/// double.
template <class Row>
double sum_of(const Row& row) {
  const bool whole = sizeof(typename Row::Scalar) == sizeof(double) || row.size() <= kVectorRun;
  const std::int64_t run = whole ? row.size() : kVectorRun;
  double sum = 0;
  for (std::int64_t i = 0; i < row.size(); i += run)
    sum += row.segment(i, std::min(run, row.size() - i)).sum();
  return sum;
}

/// Returns whether a float variance may be wrong because squares overflow or underflow. Underflow has no
/// effect if eps is much larger.
template <class C>
bool is_out_of_range(double variance, double eps) {
  constexpr double kLeast = 1e-30;
  return sizeof(C) < sizeof(double) && !(variance - variance == 0 && variance + eps > kLeast);
}

/// Returns the smallest number of rows that justifies another thread.
inline std::int64_t row_grain(std::int64_t row) { return 1 + kGrain / (2 * (row + 1)); }

}  // namespace ebb::cpu
