// lstm, gru, rnn_tanh, rnn_relu and their cells: several layers, in one direction or both.
#include <ebb/ops/creation.h>
#include <ebb/ops/random.h>
#include <ebb/ops/rnn.h>
#include <ebb/ops/shape.h>

#include "autograd/thread_state.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/rnn/layer.h"

namespace ebb {

namespace {

using ops::RnnInputs;
using ops::RnnKind;
using ops::RnnLayerResult;
using ops::RnnResult;
using ops::RnnSteps;

/// The arguments that all overloads share, with the names of lstm().
struct Stack {
  const char* op;
  RnnKind kind;
  bool has_biases;
  std::int64_t num_layers;
  double dropout;
  bool train, bidirectional;

  std::int64_t directions() const { return bidirectional ? 2 : 1; }
  /// Returns the number of parameters of one layer and direction, without the parameter of a projection.
  std::size_t plain() const { return has_biases ? 4 : 2; }
  bool is_projected(TensorList params) const {
    return kind == RnnKind::lstm &&
           params.size() == static_cast<std::size_t>(num_layers * directions()) * (plain() + 1);
  }
};

/// The parameters and the initial state of each layer and direction.
class Weights {
 public:
  Weights(const Stack& s, TensorList params, const Variable& hidden, const Variable& cell)
      : stack_(s), params_(params), hidden_(hidden), cell_(cell) {
    EBB_CHECK(s.num_layers > 0, s.op, ": num_layers must be greater than zero, got ", s.num_layers, ".");
    const std::int64_t passes = s.num_layers * s.directions();
    const std::size_t plain = s.plain();
    each_ = params.size() / static_cast<std::size_t>(passes);
    const bool fits = each_ * static_cast<std::size_t>(passes) == params.size() &&
                      (each_ == plain || (s.kind == RnnKind::lstm && each_ == plain + 1));
    EBB_CHECK(fits, s.op, ": expected ", plain, " parameters for each of ", passes, " layers and directions",
              s.kind == RnnKind::lstm ? " (one more with projections)" : "", ", got ", params.size(),
              " in all. Check has_biases, num_layers and bidirectional.");
    projected_ = s.is_projected(params);
    check_state("h", hidden, passes);
    if (s.kind == RnnKind::lstm) check_state("c", cell, passes);
  }

  RnnInputs of(std::int64_t pass, const Variable& rows) const {
    const Variable* p = params_.data() + static_cast<std::size_t>(pass) * each_;
    RnnInputs in;
    in[RnnInputs::kRows] = rows;
    in[RnnInputs::kHidden] = hidden_.select(0, pass);
    if (cell_.defined()) in[RnnInputs::kCell] = cell_.select(0, pass);
    in[RnnInputs::kInputWeight] = *p++;
    in[RnnInputs::kHiddenWeight] = *p++;
    if (stack_.has_biases) {
      in[RnnInputs::kInputBias] = *p++;
      in[RnnInputs::kHiddenBias] = *p++;
    }
    if (projected_) in[RnnInputs::kProjection] = *p;
    return in;
  }

 private:
  void check_state(const char* name, const Variable& state, std::int64_t passes) const {
    EBB_CHECK(state.defined(), stack_.op, ": expected hx to hold ", name, ", got an undefined tensor.");
    EBB_CHECK(state.dim() == 3 && state.size(0) == passes, stack_.op, ": Expected hidden size (", passes,
              ", batch, hidden) of ", name, ", got ", state.sizes(), ".");
  }

  const Stack& stack_;
  TensorList params_;
  Variable hidden_, cell_;
  std::size_t each_ = 0;
  bool projected_ = false;
};

RnnResult run(const Stack& s, Variable rows, const RnnSteps& steps, TensorList params, const Variable& hidden,
              const Variable& cell) {
  const Weights weights(s, params, hidden, cell);
  std::vector<Variable> last_hidden, last_cell;
  for (std::int64_t layer = 0; layer < s.num_layers; ++layer) {
    std::vector<RnnInputs> sides;
    for (std::int64_t direction = 0; direction < s.directions(); ++direction)
      sides.push_back(weights.of(layer * s.directions() + direction, rows));
    RnnLayerResult out = ops::rnn_layer(s.op, sides, steps);
    rows = std::move(out.rows);
    last_hidden.insert(last_hidden.end(), out.hidden.begin(), out.hidden.end());
    last_cell.insert(last_cell.end(), out.cell.begin(), out.cell.end());
    if (s.train && s.dropout > 0 && layer + 1 < s.num_layers) rows = dropout(rows, s.dropout, true);
  }
  // Even with one layer the states are copies, not views, because programs detach states in place between
  // batches.
  return {rows, stack(last_hidden), last_cell.empty() ? Variable() : stack(last_cell)};
}

// Returns the casts of PyTorch's autocast rule. On the CPU, PyTorch computes the products of a layer in 16
// bits and the gates in the dtype of the state. An LSTM with `one_op` and Float input is an exception: it is
// one 16-bit op.
ops::Autocast cast_of(RnnKind kind, const Variable& input, const Variable& hidden, const Variable& cell,
                      bool one_op) {
  if (kind == RnnKind::gru) return ops::autocast("gated_layers", hidden);
  if (kind == RnnKind::lstm && !(one_op && input.defined() && input.dtype() == kFloat))
    return ops::autocast("gated_layers", cell);
  return ops::autocast("recurrent_layers", input);
}

// Converts the results of projections to the dtype of products.
RnnResult cast_projections(const Stack& s, TensorList params, RnnResult out) {
  if (!s.is_projected(params)) return out;
  const auto device = static_cast<int>(out.rows.device().type());
  const DType lower = autograd::thread_state.autocast.dtypes[device];
  return {out.rows.to(lower), out.hidden.to(lower), std::move(out.cell)};
}

RnnResult padded(const Stack& s, const Variable& input, TensorList params, const Variable& hidden,
                 const Variable& cell, bool batch_first) {
  if (const auto cast = cast_of(s.kind, input, hidden, cell, !s.is_projected(params))) [[unlikely]]
    return cast_projections(s, params,
                            padded(s, cast(input), cast(params), cast(hidden), cast(cell), batch_first));
  ops::common_device(s.op, input, hidden, cell);
  EBB_CHECK(input.dim() == 3, s.op, ": input must have 3 dimensions, ",
            batch_first ? "(batch, steps, features)" : "(steps, batch, features)", ", got ", input.sizes(),
            ". unsqueeze() adds a batch dimension.");
  const Variable by_steps = batch_first ? input.transpose(0, 1) : input;
  const std::int64_t count = by_steps.size(0), batch = by_steps.size(1);
  EBB_CHECK(count > 0, s.op, ": Expected sequence length to be larger than 0, got shape ", input.sizes(),
            ".");
  RnnSteps steps;
  steps.kind = s.kind;
  for (std::int64_t t = 0; t < count; ++t) steps.batch_sizes.push_back(batch);
  RnnResult out = run(s, by_steps.reshape({count * batch, by_steps.size(2)}), steps, params, hidden, cell);
  out.rows = out.rows.view({count, batch, out.rows.size(1)});
  if (batch_first) out.rows = out.rows.transpose(0, 1);
  return out;
}

RnnResult packed(const Stack& s, const Variable& data, const Variable& batch_sizes, TensorList params,
                 const Variable& hidden, const Variable& cell) {
  if (const auto cast = cast_of(s.kind, data, hidden, cell, /*one_op=*/false)) [[unlikely]]
    return cast_projections(s, params,
                            packed(s, cast(data), batch_sizes, cast(params), cast(hidden), cast(cell)));
  ops::common_device(s.op, data, hidden, cell);
  EBB_CHECK(data.dim() == 2, s.op, ": data of packed sequences must have 2 dimensions, got ", data.sizes(),
            ".");
  RnnSteps steps;
  steps.kind = s.kind;
  steps.batch_sizes = ops::checked_batch_sizes(s.op, data, batch_sizes);
  return run(s, data, steps, params, hidden, cell);
}

const Variable& one_of(const char* op, TensorList hx, std::size_t i) {
  EBB_CHECK(hx.size() == 2, op, ": expected two hidden states, h and c, got ", hx.size(), ".");
  return hx[i];
}

using Pair = std::tuple<Variable, Variable>;
using Triple = std::tuple<Variable, Variable, Variable>;

Pair pair_of(RnnResult out) { return {std::move(out.rows), std::move(out.hidden)}; }
Triple triple_of(RnnResult out) { return {std::move(out.rows), std::move(out.hidden), std::move(out.cell)}; }

RnnResult cell_step(const char* op, RnnKind kind, const Variable& input, const Variable& hidden,
                    const Variable& cell, const Variable& w_ih, const Variable& w_hh,
                    const optional<Variable>& b_ih, const optional<Variable>& b_hh) {
  if (const auto cast = cast_of(kind, input, hidden, cell, /*one_op=*/false)) [[unlikely]]
    return cell_step(op, kind, cast(input), cast(hidden), cast(cell), cast(w_ih), cast(w_hh), cast(b_ih),
                     cast(b_hh));
  ops::common_device(op, input, hidden, cell);
  EBB_CHECK(input.dim() == 2, op, ": expected input (batch, features) of 2 dimensions, got ", input.sizes(),
            ". unsqueeze(0) makes a batch of one.");
  RnnSteps steps;
  steps.kind = kind;
  steps.batch_sizes.push_back(input.size(0));
  RnnInputs in{
      {input, hidden, cell, w_ih, w_hh, b_ih.value_or(Variable()), b_hh.value_or(Variable()), Variable()}};
  return ops::rnn_direction(op, in, steps);
}

}  // namespace

Triple lstm(const Variable& input, TensorList hx, TensorList params, bool has_biases, std::int64_t num_layers,
            double dropout, bool train, bool bidirectional, bool batch_first) {
  const Stack s{"lstm", RnnKind::lstm, has_biases, num_layers, dropout, train, bidirectional};
  return triple_of(padded(s, input, params, one_of(s.op, hx, 0), one_of(s.op, hx, 1), batch_first));
}
Triple lstm(const Variable& data, const Variable& batch_sizes, TensorList hx, TensorList params,
            bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) {
  const Stack s{"lstm", RnnKind::lstm, has_biases, num_layers, dropout, train, bidirectional};
  return triple_of(packed(s, data, batch_sizes, params, one_of(s.op, hx, 0), one_of(s.op, hx, 1)));
}

Pair gru(const Variable& input, const Variable& hx, TensorList params, bool has_biases,
         std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  const Stack s{"gru", RnnKind::gru, has_biases, num_layers, dropout, train, bidirectional};
  return pair_of(padded(s, input, params, hx, Variable(), batch_first));
}
Pair gru(const Variable& data, const Variable& batch_sizes, const Variable& hx, TensorList params,
         bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) {
  const Stack s{"gru", RnnKind::gru, has_biases, num_layers, dropout, train, bidirectional};
  return pair_of(packed(s, data, batch_sizes, params, hx, Variable()));
}

Pair rnn_tanh(const Variable& input, const Variable& hx, TensorList params, bool has_biases,
              std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  const Stack s{"rnn_tanh", RnnKind::tanh, has_biases, num_layers, dropout, train, bidirectional};
  return pair_of(padded(s, input, params, hx, Variable(), batch_first));
}
Pair rnn_tanh(const Variable& data, const Variable& batch_sizes, const Variable& hx, TensorList params,
              bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) {
  const Stack s{"rnn_tanh", RnnKind::tanh, has_biases, num_layers, dropout, train, bidirectional};
  return pair_of(packed(s, data, batch_sizes, params, hx, Variable()));
}

Pair rnn_relu(const Variable& input, const Variable& hx, TensorList params, bool has_biases,
              std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  const Stack s{"rnn_relu", RnnKind::relu, has_biases, num_layers, dropout, train, bidirectional};
  return pair_of(padded(s, input, params, hx, Variable(), batch_first));
}
Pair rnn_relu(const Variable& data, const Variable& batch_sizes, const Variable& hx, TensorList params,
              bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) {
  const Stack s{"rnn_relu", RnnKind::relu, has_biases, num_layers, dropout, train, bidirectional};
  return pair_of(packed(s, data, batch_sizes, params, hx, Variable()));
}

Pair lstm_cell(const Variable& input, TensorList hx, const Variable& w_ih, const Variable& w_hh,
               const optional<Variable>& b_ih, const optional<Variable>& b_hh) {
  const char* const op = "lstm_cell";
  RnnResult out =
      cell_step(op, RnnKind::lstm, input, one_of(op, hx, 0), one_of(op, hx, 1), w_ih, w_hh, b_ih, b_hh);
  return {std::move(out.rows), std::move(out.cell)};
}
Variable gru_cell(const Variable& input, const Variable& hx, const Variable& w_ih, const Variable& w_hh,
                  const optional<Variable>& b_ih, const optional<Variable>& b_hh) {
  return cell_step("gru_cell", RnnKind::gru, input, hx, Variable(), w_ih, w_hh, b_ih, b_hh).rows;
}
Variable rnn_tanh_cell(const Variable& input, const Variable& hx, const Variable& w_ih, const Variable& w_hh,
                       const optional<Variable>& b_ih, const optional<Variable>& b_hh) {
  return cell_step("rnn_tanh_cell", RnnKind::tanh, input, hx, Variable(), w_ih, w_hh, b_ih, b_hh).rows;
}
Variable rnn_relu_cell(const Variable& input, const Variable& hx, const Variable& w_ih, const Variable& w_hh,
                       const optional<Variable>& b_ih, const optional<Variable>& b_hh) {
  return cell_step("rnn_relu_cell", RnnKind::relu, input, hx, Variable(), w_ih, w_hh, b_ih, b_hh).rows;
}

}  // namespace ebb
