// Runs the nodes of a model.
#include "onnx/cases.h"

namespace onnx {

using ebb::detail::fail;

Tensors evaluate(const Model& model, const Tensors& inputs) {
  EBB_CHECK(inputs.size() == model.inputs.size(), "the graph has ", std::uint64_t{model.inputs.size()},
            " inputs, but ", std::uint64_t{inputs.size()}, " are given.");
  std::map<std::string, Tensor> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) values[model.inputs[i]] = inputs[i];
  const auto value = [&](const std::string& name) {
    if (name.empty()) return Tensor();
    const auto at = values.find(name);
    if (at == values.end()) fail("the graph uses ", name, " before it is computed.");
    return at->second;
  };
  for (const Node& node : model.nodes) {
    const auto op = all_ops().find(node.op);
    if (op == all_ops().end()) fail("no mapping for the op ", node.op, ".");
    Tensors arguments;
    for (const std::string& name : node.inputs) arguments.push_back(value(name));
    const Call call(node, arguments, model.opset);
    const Tensors results = op->second(call);
    call.check_all_asked();
    EBB_CHECK(results.size() >= node.outputs.size(), node.op, ": ", std::uint64_t{node.outputs.size()},
              " outputs are asked for.");
    for (std::size_t i = 0; i < node.outputs.size(); ++i) values[node.outputs[i]] = results[i];
  }
  Tensors outputs;
  for (const std::string& name : model.outputs) outputs.push_back(value(name));
  return outputs;
}

}  // namespace onnx
