// Checks of layouts: channels-last images, and incoming gradients in every layout.
#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

// Channels-last images: ops preserve the format and the values of contiguous images.

namespace optable {
namespace {

ebb::MemoryFormat last_of(const Variable& x) {
  return x.dim() == 4 ? ebb::MemoryFormat::ChannelsLast : ebb::MemoryFormat::ChannelsLast3d;
}
// With one channel or one pixel, both formats apply.
bool tells(const Variable& x) { return x.size(1) > 1 && x.numel() > x.size(0) * x.size(1); }

void require_format(const Variable& x, bool last) {
  if (!tells(x)) return;
  REQUIRE(x.is_contiguous(last_of(x)) == last);
  REQUIRE(x.is_contiguous() != last);
}

}  // namespace

void check_channels_last(const Row& row, ebb::Device device) {
  if (!row.keeps_channels_last) return;
  int compared = 0;
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    INFO(row.name << ", channels last, sample " << s);
    variable_list plain;
    for (const Variable& x : make_inputs(row, s)) plain.push_back(x.to(ebb::TensorOptions(device)));
    if (plain[0].dim() < 4) continue;
    plain = with_grad(row, plain);
    variable_list last = plain;
    last[0] = plain[0].detach().contiguous(last_of(plain[0])).requires_grad_();
    const Variable expected = row.function(plain)[0], got = row.function(last)[0];
    if (!tells(plain[0])) continue;
    ++compared;
    require_format(expected, false);
    require_format(got, true);
    require_close(got, to_array(expected), 1e-10);
    const Variable seed = seed_for(expected);
    const Variable slope = ebb::autograd::grad({expected}, {plain[0]}, {seed}, true)[0];
    require_format(slope, false);
    for (const Variable& each : {seed, seed.contiguous(last_of(seed))}) {
      const Variable turned = ebb::autograd::grad({got}, {last[0]}, {each}, true)[0];
      require_format(turned, true);
      require_close(turned, to_array(slope), 1e-10);
    }
  }
  REQUIRE(compared > 0);
}

// Incoming gradients: backward depends on their values and not on their layout.

namespace {

// Returns the gradient as backward of a sum creates it: one number, expanded.
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

// Returns the second derivatives, for directions with the layout of the seeds.
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
