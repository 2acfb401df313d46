// The table of ops: a row says what an op is, the harness proves it.
#pragma once

#include <ebb/autograd/backward.h>
#include <ebb/autograd/gradcheck.h>
#include <ebb/autograd/graph.h>
#include <ebb/core/allocator.h>
#include <ebb/core/parallel.h>
#include <ebb/ops/conv.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/loss.h>
#include <ebb/ops/norm.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/scan.h>
#include <ebb/ops/shape.h>
#include <ebb/ops/softmax.h>
#include <ebb/ops/sort.h>
#include <ebb/ops/tensor_data.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace optable {

using ebb::Variable;
using ebb::variable_list;
using Sizes = std::vector<std::int64_t>;

/// What references compute with: a shape and doubles, row-major. No library under them but loops.
struct Array {
  Sizes sizes;
  std::vector<double> values;
  double operator[](std::size_t i) const { return values[i]; }
  std::int64_t numel() const { return static_cast<std::int64_t>(values.size()); }
};

/// Wrong use, and what the message must contain.
struct ErrorCase {
  std::function<void()> use;
  std::string message;
};

struct Row {
  using Function = std::function<variable_list(const variable_list&)>;
  using Reference = std::function<std::vector<Array>(const std::vector<Array>&)>;

  std::string name;
  Function function;
  std::function<Variable(const variable_list&)>
      in_place_function;  // writes into the first input and returns it
  Reference reference_function;
  std::vector<std::vector<Sizes>> shape_sets;  // one sample a set: the sizes of every input
  std::vector<std::pair<double, double>> ranges;
  std::vector<double> kink_values;     // inputs keep away from these by 0.02
  std::vector<std::size_t> constants;  // inputs that take no gradient
  std::function<Variable(std::size_t sample, std::size_t input)>
      special_input;  // for integer inputs and the like
  int derivative_order = 2;
  double float_tolerance = 2e-5;  // relative and absolute, for f32 against the f64 reference
  std::vector<ErrorCase> error_cases;
  std::string reason;  // why derivatives stop at derivative_order

  // Fluent setters, so that a row is a few lines.
  Row& in_place(std::function<Variable(const variable_list&)> f) {
    return in_place_function = std::move(f), *this;
  }
  Row& reference(Reference f) { return reference_function = std::move(f), *this; }
  /// Elementwise references; operands broadcast.
  Row& reference(double (*f)(double));
  Row& reference(double (*f)(double, double));
  Row& reference(double (*f)(double, double, double));
  Row& shapes(std::vector<std::vector<Sizes>> s) { return shape_sets = std::move(s), *this; }
  /// Values of input i, or of all when there is one range only.
  Row& range(double low, double high) { return ranges.emplace_back(low, high), *this; }
  Row& kinks(std::vector<double> at) { return kink_values = std::move(at), *this; }
  Row& constant(std::size_t input) { return constants.push_back(input), *this; }
  Row& special(std::function<Variable(std::size_t, std::size_t)> f) {
    return special_input = std::move(f), *this;
  }
  /// 0: not differentiable, 1: once; the reason is required.
  Row& order(int n, std::string why) { return derivative_order = n, reason = std::move(why), *this; }
  Row& tolerance(double t) { return float_tolerance = t, *this; }
  Row& error(std::string message, std::function<void()> use) {
    return error_cases.push_back({std::move(use), std::move(message)}), *this;
  }
};

/// Adds a row; the reference stays valid.
Row& row(std::string name, Row::Function f);
Row& unary(std::string name, Variable (*f)(const Variable&));
Row& binary(std::string name, std::function<Variable(const Variable&, const Variable&)> f);

/// Every row, in the order of registration.
const std::vector<Row*>& rows();

// The parts of the table, one a family; called once at start.
void register_all();

}  // namespace optable
