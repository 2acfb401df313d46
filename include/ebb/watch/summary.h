// summary: a table of a network's modules with their shapes, parameters and multiply-adds (torchinfo).
#pragma once

#include <ebb/core/arg.h>
#include <ebb/nn/any_module.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace ebb::watch {

/// Options of summary(), with torchinfo's names and defaults.
class EBB_API SummaryOptions {
 public:
  using Columns = std::vector<std::string>;
  EBB_ARG(std::int64_t, depth) = 3;  ///< deeper rows are not printed; the last printed row has their figures
  /// Any of input_size, output_size, num_params, params_percent, kernel_size, mult_adds and trainable.
  EBB_ARG(Columns, columns) = { "output_size", "num_params", "mult_adds" };
  EBB_ARG(bool, train) = false;           ///< calls the network in training mode, not in evaluation mode
  EBB_ARG(bool, names) = true;            ///< prints the names of modules: "Conv2d (conv1): 1-1"
  EBB_ARG(bool, parameters) = false;      ///< prints a row for each parameter (torchinfo's verbose=2)
  EBB_ARG(bool, hide_recursive) = false;  ///< leaves out further calls of the same module
  EBB_ARG(bool, ascii) = false;           ///< draws the tree with ASCII characters
};

/// One call of a module, or a module that was not called.
struct SummaryRow {
  using Shape = std::vector<std::int64_t>;
  struct Parameter {
    std::string name;
    Shape shape;
    std::int64_t count;
    bool trainable;
  };
  std::string path, name, type, kernel;    ///< "layer1.conv1", "conv1", "Conv2d", "3, 3"
  std::int64_t depth = 0, index = 0;       ///< the rows of one depth are numbered from 1
  bool called = false, recursive = false;  ///< recursive: an earlier row is another call of the same module
  std::vector<Shape> inputs, outputs;      ///< the shapes of all tensors among arguments and results
  std::vector<Parameter> own;              ///< the parameters that the module itself holds, also shared ones
  std::int64_t params = 0, trainable_params = 0;  ///< of the module and its submodules
  /// The part of `params` that no earlier row has counted, without that of rows below.
  std::int64_t counted_params = 0, counted_trainable_params = 0;
  std::int64_t mult_adds = 0, output_bytes = 0;  ///< of this row, without rows below
};

/// The result of summary(): rows in the order of the calls, each before the rows of its submodules.
struct EBB_API Summary {
  std::vector<SummaryRow> rows;
  std::int64_t total_params = 0, trainable_params = 0;  ///< elements of parameters(), each counted once
  std::int64_t total_mult_adds = 0, input_bytes = 0, param_bytes = 0;
  std::int64_t forward_backward_bytes = 0;  ///< of outputs of layers with parameters, and their gradients
  SummaryOptions options;
  bool ran = false;

  /// Returns the table.
  std::string str() const;
  /// Returns all rows and the totals with the names of the members: {"rows": [{"path": ...}], ...}.
  std::string json() const;
};
EBB_API std::ostream& operator<<(std::ostream& stream, const Summary& summary);

/// Summarizes what `run` calls. It is for arguments that are not tensors, and for several calls:
///     watch::summary(*net, [&] { net->forward_with_state(ids, state); });
/// Without `run` the table has types and parameters only. `inputs` are the tensors whose size is reported.
EBB_API Summary summary(nn::Module& module, const std::function<void()>& run,
                        const SummaryOptions& options = {}, const variable_list& inputs = {});
namespace detail {
EBB_API Summary summary_of(nn::Module& module, const variable_list& inputs, const SummaryOptions& options,
                           const nn::detail::AnyForward& forward);
}

/// Calls a module, given by its handle or by reference, with tensors, and summarizes the call
/// (torchinfo.summary). Without inputs the module is not called.
///     std::cout << watch::summary(net, {images, ids}, watch::SummaryOptions().depth(2));
/// The call records no graph. It leaves modes, gradients, buffers and default generators as they were, and
/// only initializes lazy modules. Calls in other threads are not recorded.
///
/// Multiply-adds are multiplications by parameters, as in torchinfo: for each element of weight and bias one
/// at every position of a convolution's output, one at every index of the leading dimensions of the output of
/// a matrix (Linear, LSTM, the projections of MultiheadAttention), none in an embedding, and one for each
/// sample in other layers. Products of two activations, as in attention, are not counted.
///
/// Throws for an undefined input, a negative depth, an unknown column, and all errors of the call.
template <class M>
  requires nn::detail::Holder<M> || std::derived_from<std::remove_cvref_t<M>, nn::Module>
Summary summary(M&& module, const variable_list& inputs = {}, const SummaryOptions& options = {}) {
  if constexpr (nn::detail::Holder<M>)
    return summary(*module.ptr(), inputs, options);
  else
    return detail::summary_of(module, inputs, options, nn::detail::AnyForwardOf<std::remove_cvref_t<M>>());
}
Summary summary(auto&& module, const std::same_as<Variable> auto& input, const SummaryOptions& options = {}) {
  return summary(module, variable_list{input}, options);
}

}  // namespace ebb::watch
