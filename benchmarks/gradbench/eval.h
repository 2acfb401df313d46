// What an eval of GradBench is to the program that answers its messages: functions by their names.
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

/// A function with its input read: `compute` is what is timed, `output` makes the answer of its results.
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

/// Numbers, or rows of them, as a tensor of doubles of the same shape.
Tensor read(const Json& numbers);
/// The same as an input that gradients are asked for.
Tensor read_input(const Json& numbers);

/// A tensor of any shape as a number, or as lists of lists of them.
Json write(const Tensor& x);
/// The only result, so written.
Json write_first(const Tensors& results);
/// All results in one list, each in its order in memory.
Json write_joined(const Tensors& results);

/// The call of a function without gradients: what `value` returns.
Call primal(std::function<Tensor()> value);
/// The gradients of the scalar that `value` returns, by those inputs.
Call gradient(std::function<Tensor()> value, Tensors inputs,
              std::function<Json(const Tensors&)> output = write_joined);

}  // namespace gradbench
