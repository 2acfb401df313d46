// A table of compiled functions. Each row has a function, its captured tensors, and actions of the caller
// between calls. features_test.cpp runs rows, and pairs of rows, eagerly and compiled.
#pragma once

#include "twins.h"

namespace twins {

/// A function and its captured tensors, which run() may write to. Two instances of a row never share memory.
struct Instance {
  /// Runs the function. The first result has the shape of x. No result is part of a graph.
  std::function<std::vector<Tensor>(const Tensor& x)> run;
  /// The actions of the caller before the call with this number. It may be empty.
  std::function<void(int call)> between;
  /// Tensors whose elements and versions must be equal after each call.
  std::vector<Tensor> kept;
  /// More tensors, such as gradients, whose elements must be equal.
  std::function<std::vector<Tensor>()> more;
};

/// The number of the call before which some rows replace a tensor, a mode or an option, so that the function
/// is recorded again.
constexpr int kChange = 5;
constexpr int kCalls = 10;

/// A row of the table.
struct Feature {
  const char* name;
  std::function<Instance()> make;
  bool changes = false;  ///< whether the row replaces something at kChange
  bool draws = false;    ///< whether the function draws from the default generator
};

// The rows of each subject, and the rows of all subjects.
std::vector<Feature> draw_features();
std::vector<Feature> memory_features();
std::vector<Feature> change_features();
std::vector<Feature> chain_features();
std::vector<Feature> product_features();
std::vector<Feature> gradient_features();
std::vector<Feature> training_features();
const std::vector<Feature>& features();

constexpr std::int64_t kColumns = 8;

/// A tensor whose elements depend only on its sizes.
inline Tensor numbers(IntArrayRef sizes, double scale = 1) {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes) n *= size;
  return ((arange(n, kDouble) * 0.7123 + 0.1).sin() * scale).to(kFloat).view(sizes);
}

}  // namespace twins
