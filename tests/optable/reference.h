// Building blocks of references: loops over positions, columns and windows.
#pragma once

#include "optable/table.h"

namespace optable {

using Column = std::vector<double>;

/// Returns an array of these sizes with f at every position, in row-major order.
Array build(Sizes sizes, const std::function<double(const Index&)>& f);
/// Returns a reference with one output: f(inputs, position).
Row::Reference built(Sizes sizes, std::function<double(const Arrays&, const Index&)> f);
/// Returns such a reference with the shape of the first input.
Row::Reference built_like(std::function<double(const Arrays&, const Index&)> f);
/// Returns a reference whose elements are elements of the first input, or `otherwise` if the position is
/// empty.
Row::Reference picked(Sizes sizes, std::function<Index(const Index&)> place, double otherwise = 0);
/// Returns a reference with the same elements in the same order and other sizes.
Row::Reference resized(Sizes sizes);

/// Applies f to all elements.
Row::Reference whole(double (*f)(const Column&));
/// Applies f to every column along `dim`, which is removed.
Row::Reference over(std::size_t dim, double (*f)(const Column&));
/// Applies f to every column along `dim` in place; f may change its length.
Row::Reference along(std::size_t dim, void (*f)(Column&));
/// Returns the mean of f(a, b) over all elements.
Row::Reference mean_of(double (*f)(double, double));

// Functions of columns.
double total(const Column& x);
double average(const Column& x);
double product_of(const Column& x);
double spread(const Column& x);  // the unbiased variance
double deviation(const Column& x);
double length(const Column& x);
double largest(const Column& x);
double smallest(const Column& x);
/// Returns the lower median.
double middle_of(const Column& x);

/// Returns 1 or -1, as labels of losses.
inline double sign_of(double x) { return x < 0 ? -1 : 1; }

}  // namespace optable
