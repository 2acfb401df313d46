// The gradient that comes in: backward depends on its numbers, not on how they lie in memory.
#include "optable/checks.h"
#include "optable/layouts.h"
#include "optable/samples.h"
#include "support/catch.h"

namespace optable {
namespace {

// As the gradient of a sum comes in: one number for all places.
Variable one_for_all(const Variable& x) {
  return x.numel() == 0 ? x.clone() : x.flatten().select(0, 0).clone().expand(x.sizes());
}
Variable along_last(const Variable& x) {
  return x.dim() == 0 || x.size(-1) == 0 ? x.clone() : x.slice(-1, 0, 1).clone().expand(x.sizes());
}

std::vector<Layout> all_layouts() {
  std::vector<Layout> all = layouts();
  all.push_back({"one number for all", one_for_all, true});
  all.push_back({"expanded along the last dimension", along_last, true});
  return all;
}

struct Graph {
  variable_list outputs, wanted;
};

variable_list first(const Graph& graph, const variable_list& seeds) {
  return ebb::autograd::grad(graph.outputs, graph.wanted, seeds, true, false, true);
}

// The second derivatives, under directions that lie in memory as the seeds do.
variable_list second(const Graph& graph, variable_list seeds, const Layout& layout, bool plain) {
  variable_list targets = graph.wanted, firsts, directions;
  for (Variable& seed : seeds) {
    seed = seed.detach().requires_grad_();
    targets.push_back(seed);
  }
  for (const Variable& g : ebb::autograd::grad(graph.outputs, graph.wanted, seeds, true, true, true)) {
    if (!g.defined() || !g.requires_grad()) continue;
    firsts.push_back(g);
    const Variable laid = layout.apply(seed_for(g, 53));
    directions.push_back(plain ? laid.contiguous().clone() : laid);
  }
  if (firsts.empty()) return {};
  return ebb::autograd::grad(firsts, targets, directions, true, false, true);
}

}  // namespace

void check_upstream(const Row& row) {
  if (row.derivative_order == 0) return;
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    const variable_list inputs = with_grad(row, make_inputs(row, s));
    const Graph graph{differentiable_outputs(row, inputs), leaves_of(inputs)};
    if (graph.outputs.empty() || graph.wanted.empty()) continue;
    for (const Layout& layout : all_layouts()) {
      INFO(row.name << ", sample " << s << ", incoming gradient " << layout.name);
      variable_list laid, plain;
      for (const Variable& y : graph.outputs) {
        laid.push_back(layout.apply(seed_for(y)));
        plain.push_back(laid.back().contiguous().clone());
      }
      require_same(first(graph, laid), first(graph, plain), 1e-12);
      if (row.derivative_order < 2 || s > 0) continue;
      INFO("second derivatives");
      require_same(second(graph, laid, layout, false), second(graph, plain, layout, true), 1e-11);
    }
  }
}

}  // namespace optable
