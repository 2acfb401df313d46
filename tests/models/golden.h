// Files of numbers that PyTorch's models gave.
#pragma once

#include <ebb/ebb.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace golden {

/// The norm of a tensor and four of its entries.
using Ends = std::vector<double>;
Ends ends(const ebb::Tensor& tensor);

/// Whether both agree to a part of the norm.
bool close(const Ends& got, const Ends& wanted, double tolerance);

/// What a model gives.
struct Case {
  Ends eval, train;
  std::vector<std::pair<std::string, Ends>> grads, buffers;
};
Case read_case(const std::string& name);

/// What follows "KIND NAME" on its line.
std::istringstream read_line(const std::string& kind, const std::string& name);

}  // namespace golden
