// Typed arguments of an ONNX node, and the evaluation of a graph with the ops of ebb.
#include "onnx/call.h"

namespace onnx {

using ebb::detail::fail;

Call::Call(const Node& node, Tensors inputs, std::int64_t opset)
    : node_(node), inputs_(std::move(inputs)), opset_(opset) {}

const Tensor& Call::operator[](std::size_t input) const {
  if (!has(input)) fail(node_.op, ": input ", std::uint64_t{input}, " is missing.");
  return inputs_[input];
}

ebb::optional<Tensor> Call::maybe(std::size_t input) const {
  return has(input) ? ebb::make_optional(inputs_[input]) : ebb::nullopt;
}

Ints Call::numbers(std::size_t input) const {
  const Tensor values = (*this)[input].to(ebb::kLong).contiguous();
  const std::int64_t* data = values.data_ptr<std::int64_t>();
  return Ints(data, data + values.numel());
}

const Attribute* Call::find(const char* attribute) const {
  asked_.insert(attribute);
  const auto at = node_.attributes.find(attribute);
  return at == node_.attributes.end() ? nullptr : &at->second;
}

std::int64_t Call::integer(const char* attribute, std::int64_t otherwise) const {
  const Attribute* a = find(attribute);
  return a ? a->i : otherwise;
}

double Call::real(const char* attribute, double otherwise) const {
  const Attribute* a = find(attribute);
  return a ? a->f : otherwise;
}

std::string Call::text(const char* attribute, const char* otherwise) const {
  const Attribute* a = find(attribute);
  return a ? a->s : otherwise;
}

Ints Call::integers(const char* attribute, Ints otherwise) const {
  const Attribute* a = find(attribute);
  return a ? a->ints : otherwise;
}

Tensor Call::tensor(const char* attribute) const {
  const Attribute* a = find(attribute);
  if (!a || !a->t.defined()) fail(node_.op, ": the attribute ", attribute, " is not a tensor.");
  return a->t;
}

void Call::check_all_asked() const {
  for (const auto& [name, value] : node_.attributes)
    if (!asked_.count(name)) fail(node_.op, ": the attribute ", name, " was not considered.");
}

const Ops& all_ops() {
  static const Ops ops = [] {
    Ops all;
    for (const auto add :
         {add_elementwise, add_activation, add_reduce, add_shape, add_rearrange, add_creation, add_index,
          add_linalg, add_conv, add_pool, add_norm, add_loss, add_optim})
      add(all);
    return all;
  }();
  return ops;
}

Tensor wrap_indices(const Tensor& indices, std::int64_t size) {
  return ebb::where(indices < 0, indices + size, indices).to(ebb::kLong);
}

// Runs the nodes of a model.

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
