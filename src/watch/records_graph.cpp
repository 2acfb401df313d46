// add_graph: the ops of a call, from the graph that autograd records.
#include <ebb/ebb.h>

#include "watch/class_name.h"
#include "watch/kept_generator.h"
#include "watch/record.h"

#include <algorithm>
#include <list>
#include <set>

namespace ebb::watch {
namespace {

using autograd::Edge;
using autograd::Node;
using nlohmann::json;

// Returns an alias of the tensor that is a leaf of the recorded graph, if it can have a gradient.
Variable as_leaf(const Variable& tensor) {
  const Variable alias = tensor.detach();
  return alias.is_floating_point() ? alias.requires_grad_() : alias;
}

// Names modules, leaves and ops as torch does: "Net/Linear[fc1]/weight", "Net/Linear[fc1]/Addmm".
class GraphBuilder {
 public:
  explicit GraphBuilder(nn::Module& module) {
    module.apply([this](const std::string& path, nn::Module& each) {
      const std::string name = class_name(each);
      scopes_[path] = path.empty() ? name : in_scope(path, name + "[", "]");
      const nn::detail::ModuleRange range(each);
      places_.emplace(autograd::current_place, scopes_[path]);
    });
  }

  /// Returns the name of a member at a path, which follows the name of its module.
  std::string in_scope(const std::string& path, const std::string& before = "", const char* after = "") {
    const auto dot = path.rfind('.');
    return scopes_[dot == path.npos ? "" : path.substr(0, dot)] + "/" + before + path.substr(dot + 1) + after;
  }

  void add_leaf(const std::string& name, const char* op, const Variable& leaf) {
    const std::string named = add_node(unique(name), op, {}, {leaf.sizes().vec()});
    if (!leaf.requires_grad()) return;
    leaves_.push_back(autograd::gradient_edge(leaf).function);
    names_[leaves_.back().get()] = named;
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
      const std::string name = op->name().substr(0, op->name().find("Backward"));
      const auto place = places_.find(op->place());
      json shapes = json::array();
      for (std::uint32_t i = 0; i < op->num_inputs(); ++i) {
        const auto& sizes = op->output_meta(i).sizes;
        shapes.push_back(std::vector<std::int64_t>(sizes.begin(), sizes.end()));
      }
      names_[op] = unique((place == places_.end() ? scopes_[""] : place->second) + "/" + name);
      add_node(names_[op], name, op->next_edges(), shapes);
    }
    for (const Variable& output : outputs)
      add_node(unique("output"), "Output", {autograd::gradient_edge(output)}, {output.sizes().vec()});
  }

  json nodes = json::array();

 private:
  std::string add_node(const std::string& name, const std::string& op, ArrayRef<Edge> edges, json shapes) {
    json inputs = json::array();
    for (const Edge& edge : edges)
      if (edge.is_valid())
        inputs.push_back(names_[edge.function.get()] +
                         (edge.input_nr > 0 ? ":" + std::to_string(edge.input_nr) : ""));
    nodes.push_back({{"name", name}, {"op", op}, {"inputs", inputs}, {"shapes", std::move(shapes)}});
    return name;
  }
  std::string unique(const std::string& name) {
    const int before = uses_[name]++;
    return before == 0 ? name : unique(name + "_" + std::to_string(before));
  }

  std::map<std::string, std::string> scopes_;    // by the paths of modules
  std::map<std::uint32_t, std::string> places_;  // by the indices of modules
  std::map<std::string, int> uses_;
  std::vector<Ref<Node>> leaves_;  // otherwise another node could have the address of a leaf
  std::map<const Node*, std::string> names_;
};

}  // namespace

void Recorder::record_graph(nn::Module& module, const std::vector<Variable*>& inputs,
                            const std::function<variable_list()>& call) {
  if (!writes()) return record("add_graph", {"graph", "graph", {}, {}, {}});
  const InferenceMode gradients(false);
  GraphBuilder builder(module);
  std::set<std::string> devices{"cpu"};
  nn::Module::StateDict state;
  for (Variable* input : inputs) {
    EBB_CHECK(input->defined(), "add_graph: an input is undefined.");
    devices.insert(input->device().str());
    *input = as_leaf(*input);
    builder.add_leaf("input", "Input", *input);
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
    builder.add_leaf(builder.in_scope(path), "Parameter", parameter);
  builder.add_ops(call());
  record("add_graph", {"graph", "graph", {}, {}, {{"nodes", std::move(builder.nodes)}}});
}

}  // namespace ebb::watch
