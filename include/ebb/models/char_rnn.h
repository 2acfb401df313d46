// A recurrent language model.
#pragma once

#include <ebb/models/generate.h>
#include <ebb/nn.h>

#include <variant>

namespace ebb::models {

/// Options of CharRNN.
class EBB_API CharRNNOptions {
 public:
  using Cell = nn::OneOf<enumtype::kLSTM, enumtype::kGRU, enumtype::kRNN_TANH, enumtype::kRNN_RELU>;
  CharRNNOptions(std::int64_t vocab_size) : vocab_size_(vocab_size) {}

  EBB_ARG(std::int64_t, vocab_size);           ///< number of characters
  EBB_ARG(Cell, cell) = kLSTM;                 ///< or kGRU, kRNN_TANH, kRNN_RELU
  EBB_ARG(std::int64_t, embedding_dim) = 128;  ///< width of the embedding
  EBB_ARG(std::int64_t, hidden_size) = 256;    ///< of the hidden state
  EBB_ARG(std::int64_t, num_layers) = 2;       ///< each reads what the one before gives
  EBB_ARG(double, dropout) = 0;                ///< between the layers, and before and after them
};

/// Characters read one after the other by a recurrent layer: an embedding, RNN, LSTM or GRU, and a linear
/// layer (Karpathy 2015; the parts are called as in PyTorch's example word_language_model: encoder.weight,
/// rnn.weight_ih_l0, ..., decoder.weight, decoder.bias, and start as there: U(-0.1, 0.1), the decoder's bias
/// from 0). Throws where ids are not Long [B, T].
struct EBB_API CharRNNImpl : nn::Cloneable<CharRNNImpl> {
  /// What it remembers of the characters read: h, and c where it is an LSTM, [num_layers, B, hidden_size]
  /// each; empty before the first.
  using State = variable_list;

  explicit CharRNNImpl(const CharRNNOptions& options);
  void reset() override;
  /// ids [B, T] to logits [B, T, vocab_size], of the character after each.
  Variable forward(const Variable& ids);
  /// The same, of ids that follow those after which the state was this; and the state after them.
  std::tuple<Variable, State> forward_with_state(const Variable& ids, const State& state);
  /// ids [B, T] with max_new_tokens further ones, [B, T + max_new_tokens], records nothing. Dropout is the
  /// module's: call eval() before. With use_cache the state is kept, which takes the same time for each.
  Variable generate(const Variable& ids, std::int64_t max_new_tokens, const GenerateOptions& options = {});

  CharRNNOptions options;
  nn::Dropout drop = nullptr;
  nn::Embedding encoder = nullptr;
  std::variant<nn::LSTM, nn::GRU, nn::RNN> rnn = nn::LSTM(nullptr);
  nn::Linear decoder = nullptr;
};
EBB_MODULE(CharRNN);

}  // namespace ebb::models
