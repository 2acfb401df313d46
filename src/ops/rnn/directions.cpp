// A recurrent layer in all of its directions. The layer is computed in one call of a library, or one
// direction after another.
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/record.h>
#include <ebb/autograd/saved_variable.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/record.h"
#include "ops/rnn/layer.h"

namespace ebb::ops {
namespace {

RnnLayer layer_of(ArrayRef<RnnInputs> sides, const RnnSteps& steps) {
  RnnLayer layer{contiguous_array(sides[0][RnnInputs::kRows]), {}, steps};
  for (const RnnInputs& in : sides) {
    RnnLayer::Side side;
    for (std::size_t i = 0; i < side.parameters.size(); ++i)
      side.parameters[i] = contiguous_array(in[RnnInputs::kInputWeight + i]);
    side.first = {contiguous_array(in[RnnInputs::kHidden]), contiguous_array(in[RnnInputs::kCell])};
    layer.sides.push_back(std::move(side));
  }
  return layer;
}

/// Returns the inputs of all directions, for the edges of the layer's node. The directions share the rows,
/// which the list contains once.
variable_list edges_of(ArrayRef<RnnInputs> sides) {
  variable_list all;
  for (const RnnInputs& in : sides) {
    all.insert(all.end(), in.values, in.values + RnnInputs::kCount);
    if (&in != sides.begin()) all[all.size() - RnnInputs::kCount] = Variable();
  }
  return all;
}

/// Returns the inputs of each direction from a list that edges_of() returned.
std::vector<RnnInputs> sides_of(const variable_list& edges) {
  std::vector<RnnInputs> sides(edges.size() / RnnInputs::kCount);
  for (std::size_t i = 0; i < edges.size(); ++i)
    sides[i / RnnInputs::kCount][i % RnnInputs::kCount] = edges[i];
  for (RnnInputs& in : sides) in[RnnInputs::kRows] = edges[RnnInputs::kRows];
  return sides;
}

RnnLayerResult by_directions(const char* op, ArrayRef<RnnInputs> sides, const RnnSteps& steps) {
  RnnLayerResult out;
  std::vector<Variable> rows;
  RnnSteps way = steps;
  for (std::size_t d = 0; d < sides.size(); ++d) {
    way.reverse = d == 1;
    RnnResult one = rnn_direction(op, sides[d], way);
    rows.push_back(std::move(one.rows));
    out.hidden.push_back(std::move(one.hidden));
    if (one.cell.defined()) out.cell.push_back(std::move(one.cell));
  }
  out.rows = rows.size() == 1 ? rows[0] : cat(rows, 1);
  return out;
}

/// The node of a layer that a library has computed. If the library has no backward pass for the layer, or if
/// gradients are recorded, the layer is computed again, one direction after another.
struct CudnnRnnBackward final : autograd::Node {
  SavedVariables inputs{this};
  autograd::SavedVariable result{this};
  NdArray kept;
  RnnSteps steps;

  std::string name() const override { return "CudnnRnnBackward0"; }
  void release_variables() override {
    Node::release_variables();
    kept = NdArray();
  }
  autograd::GradList apply(autograd::GradList&& grads) override {
    variable_list edges = inputs.unpack();
    grads.resize(3);
    autograd::GradList out(edges.size());
    if (!GradMode::is_enabled() && by_library(out, sides_of(edges), grads)) return out;
    const auto again = [&](const variable_list& placeholders) {
      const RnnLayerResult layer = by_directions("rnn", sides_of(placeholders), steps);
      return variable_list{layer.rows, stack(layer.hidden),
                           layer.cell.empty() ? Variable() : stack(layer.cell)};
    };
    return gradients_by(again, *this, std::move(edges), grads);
  }

 private:
  bool by_library(autograd::GradList& out, ArrayRef<RnnInputs> sides, const autograd::GradList& grads) const {
    bool of_parameters = false;
    for (std::size_t i = 0; i < out.size(); ++i)
      of_parameters = of_parameters || (i % RnnInputs::kCount >= RnnInputs::kInputWeight && needs(i));
    RnnLayerGrads found;
    if (!kernels::rnn_layer_backward(
            kept.device(), found,
            {contiguous_array(grads[0]), contiguous_array(grads[1]), contiguous_array(grads[2]), NdArray()},
            {contiguous_array(result.unpack()), NdArray(), NdArray(), kept}, layer_of(sides, steps),
            of_parameters))
      return false;
    for (std::size_t i = 0; i < out.size(); ++i)
      if (needs(i)) out[i] = of_edge(i, found);
    return true;
  }

  static Variable of_edge(std::size_t i, const RnnLayerGrads& found) {
    const std::size_t side = i / RnnInputs::kCount, input = i % RnnInputs::kCount;
    if (input == RnnInputs::kRows) return Variable(found.rows);
    if (input >= RnnInputs::kInputWeight) return Variable(found.sides[side][input - RnnInputs::kInputWeight]);
    return Variable(input == RnnInputs::kHidden ? found.hidden : found.cell)
        .select(0, static_cast<std::int64_t>(side));
  }
};

/// Computes the layer with a library. Returns false if the library does not support the layer.
bool by_library(RnnLayerResult& result, const char* op, ArrayRef<RnnInputs> sides, const RnnSteps& steps) {
  const Variable& rows = sides[0][RnnInputs::kRows];
  if (!rows.defined() || rows.device().is_cpu()) return false;
  for (const RnnInputs& in : sides) check_rnn_inputs(op, in, steps);
  const variable_list edges = edges_of(sides);
  const bool training = autograd::records(edges);
  RnnOutput computed;
  if (!kernels::rnn_layer(rows.device(), computed, layer_of(sides, steps), training)) return false;
  result.rows = Variable(computed.rows);
  const Variable hidden(computed.hidden),
      cell = computed.cell.defined() ? Variable(computed.cell) : Variable();
  if (const auto node = record_results<CudnnRnnBackward>({&result.rows, &hidden, &cell}, edges)) {
    node->inputs.save(edges);
    node->kept = computed.kept;
    node->steps = steps;
    node->result.save_output(result.rows);
  }
  for (std::int64_t d = 0; d < hidden.size(0); ++d) {
    result.hidden.push_back(hidden.select(0, d));
    if (cell.defined()) result.cell.push_back(cell.select(0, d));
  }
  return true;
}

}  // namespace

RnnLayerResult rnn_layer(const char* op, ArrayRef<RnnInputs> sides, const RnnSteps& steps) {
  RnnLayerResult out;
  return by_library(out, op, sides, steps) ? out : by_directions(op, sides, steps);
}

}  // namespace ebb::ops
