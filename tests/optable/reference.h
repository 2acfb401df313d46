// What references are made of: loops over places, columns and windows.
#pragma once

#include "optable/table.h"

namespace optable {

using Column = std::vector<double>;

/// f at every place of an array of these sizes, in row-major order.
Array build(Sizes sizes, const std::function<double(const Index&)>& f);
/// As a reference of one output: f(inputs, place).
Row::Reference built(Sizes sizes, std::function<double(const Arrays&, const Index&)> f);
/// The same in the shape of the first input.
Row::Reference built_like(std::function<double(const Arrays&, const Index&)> f);
/// Every element is one of the first input's, or `otherwise` where the place is empty.
Row::Reference picked(Sizes sizes, std::function<Index(const Index&)> place, double otherwise = 0);
/// Same elements in the same order.
Row::Reference resized(Sizes sizes);

/// f of all elements.
Row::Reference whole(double (*f)(const Column&));
/// f of every column along `dim`, which disappears.
Row::Reference over(std::size_t dim, double (*f)(const Column&));
/// f of every column along `dim`, in place; f may change its length.
Row::Reference along(std::size_t dim, void (*f)(Column&));
/// The mean over all elements of f(a, b).
Row::Reference mean_of(double (*f)(double, double));

// Of columns.
double total(const Column& x);
double average(const Column& x);
double product_of(const Column& x);
double spread(const Column& x);  // the unbiased variance
double deviation(const Column& x);
double length(const Column& x);
double largest(const Column& x);
double smallest(const Column& x);
/// The lower median.
double middle_of(const Column& x);

/// 1 or -1, as losses take for labels.
inline double sign_of(double x) { return x < 0 ? -1 : 1; }

}  // namespace optable
