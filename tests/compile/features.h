// A table of compiled functions: each row is a function, the tensors that it captures, and the acts of its
// caller between calls. One harness runs rows, and pairs of rows, eagerly and compiled.
#pragma once

#include "twins.h"

namespace twins {

/// A function with its captured tensors, which run() may write to. Two instances of a row never share memory.
struct Instance {
  /// The first result has the shape of x. No result is part of a graph.
  std::function<std::vector<Tensor>(const Tensor& x)> run;
  /// Does the caller's part before the call with this number; empty: nothing.
  std::function<void(int call)> between;
  /// Tensors whose elements and versions must be equal after each call.
  std::vector<Tensor> kept;
  /// More tensors, such as gradients, whose elements must be equal.
  std::function<std::vector<Tensor>()> more;
};

/// The call before which rows that replace a tensor, a mode or an option do so: the function is recorded
/// anew.
constexpr int kChange = 5;
constexpr int kCalls = 10;

struct Feature {
  const char* name;
  std::function<Instance()> make;
  bool changes = false;  ///< whether it does something at kChange
  bool draws = false;    ///< whether it draws from the default generator
};

// Tables by subject.
std::vector<Feature> draw_features();
std::vector<Feature> memory_features();
std::vector<Feature> change_features();
std::vector<Feature> chain_features();
std::vector<Feature> product_features();
std::vector<Feature> gradient_features();
std::vector<Feature> training_features();
const std::vector<Feature>& features();

constexpr std::int64_t kColumns = 8;

/// Numbers that depend on nothing but the sizes.
inline Tensor numbers(IntArrayRef sizes, double scale = 1) {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes) n *= size;
  return ((arange(n, kDouble) * 0.7123 + 0.1).sin() * scale).to(kFloat).view(sizes);
}

}  // namespace twins
