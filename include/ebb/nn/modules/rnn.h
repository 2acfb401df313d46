// RNN, LSTM, GRU and their cells as modules.
#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/modules/rnn_options.h>
#include <ebb/nn/utils/rnn.h>

#include <string>
#include <tuple>
#include <vector>

namespace ebb::nn {

namespace detail {

/// The common base of RNN, LSTM and GRU. Parameters are named weight_ih_l0, weight_hh_l0, bias_ih_l0,
/// bias_hh_l0 and, with proj_size, weight_hr_l0. The names of the reverse direction end in "_reverse".
/// Initial values are U(-1 / sqrt(hidden_size), 1 / sqrt(hidden_size)).
template <class Derived>
class EBB_API RNNImplBase : public Cloneable<Derived> {
 public:
  explicit RNNImplBase(const RNNOptionsBase& options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  /// Does nothing, because weights need not be contiguous. Exists for compatibility with libtorch.
  void flatten_parameters() {}
  /// Returns the parameters, layer by layer and direction by direction.
  std::vector<Variable> all_weights() const { return flat_weights_; }

  RNNOptionsBase options_base;

 protected:
  /// Returns all outputs, then the last states. `hx` may be empty.
  variable_list run(const Variable& input, variable_list hx) const;
  std::tuple<utils::rnn::PackedSequence, variable_list> run(const utils::rnn::PackedSequence& input,
                                                            variable_list hx) const;

 private:
  std::vector<Variable> flat_weights_;
};

/// The common base of the cells. Initial values are U(-1 / sqrt(hidden_size), 1 / sqrt(hidden_size)).
template <class Derived>
class EBB_API RNNCellImplBase : public Cloneable<Derived> {
 public:
  explicit RNNCellImplBase(const RNNCellOptionsBase& options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  RNNCellOptionsBase options_base;
  Variable weight_ih;  // (num_chunks * hidden, input)
  Variable weight_hh;  // (num_chunks * hidden, hidden)
  Variable bias_ih;    // (num_chunks * hidden), or undefined; bias_hh has the same shape
  Variable bias_hh;

 protected:
  /// Returns the next states. `hx` may be empty.
  variable_list run(const Variable& input, variable_list hx) const;
  virtual std::string get_nonlinearity_str() const { return ""; }
};

}  // namespace detail

/// h = tanh(W_ih x + b_ih + W_hh h + b_hh), or with relu in place of tanh, in stacked layers (see
/// ebb::rnn_tanh).
///
/// input is (T, N, F), (N, T, F) with batch_first, or (T, F) without a batch. hx is (layers * directions, N,
/// H), zeros by default. Returns h of the last layer at each step, and the last h of each layer.
class EBB_API RNNImpl : public detail::RNNImplBase<RNNImpl> {
 public:
  RNNImpl(std::int64_t input_size, std::int64_t hidden_size) : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  explicit RNNImpl(const RNNOptions& options_);
  std::tuple<Variable, Variable> forward(const Variable& input, Variable hx = {});
  /// `hx` is in the order that the sequences had before they were packed.
  std::tuple<utils::rnn::PackedSequence, Variable> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Variable hx = {});

  RNNOptions options;
};
extern template class detail::RNNImplBase<RNNImpl>;
EBB_LIBRARY_MODULE(RNN);

/// Long short-term memory in stacked layers (see ebb::lstm). Shapes are as in RNN. The state is (h, c). With
/// proj_size, the last dimension of h has the size proj_size.
class EBB_API LSTMImpl : public detail::RNNImplBase<LSTMImpl> {
 public:
  LSTMImpl(std::int64_t input_size, std::int64_t hidden_size)
      : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  explicit LSTMImpl(const LSTMOptions& options_);
  std::tuple<Variable, std::tuple<Variable, Variable>> forward(
      const Variable& input, optional<std::tuple<Variable, Variable>> hx_opt = {});
  std::tuple<utils::rnn::PackedSequence, std::tuple<Variable, Variable>> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, optional<std::tuple<Variable, Variable>> hx_opt = {});

  LSTMOptions options;
};
extern template class detail::RNNImplBase<LSTMImpl>;
EBB_LIBRARY_MODULE(LSTM);

/// Gated recurrent units in stacked layers (see ebb::gru). Shapes are those of RNN.
class EBB_API GRUImpl : public detail::RNNImplBase<GRUImpl> {
 public:
  GRUImpl(std::int64_t input_size, std::int64_t hidden_size) : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(const GRUOptions& options_);
  std::tuple<Variable, Variable> forward(const Variable& input, Variable hx = {});
  std::tuple<utils::rnn::PackedSequence, Variable> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Variable hx = {});

  GRUOptions options;
};
extern template class detail::RNNImplBase<GRUImpl>;
EBB_LIBRARY_MODULE(GRU);

/// One step of an RNN: input (N, F) or (F), hx (N, H) or (H), zeros by default (see ebb::rnn_tanh_cell).
class EBB_API RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl> {
 public:
  RNNCellImpl(std::int64_t input_size, std::int64_t hidden_size)
      : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  explicit RNNCellImpl(const RNNCellOptions& options_);
  Variable forward(const Variable& input, const Variable& hx = {});

  RNNCellOptions options;

 protected:
  std::string get_nonlinearity_str() const override;
};
extern template class detail::RNNCellImplBase<RNNCellImpl>;
EBB_LIBRARY_MODULE(RNNCell);

/// One step of an LSTM: returns the next h and c (see ebb::lstm_cell).
class EBB_API LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl> {
 public:
  LSTMCellImpl(std::int64_t input_size, std::int64_t hidden_size)
      : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  explicit LSTMCellImpl(const LSTMCellOptions& options_);
  std::tuple<Variable, Variable> forward(const Variable& input,
                                         optional<std::tuple<Variable, Variable>> hx_opt = {});

  LSTMCellOptions options;
};
extern template class detail::RNNCellImplBase<LSTMCellImpl>;
EBB_LIBRARY_MODULE(LSTMCell);

/// One step of a GRU (see ebb::gru_cell).
class EBB_API GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl> {
 public:
  GRUCellImpl(std::int64_t input_size, std::int64_t hidden_size)
      : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  explicit GRUCellImpl(const GRUCellOptions& options_);
  Variable forward(const Variable& input, const Variable& hx = {});

  GRUCellOptions options;
};
extern template class detail::RNNCellImplBase<GRUCellImpl>;
EBB_LIBRARY_MODULE(GRUCell);

}  // namespace ebb::nn
