// The table of ops: a row describes an op, and the harness checks it.
#pragma once

#include <ebb/autograd/backward.h>
#include <ebb/autograd/graph.h>
#include <ebb/core/allocator.h>
#include <ebb/core/parallel.h>
#include <ebb/derivatives/gradcheck.h>
#include <ebb/ops/attention.h>
#include <ebb/ops/conv.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/creation/tensor_data.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/loss.h>
#include <ebb/ops/norm.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace optable {

using ebb::Variable;
using ebb::variable_list;
using Sizes = std::vector<std::int64_t>;
using Index = std::vector<std::int64_t>;
using In = const variable_list&;
using V = const Variable&;

/// The arrays of references: a shape and doubles in row-major order. References use no library, only loops.
struct Array {
  Sizes sizes;
  std::vector<double> values;
  double operator[](std::size_t i) const { return values[i]; }
  /// Returns the element at a position, with one index per dimension.
  double operator()(const Index& place) const;
  std::int64_t numel() const { return static_cast<std::int64_t>(values.size()); }
  std::int64_t size(std::size_t d) const { return sizes[d]; }
};
using Arrays = std::vector<Array>;

/// An invalid call, and a required part of its error message.
struct ErrorCase {
  std::function<void()> use;
  std::string message;
};

/// Inputs that are not floating: Long from low up to high (exclusive), or Bool.
struct IntegerInput {
  std::size_t input;
  std::int64_t low, high;
  bool boolean;
};

/// The result of the op at one point: at 0, at a kink, at NaN, or far out.
struct Point {
  std::vector<double> at;
  double value;
  std::vector<double> gradients;  // for every input; empty if they are not checked
  double tolerance;               // 0: exact
};

/// The result dtype of a floating op for other input dtypes.
enum class Gives { unsaid, floating, same, error };

struct Row {
  using Function = std::function<variable_list(const variable_list&)>;
  using Reference = std::function<Arrays(const Arrays&)>;

  std::string name, family;
  Function function;
  std::function<Variable(const variable_list&)>
      in_place_function;  // writes into the first input and returns it
  bool in_place_reshapes = false;
  Reference reference_function;
  std::vector<std::vector<Sizes>> shape_sets;  // one sample per set: the sizes of every input
  // the number of inputs, if they may have any shapes that broadcast
  std::size_t pointwise_inputs = 0;
  std::vector<std::pair<double, double>> ranges;
  std::vector<double> kink_values;     // inputs differ from these by 0.02 or more
  std::vector<std::size_t> constants;  // inputs without a gradient
  std::vector<IntegerInput> integer_inputs;
  std::function<Variable(std::size_t sample, std::size_t input)>
      special_input;  // creates inputs with chosen values
  int derivative_order = 2;
  double float_tolerance = 2e-5;                   // relative and absolute, for f32 against the f64 reference
  double accuracy = 1e-14, float_accuracy = 3e-6;  // of pointwise ops, against the reference
  // the number of times that a 16-bit result is rounded, at most
  double half_roundings = 2;
  std::vector<ErrorCase> error_cases;
  std::vector<Point> points;
  Gives of_integers = Gives::unsaid, of_booleans = Gives::unsaid;
  ebb::optional<ebb::DType> result_dtype;
  std::string node_name;
  bool finite_everywhere = false, rounds_between = false, keeps_channels_last = false;
  std::vector<std::int64_t> row_lengths;         // values of the innermost size of the first sample
  std::vector<std::vector<Sizes>> large_shapes;  // samples too large for most checks
  // The reason to omit a check; empty if the check runs.
  std::string reason;                    // derivatives stop at derivative_order
  std::size_t unreferenced_outputs = 0;  // at the end
  std::string reference_reason, dtype_reason, half_reason, layout_reason, cuda_reason;

  // Chainable setters, so that a row has few lines.
  Row& in_place(std::function<Variable(const variable_list&)> f) {
    return in_place_function = std::move(f), *this;
  }
  /// Sets an in-place form that changes the shape of self.
  Row& reshaping(std::function<Variable(const variable_list&)> f) {
    return in_place_reshapes = true, in_place(std::move(f));
  }
  Row& reference(Reference f) { return reference_function = std::move(f), *this; }
  /// Elementwise references with broadcast operands.
  Row& reference(double (*f)(double));
  Row& reference(double (*f)(double, double));
  Row& reference(double (*f)(double, double, double));
  Row& shapes(std::vector<std::vector<Sizes>> s) {
    return shape_sets = std::move(s), pointwise_inputs = 0, *this;
  }
  /// Sets the number of inputs, which may have any shapes that broadcast.
  Row& pointwise(std::size_t inputs);
  /// Sets the range of values of the next input, or of all inputs if there is only one range.
  Row& range(double low, double high) { return ranges.emplace_back(low, high), *this; }
  Row& kinks(std::vector<double> at) { return kink_values = std::move(at), *this; }
  Row& constant(std::size_t input) { return constants.push_back(input), *this; }
  Row& integers(std::size_t input, std::int64_t low, std::int64_t high) {
    return integer_inputs.push_back({input, low, high, false}), *this;
  }
  Row& booleans(std::size_t input) { return integer_inputs.push_back({input, 0, 2, true}), *this; }
  Row& special(std::function<Variable(std::size_t, std::size_t)> f) {
    return special_input = std::move(f), *this;
  }
  /// 0: not differentiable, 1: differentiable once; the reason is required.
  Row& order(int n, std::string why) { return derivative_order = n, reason = std::move(why), *this; }
  /// Adds exact values, and derivatives for every input, that hold in every floating dtype that represents
  /// these numbers.
  Row& at(std::vector<double> inputs, double value, std::vector<double> gradients = {},
          double tolerance = 0) {
    return points.push_back({std::move(inputs), value, std::move(gradients), tolerance}), *this;
  }
  Row& given_integers(Gives g) { return of_integers = g, *this; }
  Row& given_booleans(Gives g) { return of_booleans = g, *this; }
  /// Sets the dtype of the result for all dtypes of inputs.
  Row& gives(ebb::DType dtype) { return result_dtype = dtype, *this; }
  /// Sets the name of the recorded node.
  Row& node(std::string name) { return node_name = std::move(name), *this; }
  /// States that every number has a finite derivative, also far out and at kinks.
  Row& finite() { return finite_everywhere = true, *this; }
  /// States that the op is composed of others, so that 16-bit numbers are rounded after each.
  Row& composed() { return rounds_between = true, *this; }
  /// States that the reference holds for rows of any length: the innermost size of the first sample, wherever
  /// it occurs, is replaced by lengths around the sizes of vectors.
  Row& short_rows();
  /// Adds lengths beyond the size of a buffer or a block.
  Row& long_rows();
  /// Adds samples that are only compared with the reference, differentiated and split over threads.
  Row& large(std::vector<std::vector<Sizes>> s) { return large_shapes = std::move(s), *this; }
  /// States that channels-last images give channels-last results and gradients.
  Row& channels_last() { return keeps_channels_last = true, *this; }
  /// Sets the bounds for results in f64 and f32, relative and absolute.
  Row& accurate(double f64, double f32) { return accuracy = f64, float_accuracy = f32, *this; }
  Row& tolerance(double t) { return float_tolerance = t, *this; }
  Row& roundings(double n) { return half_roundings = n, *this; }
  Row& error(std::string message, std::function<void()> use) {
    return error_cases.push_back({std::move(use), std::move(message)}), *this;
  }
  // The checks to omit, and the reasons.
  Row& no_reference(std::string why) { return reference_reason = std::move(why), *this; }
  /// States that the last outputs have no reference: they are only compared among dtypes, layouts and
  /// devices.
  Row& unreferenced(std::size_t outputs, std::string why) {
    return unreferenced_outputs = outputs, no_reference(std::move(why));
  }
  Row& double_only(std::string why) { return dtype_reason = std::move(why), *this; }
  Row& no_half(std::string why) { return half_reason = std::move(why), *this; }
  Row& no_layouts(std::string why) { return layout_reason = std::move(why), *this; }
  Row& cpu_only(std::string why) { return cuda_reason = std::move(why), *this; }
};

/// Adds a row to the current family; the returned reference stays valid.
Row& row(std::string name, Row::Function f);
Row& unary(std::string name, Variable (*f)(const Variable&));
Row& binary(std::string name, std::function<Variable(const Variable&, const Variable&)> f);

/// Sets the family of the following rows: a folder of src/ops, or "nn". Every file of rows calls it first.
void family(std::string name);

/// Returns all rows in the order of registration.
const std::vector<Row*>& rows();

/// Calls each register_NAME() of rows_*.cpp in the order of their names; CMake writes it.
void register_all();

}  // namespace optable
