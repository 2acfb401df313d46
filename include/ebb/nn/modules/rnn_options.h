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

/// The common options of RNN, LSTM and GRU.
class EBB_API RNNOptionsBase {
 public:
  using rnn_options_base_mode_t = RNNMode;
  RNNOptionsBase(RNNMode mode, std::int64_t input_size, std::int64_t hidden_size)
      : mode_(mode), input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(RNNMode, mode);
  EBB_ARG(std::int64_t, input_size);      ///< features of the input
  EBB_ARG(std::int64_t, hidden_size);     ///< size of the hidden state
  EBB_ARG(std::int64_t, num_layers) = 1;  ///< number of stacked layers
  EBB_ARG(bool, bias) = true;             ///< adds two learned biases
  EBB_ARG(bool, batch_first) = false;     ///< inputs and outputs are (N, T, F); states do not change
  EBB_ARG(double, dropout) = 0.0;         ///< dropout of the outputs of all layers except the last
  EBB_ARG(bool, bidirectional) = false;   ///< adds a reverse direction; outputs are concatenated
  EBB_ARG(std::int64_t, proj_size) = 0;   ///< LSTM: the size to which h is projected; 0: no projection
};

/// The common options of the cells; num_chunks is the number of gates.
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
  EBB_ARG(std::int64_t, hidden_size);              ///< size of the hidden state
  EBB_ARG(std::int64_t, num_layers) = 1;           ///< number of stacked layers
  EBB_ARG(RNNNonlinearity, nonlinearity) = kTanh;  ///< kTanh or kReLU
  EBB_ARG(bool, bias) = true;                      ///< adds two learned biases
  EBB_ARG(bool, batch_first) = false;              ///< inputs and outputs are (N, T, F); states do not change
  EBB_ARG(double, dropout) = 0.0;                  ///< dropout of the outputs of all layers except the last
  EBB_ARG(bool, bidirectional) = false;            ///< adds a reverse direction; outputs are concatenated
};

/// Options of LSTM.
class EBB_API LSTMOptions {
 public:
  LSTMOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(std::int64_t, input_size);      ///< features of the input
  EBB_ARG(std::int64_t, hidden_size);     ///< size of the cell state, and of the hidden state without
                                          ///< projection
  EBB_ARG(std::int64_t, num_layers) = 1;  ///< number of stacked layers
  EBB_ARG(bool, bias) = true;             ///< adds two learned biases
  EBB_ARG(bool, batch_first) = false;     ///< inputs and outputs are (N, T, F); states do not change
  EBB_ARG(double, dropout) = 0.0;         ///< dropout of the outputs of all layers except the last
  EBB_ARG(bool, bidirectional) = false;   ///< adds a reverse direction; outputs are concatenated
  EBB_ARG(std::int64_t, proj_size) = 0;   ///< the size to which h is projected, < hidden_size; 0: none
};

/// Options of GRU.
class EBB_API GRUOptions {
 public:
  GRUOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(std::int64_t, input_size);      ///< features of the input
  EBB_ARG(std::int64_t, hidden_size);     ///< size of the hidden state
  EBB_ARG(std::int64_t, num_layers) = 1;  ///< number of stacked layers
  EBB_ARG(bool, bias) = true;             ///< adds two learned biases
  EBB_ARG(bool, batch_first) = false;     ///< inputs and outputs are (N, T, F); states do not change
  EBB_ARG(double, dropout) = 0.0;         ///< dropout of the outputs of all layers except the last
  EBB_ARG(bool, bidirectional) = false;   ///< adds a reverse direction; outputs are concatenated
};

/// Options of RNNCell.
class EBB_API RNNCellOptions {
 public:
  RNNCellOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(std::int64_t, input_size);               ///< features of the input
  EBB_ARG(std::int64_t, hidden_size);              ///< size of the hidden state
  EBB_ARG(bool, bias) = true;                      ///< adds two learned biases
  EBB_ARG(RNNNonlinearity, nonlinearity) = kTanh;  ///< kTanh or kReLU
};

/// Options of LSTMCell.
class EBB_API LSTMCellOptions {
 public:
  LSTMCellOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(std::int64_t, input_size);   ///< features of the input
  EBB_ARG(std::int64_t, hidden_size);  ///< size of the hidden state and the cell state
  EBB_ARG(bool, bias) = true;          ///< adds two learned biases
};

/// Options of GRUCell.
class EBB_API GRUCellOptions {
 public:
  GRUCellOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}

  EBB_ARG(std::int64_t, input_size);   ///< features of the input
  EBB_ARG(std::int64_t, hidden_size);  ///< size of the hidden state
  EBB_ARG(bool, bias) = true;          ///< adds two learned biases
};

}  // namespace ebb::nn
