// print_curve, print_confusion and numbers: results as text, and tensors as numbers.
#pragma once

#include <ebb/watch.h>

#include <string>
#include <vector>

namespace example {

/// Prints a curve of values over their steps, in at most 60 columns of ASCII characters. Each column shows
/// the mean of its steps, or nothing if it is not finite.
void print_curve(const std::string& title, const std::vector<double>& values);

/// Prints the confusion matrix of a Classification, and the recall of each class. `names` has the class
/// names.
void print_confusion(const ebb::watch::Classification& result, const std::vector<std::string>& names);

/// Returns the elements of a tensor of any device.
std::vector<double> numbers(const ebb::Tensor& x);

}  // namespace example
