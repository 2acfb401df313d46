// Options of recurrent layers and cells.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/arg.h>
#include <ebb/nn/enums.h>

#include <cstdint>

namespace ebb::nn {

using RNNNonlinearity = OneOf<enumtype::kTanh, enumtype::kReLU>;

namespace detail {

using RNNMode = OneOf<enumtype::kLSTM, enumtype::kGRU, enumtype::kRNN_TANH, enumtype::kRNN_RELU>;

/// What RNN, LSTM and GRU have in common.
class EBB_API RNNOptionsBase {
 public:
  using rnn_options_base_mode_t = RNNMode;
  RNNOptionsBase(RNNMode mode, std::int64_t input_size, std::int64_t hidden_size)
      : mode_(mode), input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(RNNMode, mode);
  EBB_ARG(std::int64_t, input_size);      ///< features of the input
  EBB_ARG(std::int64_t, hidden_size);     ///< of the hidden state
  EBB_ARG(std::int64_t, num_layers) = 1;  ///< each reads what the one before gives
  EBB_ARG(bool, bias) = true;             ///< adds two learnt vectors
  EBB_ARG(bool, batch_first) = false;     ///< (N, T, F) in and out, not (T, N, F); states stay as they are
  EBB_ARG(double, dropout) = 0.0;         ///< drops outputs of all layers but the last, in training
  EBB_ARG(bool, bidirectional) = false;   ///< a second one reads backwards; outputs lie side by side
  EBB_ARG(std::int64_t, proj_size) = 0;   ///< LSTM: projects h to that size; 0 does not
};

/// What the cells have in common; num_chunks gates.
class EBB_API RNNCellOptionsBase {
 public:
  RNNCellOptionsBase(std::int64_t input_size, std::int64_t hidden_size, bool bias, std::int64_t num_chunks)
      : input_size_(input_size), hidden_size_(hidden_size), bias_(bias), num_chunks_(num_chunks) {}

  EBB_ARG(std::int64_t, input_size);
  EBB_ARG(std::int64_t, hidden_size);
  EBB_ARG(bool, bias);
  EBB_ARG(std::int64_t, num_chunks);
};

}  // namespace detail

/// Options of RNN.
class EBB_API RNNOptions {
 public:
  RNNOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(std::int64_t, input_size);               ///< features of the input
  EBB_ARG(std::int64_t, hidden_size);              ///< of the hidden state
  EBB_ARG(std::int64_t, num_layers) = 1;           ///< each reads what the one before gives
  EBB_ARG(RNNNonlinearity, nonlinearity) = kTanh;  ///< or kReLU
  EBB_ARG(bool, bias) = true;                      ///< adds two learnt vectors
  EBB_ARG(bool, batch_first) = false;    ///< (N, T, F) in and out, not (T, N, F); states stay as they are
  EBB_ARG(double, dropout) = 0.0;        ///< drops outputs of all layers but the last, in training
  EBB_ARG(bool, bidirectional) = false;  ///< a second one reads backwards; outputs lie side by side
};

/// Options of LSTM.
class EBB_API LSTMOptions {
 public:
  LSTMOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(std::int64_t, input_size);      ///< features of the input
  EBB_ARG(std::int64_t, hidden_size);     ///< of the cell, and of the hidden state unless it is projected
  EBB_ARG(std::int64_t, num_layers) = 1;  ///< each reads what the one before gives
  EBB_ARG(bool, bias) = true;             ///< adds two learnt vectors
  EBB_ARG(bool, batch_first) = false;     ///< (N, T, F) in and out, not (T, N, F); states stay as they are
  EBB_ARG(double, dropout) = 0.0;         ///< drops outputs of all layers but the last, in training
  EBB_ARG(bool, bidirectional) = false;   ///< a second one reads backwards; outputs lie side by side
  EBB_ARG(std::int64_t, proj_size) = 0;   ///< projects h to that size, below hidden_size; 0 does not
};

/// Options of GRU.
class EBB_API GRUOptions {
 public:
  GRUOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(std::int64_t, input_size);      ///< features of the input
  EBB_ARG(std::int64_t, hidden_size);     ///< of the hidden state
  EBB_ARG(std::int64_t, num_layers) = 1;  ///< each reads what the one before gives
  EBB_ARG(bool, bias) = true;             ///< adds two learnt vectors
  EBB_ARG(bool, batch_first) = false;     ///< (N, T, F) in and out, not (T, N, F); states stay as they are
  EBB_ARG(double, dropout) = 0.0;         ///< drops outputs of all layers but the last, in training
  EBB_ARG(bool, bidirectional) = false;   ///< a second one reads backwards; outputs lie side by side
};

/// Options of RNNCell.
class EBB_API RNNCellOptions {
 public:
  RNNCellOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(std::int64_t, input_size);               ///< features of the input
  EBB_ARG(std::int64_t, hidden_size);              ///< of the hidden state
  EBB_ARG(bool, bias) = true;                      ///< adds two learnt vectors
  EBB_ARG(RNNNonlinearity, nonlinearity) = kTanh;  ///< or kReLU
};

/// Options of LSTMCell.
class EBB_API LSTMCellOptions {
 public:
  LSTMCellOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(std::int64_t, input_size);   ///< features of the input
  EBB_ARG(std::int64_t, hidden_size);  ///< of the hidden state and the cell
  EBB_ARG(bool, bias) = true;          ///< adds two learnt vectors
};

/// Options of GRUCell.
class EBB_API GRUCellOptions {
 public:
  GRUCellOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(std::int64_t, input_size);   ///< features of the input
  EBB_ARG(std::int64_t, hidden_size);  ///< of the hidden state
  EBB_ARG(bool, bias) = true;          ///< adds two learnt vectors
};

}  // namespace ebb::nn
