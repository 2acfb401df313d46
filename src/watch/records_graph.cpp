// add_graph: the ops of a call, from the graph that autograd records.
#include <ebb/ebb.h>
#include <ebb/watch/records.h>

#include "watch/kept_generator.h"

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ebb::watch {
namespace {

using autograd::Edge;
using autograd::Node;

// Returns an alias of the tensor that is a leaf of the recorded graph, if it can have a gradient.
Variable as_leaf(const Variable& tensor) {
  const Variable alias = tensor.detach();
  return alias.is_floating_point() ? alias.requires_grad_() : alias;
}

// Returns the class of a module without namespaces, arguments of templates, and the suffix of ebb's modules.
std::string class_of(const nn::Module& module) {
  std::string name = module.name().substr(0, module.name().find('<'));
  if (const auto colon = name.rfind(':'); colon != name.npos) name.erase(0, colon + 1);
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}

class GraphBuilder {
 public:
  explicit GraphBuilder(nn::Module& module) {
    module.apply([this](const std::string& path, nn::Module& each) {
      const auto dot = path.rfind('.');
      const std::string& outer = scopes_[dot == path.npos ? "" : path.substr(0, dot)];
      const std::string scope =
          path.empty() ? class_of(each) : outer + "/" + class_of(each) + "[" + path.substr(dot + 1) + "]";
      scopes_[path] = scope;
      const nn::detail::ModuleRange range(each);
      places_.emplace(autograd::current_place, scope);
    });
  }

  /// Adds an input or a parameter, whose path gives the name: "fc1.weight" is "Net/Linear[fc1]/weight".
  void add_input(const Variable& input) { add_leaf("input", "Input", input); }
  void add_parameter(const std::string& path, const Variable& parameter) {
    const auto dot = path.rfind('.');
    add_leaf(scopes_[dot == path.npos ? "" : path.substr(0, dot)] + "/" + path.substr(dot + 1), "Parameter",
             parameter);
  }

  /// Adds the ops that lead to the outputs, in the order of the call, and the outputs.
  void add_ops(const variable_list& outputs) {
    std::vector<const Node*> stack, ops;
    const auto reach = [&](const Edge& edge) {
      const Node* const node = edge.function.get();
      if (node && names_.try_emplace(node).second) stack.push_back(node);
    };
    for (const Variable& output : outputs) reach(autograd::gradient_edge(output));
    while (!stack.empty()) {
      ops.push_back(stack.back());
      stack.pop_back();
      for (const Edge& edge : ops.back()->next_edges()) reach(edge);
    }
    std::sort(ops.begin(), ops.end(),
              [](const Node* a, const Node* b) { return a->sequence_nr() < b->sequence_nr(); });
    for (const Node* op : ops) {
      const auto place = places_.find(op->place());
      names_[op] = unique((place == places_.end() ? scopes_[""] : place->second) + "/" + op_of(*op));
    }
    for (const Node* op : ops) {
      GraphRecord::Node node{names_[op], op_of(*op), inputs_of(op->next_edges()), {}};
      for (std::uint32_t i = 0; i < op->num_inputs(); ++i)
        node.shapes.emplace_back(op->output_meta(i).sizes.begin(), op->output_meta(i).sizes.end());
      graph_.nodes.push_back(std::move(node));
    }
    for (const Variable& output : outputs)
      graph_.nodes.push_back(
          {unique("output"), "Output", inputs_of({autograd::gradient_edge(output)}), {output.sizes().vec()}});
  }

  GraphRecord take() { return std::move(graph_); }

 private:
  static std::string op_of(const Node& node) { return node.name().substr(0, node.name().find("Backward")); }

  void add_leaf(const std::string& name, const char* op, const Variable& leaf) {
    graph_.nodes.push_back({unique(name), op, {}, {leaf.sizes().vec()}});
    if (!leaf.requires_grad()) return;
    leaves_.push_back(autograd::gradient_edge(leaf).function);
    names_[leaves_.back().get()] = graph_.nodes.back().name;
  }
  std::vector<std::string> inputs_of(ArrayRef<Edge> edges) {
    std::vector<std::string> names;
    for (const Edge& edge : edges)
      if (edge.is_valid())
        names.push_back(names_[edge.function.get()] +
                        (edge.input_nr > 0 ? ":" + std::to_string(edge.input_nr) : ""));
    return names;
  }
  std::string unique(const std::string& name) {
    const int before = uses_[name]++;
    return before == 0 ? name : unique(name + "_" + std::to_string(before));
  }

  GraphRecord graph_;
  std::map<std::string, std::string> scopes_;    // by the paths of modules
  std::map<std::uint32_t, std::string> places_;  // by the indices of modules
  std::map<std::string, int> uses_;
  std::vector<Ref<Node>> leaves_;  // otherwise another node could have the address of a leaf
  std::map<const Node*, std::string> names_;
};

}  // namespace

void Recorder::record_graph(nn::Module& module, const std::vector<Variable*>& inputs,
                            const std::function<variable_list()>& call) {
  if (!writes()) return record("add_graph", "", "graph", {}, {}, GraphRecord{});
  const InferenceMode gradients(false);
  GraphBuilder builder(module);
  std::set<std::string> devices{"cpu"};
  nn::Module::StateDict state;
  for (Variable* input : inputs) {
    EBB_CHECK(input->defined(), "add_graph: an input is undefined.");
    devices.insert(input->device().str());
    *input = as_leaf(*input);
    builder.add_input(*input);
  }
  for (const auto& [path, parameter] : module.named_parameters().pairs()) {
    devices.insert(parameter.device().str());
    state.insert(path, as_leaf(parameter));
  }
  for (const auto& [path, buffer] : module.named_buffers().pairs()) state.insert(path, buffer.clone());
  std::list<KeptGenerator> generators;
  for (const std::string& device : devices) generators.emplace_back(device);
  const nn::utils::SubstituteGuard guard(module, state);
  // The guard gives the module views of the aliases.
  for (const auto& [path, parameter] : module.named_parameters().pairs())
    builder.add_parameter(path, parameter);
  builder.add_ops(call());
  record("add_graph", "", "graph", {}, {}, builder.take());
}

}  // namespace ebb::watch
