// Prints the graph as text, and as a drawing in the DOT language.
#include <ebb/autograd/graph.h>
#include <ebb/autograd/saved_variable.h>

#include "autograd/accumulate_grad.h"
#include "autograd/meta.h"

#include <map>
#include <set>

namespace ebb::autograd {
namespace {

// Assigns a name to each tensor of a drawing, and a number to each node.
class Names {
 public:
  explicit Names(const GraphNames& names) {
    for (const auto& [name, x] : names)
      if (x.defined()) names_.emplace(x.impl(), name);
  }
  std::string of(const Variable& x, const char* otherwise) const {
    const auto it = names_.find(x.impl());
    return (it == names_.end() ? std::string(otherwise) : it->second) + " " + shape(x.sizes());
  }
  static std::string shape(IntArrayRef sizes) { return detail::text(sizes); }
  int number(const Node* node) {
    return numbers_.emplace(node, static_cast<int>(numbers_.size())).first->second;
  }

 private:
  std::map<const VariableImpl*, std::string> names_;
  std::map<const Node*, int> numbers_;
};

const Variable* leaf_of(const Node& node) {
  const auto* accumulator = dynamic_cast<const AccumulateGrad*>(&node);
  return accumulator ? &accumulator->variable() : nullptr;
}

// Returns the saved inputs that receive no gradient: the constants of the op.
std::vector<Variable> constants_of(const Node& node) {
  std::vector<Variable> out;
  for (const SavedVariable* s = node.first_saved(); s; s = s->next())
    if (s->kept().defined() && !s->kept().requires_grad() && s->is_input()) out.push_back(s->kept());
  return {out.rbegin(), out.rend()};
}

std::string label(const Node& node, const Names& names) {
  if (const Variable* leaf = leaf_of(node)) return names.of(*leaf, "leaf");
  std::string text = node.name();
  for (std::uint32_t i = 0; i < node.num_inputs(); ++i)
    text.append(1, ' ').append(Names::shape(node.output_meta(i).sizes));
  return text;
}

}  // namespace

std::string to_text(const Variable& root, const GraphNames& given) {
  Names names(given);
  std::string out;
  const Edge top = root.requires_grad() ? gradient_edge(root) : Edge{};
  if (!top.is_valid()) return names.of(root, "constant") + "\n";
  std::set<const Node*> drawn;
  struct Item {
    const Node* node;
    int depth;
  };
  std::vector<Item> stack{{top.function.get(), 0}};
  while (!stack.empty()) {
    const auto [node, depth] = stack.back();
    stack.pop_back();
    out.append(static_cast<std::size_t>(depth) * 2, ' ');
    const bool again = !drawn.insert(node).second;
    out += detail::text("#", names.number(node), " ", label(*node, names), again ? " (above)\n" : "\n");
    if (again) continue;
    for (const Variable& constant : constants_of(*node))
      out +=
          std::string(static_cast<std::size_t>(depth + 1) * 2, ' ') + names.of(constant, "constant") + "\n";
    const ArrayRef<Edge> edges = node->next_edges();
    for (std::size_t i = edges.size(); i-- > 0;)
      if (edges[i].is_valid()) stack.push_back({edges[i].function.get(), depth + 1});
  }
  return out;
}

std::string to_dot(const Variable& root, const GraphNames& given) {
  Names names(given);
  std::string out = "digraph ebb {\n  rankdir=BT;\n  node [fontname=\"monospace\", fontsize=10];\n";
  out += detail::text("  root [label=\"", names.of(root, "root"), "\", shape=box, style=bold];\n");
  const Edge top = root.requires_grad() ? gradient_edge(root) : Edge{};
  if (!top.is_valid()) return out + "}\n";
  std::vector<const Node*> queue{top.function.get()};
  std::set<const Node*> seen{queue[0]};
  int constants = 0;
  for (std::size_t k = 0; k < queue.size(); ++k) {
    const Node& node = *queue[k];
    const int id = names.number(&node);
    out += detail::text("  n", id, " [label=\"", label(node, names), "\"",
                        leaf_of(node) ? ", shape=box, style=filled, fillcolor=lightblue" : "", "];\n");
    for (const Variable& constant : constants_of(node)) {
      out += detail::text("  c", constants, " [label=\"", names.of(constant, "constant"),
                          "\", shape=box, style=dashed];\n  c", constants, " -> n", id, " [style=dashed];\n");
      ++constants;
    }
    for (const Edge& edge : node.next_edges()) {
      if (!edge.is_valid()) continue;
      const Node* next = edge.function.get();
      out += detail::text("  n", names.number(next), " -> n", id, ";\n");
      if (seen.insert(next).second) queue.push_back(next);
    }
  }
  return out + detail::text("  n", names.number(top.function.get()), " -> root;\n}\n");
}

}  // namespace ebb::autograd
