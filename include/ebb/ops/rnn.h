// lstm, gru, rnn_tanh, rnn_relu and their cells. Weights are as in PyTorch: w_ih (gates * hidden, input),
// w_hh (gates * hidden, hidden), biases (gates * hidden). The order of gates is i f g o (LSTM), r z n (GRU).
#pragma once

#include <ebb/autograd/variable.h>

#include <tuple>

namespace ebb {

/// Long short-term memory (Hochreiter and Schmidhuber 1997) with several layers over whole sequences
/// (torch.lstm). The four parts of W_ih x + b_ih + W_hh h + b_hh give i, f, o (by sigmoid) and g (by tanh).
/// Then c = f c + i g, and h = o tanh(c), or h = W_hr (o tanh(c)) with projections. Returns h of the last
/// layer at each step, and the last h and c of each layer.
///
/// Shapes: input is (T, N, F), or (N, T, F) with batch_first. hx contains h (layers * directions, N, P) and c
/// (layers * directions, N, H), where P is H, or smaller with projections. The first result is (T, N,
/// directions * P); the other two have the shapes of h and c in hx. For each layer and each direction, params
/// contains w_ih and w_hh, with has_biases also b_ih and b_hh, and with projections also w_hr (P, H). Layers
/// after the first read directions * P features. The dtype is Float, Double, Half or BFloat16, the same for
/// all. 16-bit inputs are computed in float on the CPU, and rounded at each step on CUDA. `dropout` applies
/// to the outputs of all layers except the last, if `train`. Results are bitwise reproducible for any number
/// of threads. Throws for shapes, dtypes and devices that do not match, and for sequences without steps.
EBB_API std::tuple<Variable, Variable, Variable> lstm(const Variable& input, TensorList hx, TensorList params,
                                                      bool has_biases, std::int64_t num_layers,
                                                      double dropout, bool train, bool bidirectional,
                                                      bool batch_first);
/// lstm over packed sequences: `data` has batch_sizes[t] rows for each step t. batch_sizes (Long, on the CPU)
/// do not increase; see _pack_padded_sequence.
EBB_API std::tuple<Variable, Variable, Variable> lstm(const Variable& data, const Variable& batch_sizes,
                                                      TensorList hx, TensorList params, bool has_biases,
                                                      std::int64_t num_layers, double dropout, bool train,
                                                      bool bidirectional);
/// Gated recurrent units (Cho et al. 2014; torch.gru): r, z = sigmoid(W_ih x + b_ih + W_hh h + b_hh); n =
/// tanh(W_in x + b_in + r (W_hn h + b_hn)); h = (1 - z) n + z h. Arguments are those of lstm(), except that
/// hx is only h.
EBB_API std::tuple<Variable, Variable> gru(const Variable& input, const Variable& hx, TensorList params,
                                           bool has_biases, std::int64_t num_layers, double dropout,
                                           bool train, bool bidirectional, bool batch_first);
EBB_API std::tuple<Variable, Variable> gru(const Variable& data, const Variable& batch_sizes,
                                           const Variable& hx, TensorList params, bool has_biases,
                                           std::int64_t num_layers, double dropout, bool train,
                                           bool bidirectional);
/// h = tanh(W_ih x + b_ih + W_hh h + b_hh) (Elman 1990). Arguments are those of gru() (torch.rnn_tanh).
EBB_API std::tuple<Variable, Variable> rnn_tanh(const Variable& input, const Variable& hx, TensorList params,
                                                bool has_biases, std::int64_t num_layers, double dropout,
                                                bool train, bool bidirectional, bool batch_first);
EBB_API std::tuple<Variable, Variable> rnn_tanh(const Variable& data, const Variable& batch_sizes,
                                                const Variable& hx, TensorList params, bool has_biases,
                                                std::int64_t num_layers, double dropout, bool train,
                                                bool bidirectional);
/// rnn_tanh with max(0, x) in place of tanh (torch.rnn_relu).
EBB_API std::tuple<Variable, Variable> rnn_relu(const Variable& input, const Variable& hx, TensorList params,
                                                bool has_biases, std::int64_t num_layers, double dropout,
                                                bool train, bool bidirectional, bool batch_first);
EBB_API std::tuple<Variable, Variable> rnn_relu(const Variable& data, const Variable& batch_sizes,
                                                const Variable& hx, TensorList params, bool has_biases,
                                                std::int64_t num_layers, double dropout, bool train,
                                                bool bidirectional);

/// Computes one step of an LSTM for input (N, F) and hx with h and c (N, H). Returns the next h and c
/// (torch.lstm_cell).
EBB_API std::tuple<Variable, Variable> lstm_cell(const Variable& input, TensorList hx, const Variable& w_ih,
                                                 const Variable& w_hh, const optional<Variable>& b_ih = {},
                                                 const optional<Variable>& b_hh = {});
/// Computes one step of a GRU for input (N, F) and hx (N, H). Returns the next h (torch.gru_cell).
EBB_API Variable gru_cell(const Variable& input, const Variable& hx, const Variable& w_ih,
                          const Variable& w_hh, const optional<Variable>& b_ih = {},
                          const optional<Variable>& b_hh = {});
/// Computes one step of rnn_tanh (torch.rnn_tanh_cell).
EBB_API Variable rnn_tanh_cell(const Variable& input, const Variable& hx, const Variable& w_ih,
                               const Variable& w_hh, const optional<Variable>& b_ih = {},
                               const optional<Variable>& b_hh = {});
/// Computes one step of rnn_relu (torch.rnn_relu_cell).
EBB_API Variable rnn_relu_cell(const Variable& input, const Variable& hx, const Variable& w_ih,
                               const Variable& w_hh, const optional<Variable>& b_ih = {},
                               const optional<Variable>& b_hh = {});

/// Packs padded sequences (T, N, *), or (N, T, *) with batch_first, step by step without the padding. Returns
/// the rows, and the number of rows of each step. `lengths` (N) are Long, on the CPU, at least 1, and do not
/// increase (torch._pack_padded_sequence).
EBB_API std::tuple<Variable, Variable> _pack_padded_sequence(const Variable& input, const Variable& lengths,
                                                             bool batch_first);
/// Returns the padded sequences and their lengths: the inverse of _pack_padded_sequence
/// (torch._pad_packed_sequence). Sequences are padded with `padding_value` to total_length steps. If
/// total_length is 0 or less, they are padded to the longest sequence.
EBB_API std::tuple<Variable, Variable> _pad_packed_sequence(const Variable& data, const Variable& batch_sizes,
                                                            bool batch_first, const Scalar& padding_value,
                                                            std::int64_t total_length);
/// Pads sequences (L_i, *) to one tensor (T, N, *), or (N, T, *) with batch_first, where T is the largest
/// length. padding_value is added on the "right" or the "left" (torch.nn.utils.rnn.pad_sequence).
EBB_API Variable pad_sequence(TensorList sequences, bool batch_first = false, double padding_value = 0.0,
                              std::string_view padding_side = "right");

}  // namespace ebb
