// The table of modules: how each is created and called, and a reference formula of its result.
#pragma once

#include <ebb/ebb.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace modules {

using ebb::Variable;
using ebb::variable_list;
namespace nn = ebb::nn;
using In = const variable_list&;
using Sizes = std::vector<std::int64_t>;

/// The tensors of a module, for a formula.
struct Tensors {
  /// Returns the parameter or buffer at a path, or an undefined tensor.
  Variable operator[](const std::string& name) const;
  const nn::Module& module;
  bool training = true;
};

/// The results, followed by the buffers of the module after the call, in order.
using Formula = std::function<variable_list(In, const Tensors&)>;
using Call = std::function<variable_list(nn::Module&, In)>;

struct Row {
  std::string name;  ///< the class, and after a space the case
  std::function<std::shared_ptr<nn::Module>()> make;
  Call call;
  variable_list inputs;                 ///< kDouble, or integers and masks
  Formula formula = nullptr;            ///< the reference by plain arithmetic
  std::vector<std::string> names = {};  ///< parameters, then buffers
  std::function<nn::AnyModule()> sequence =
      nullptr;                  ///< the module in a Sequential, if it has one tensor argument
  bool draws = false;           ///< random in training: only eval() has a formula and derivatives
  bool hooked = true;           ///< whether hooks run in this call
  bool has_derivatives = true;  ///< whether derivatives are checked
  int batch = 0;  ///< the batch dimension, which may be empty, in inputs and results; -1 for none
};

std::vector<Row> activation_rows();
std::vector<Row> convolution_rows();
std::vector<Row> pooling_rows();
std::vector<Row> shape_rows();
std::vector<Row> norm_rows();
std::vector<Row> recurrent_rows();
std::vector<Row> attention_rows();
std::vector<Row> table_rows();
std::vector<Row> loss_rows();

/// Returns 1.3 sin(0.7 k + shift) in double.
Variable wave(const Sizes& sizes, double shift = 0.3);
/// Returns integers in order.
Variable integers(const std::vector<std::int64_t>& values, const Sizes& sizes = {});
/// Fills parameters and running statistics with numbers, as doubles.
void fill(nn::Module& module, double shift = 0);
/// Returns the windows of (N, C, ...) with a padded border as (kernel elements, N, C, ...); with `ceil`, also
/// last windows that exceed the input.
Variable windows(const Variable& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
                 const Sizes& dilation, double border = 0, bool ceil = false);

inline variable_list flat(const Variable& x) { return {x}; }
inline variable_list flat(const nn::ASMoutput& x) { return {x.output, ebb::tensor(x.loss, ebb::kDouble)}; }
template <class... T>
variable_list flat(const std::tuple<T...>& x) {
  variable_list out;
  std::apply(
      [&](const auto&... part) {
        (..., [&](variable_list more) {
          for (Variable& v : more) out.push_back(std::move(v));
        }(flat(part)));
      },
      x);
  return out;
}

/// Calls the module with tensors only.
template <class M>
variable_list call_with(nn::Module& module, In x) {
  auto& m = dynamic_cast<M&>(module);
  const auto with = [&](const auto&... in) -> variable_list {
    if constexpr (requires { m.forward(in...); }) return flat(nn::detail::call_module(m, in...));
    throw std::logic_error("the module takes another number of tensors");
  };
  switch (x.size()) {
    case 1:
      return with(x[0]);
    case 2:
      return with(x[0], x[1]);
    case 3:
      return with(x[0], x[1], x[2]);
    case 4:
      return with(x[0], x[1], x[2], x[3]);
    default:
      return with(x[0], x[1], x[2], x[3], x[4], x[5]);
  }
}

/// Returns a row of a module that is constructed from `args`.
template <class Holder, class... Args>
Row row(std::string name, variable_list inputs, Formula formula, const Args&... args) {
  using M = typename Holder::ContainedType;
  Row out{std::move(name), [=] { return std::shared_ptr<nn::Module>(std::make_shared<M>(args...)); },
          call_with<M>, std::move(inputs), std::move(formula)};
  if (out.inputs.size() == 1) out.sequence = [=] { return nn::AnyModule(std::make_shared<M>(args...)); };
  return out;
}
/// Returns a row with another call: call(module, inputs).
template <class Holder, class F, class... Args>
Row row_called(std::string name, variable_list inputs, F call, Formula formula, const Args&... args) {
  using M = typename Holder::ContainedType;
  Row out = row<Holder>(std::move(name), std::move(inputs), std::move(formula), args...);
  out.call = [call](nn::Module& m, In x) -> variable_list { return call(dynamic_cast<M&>(m), x); };
  out.sequence = nullptr;
  return out;
}

/// Replaces the module of a row by a lazy one after its first call.
template <class Lazy, class Options>
void lazy(Row& row, const Options& options) {
  const Sizes sizes = row.inputs[0].sizes().vec();
  row.make = [=] {
    Lazy m(options);
    m->eval();
    m->forward(ebb::zeros(sizes));
    m->train();
    return m.ptr();
  };
  row.sequence = nullptr;
}

}  // namespace modules
