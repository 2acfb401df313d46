// An eval of GradBench: a map from names to functions, which the program calls to answer messages.
#pragma once

#include "../seam.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gradbench {

using Json = nlohmann::json;
using Tensor = torch::Tensor;
using Tensors = std::vector<Tensor>;

/// A function with its parsed input. `compute` is timed, and `output` converts the results of `compute` to
/// the answer.
struct Call {
  std::function<Tensors()> compute;
  std::function<Json(const Tensors&)> output;
};

using Eval = std::map<std::string, std::function<Call(const Json& input)>>;

Eval ba();
Eval det();
Eval gmm();
Eval hello();
Eval kmeans();
Eval llsq();
Eval lse();
Eval lstm();
Eval ode();

/// Converts a number or nested lists to a tensor of doubles of the same shape.
Tensor read(const Json& numbers);
/// Converts numbers to a tensor that requires a gradient.
Tensor read_input(const Json& numbers);

/// Converts a tensor of any shape to a number or nested lists.
Json write(const Tensor& x);
/// Converts the single tensor in `results` to JSON.
Json write_first(const Tensors& results);
/// Writes the elements of all results to one list, in the order of memory.
Json write_joined(const Tensors& results);

/// Returns a call whose result is value(), computed without a graph.
Call primal(std::function<Tensor()> value);
/// Returns the call that computes the gradients of the scalar value() with respect to `inputs`.
Call gradient(std::function<Tensor()> value, Tensors inputs,
              std::function<Json(const Tensors&)> output = write_joined);

}  // namespace gradbench
