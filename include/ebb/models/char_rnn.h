// CharRNN: a recurrent language model on characters.
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
  EBB_ARG(Cell, cell) = kLSTM;                 ///< the recurrent cell: kLSTM, kGRU, kRNN_TANH or kRNN_RELU
  EBB_ARG(std::int64_t, embedding_dim) = 128;  ///< width of the embedding
  EBB_ARG(std::int64_t, hidden_size) = 256;    ///< size of the hidden state
  EBB_ARG(std::int64_t, num_layers) = 2;       ///< number of stacked recurrent layers
  EBB_ARG(double, dropout) = 0;                ///< dropout probability between the layers, and before and
                                               ///< after them
};

/// A character-level language model: an embedding, an RNN, LSTM or GRU, and a linear layer (Karpathy 2015).
/// Names and initial values are those of PyTorch's example word_language_model. The names are encoder.weight,
/// rnn.weight_ih_l0, ..., decoder.weight, decoder.bias. Initial weights are U(-0.1, 0.1), and the decoder's
/// bias is 0. Throws unless ids are Long [B, T].
struct EBB_API CharRNNImpl : nn::Cloneable<CharRNNImpl> {
  /// The recurrent state: {h}, or {h, c} for an LSTM. Each tensor has the shape [num_layers, B, hidden_size].
  /// The list is empty before the first character.
  using State = variable_list;

  explicit CharRNNImpl(const CharRNNOptions& options);
  void reset() override;
  /// Returns logits [B, T, vocab_size] of the next character at each position, for ids [B, T].
  Variable forward(const Variable& ids);
  /// Continues from `state`, the state after earlier ids. Also returns the new state.
  std::tuple<Variable, State> forward_with_state(const Variable& ids, const State& state);
  /// Appends max_new_tokens generated ids to ids [B, T] and returns [B, T + max_new_tokens]. Records no
  /// graph. Dropout follows the module's mode: call eval() first. With use_cache, each step reads one token
  /// and continues from the state. Without it, each step reads all tokens again.
  Variable generate(const Variable& ids, std::int64_t max_new_tokens, const GenerateOptions& options = {});

  CharRNNOptions options;
  nn::Dropout drop = nullptr;
  nn::Embedding encoder = nullptr;
  std::variant<nn::LSTM, nn::GRU, nn::RNN> rnn = nn::LSTM(nullptr);
  nn::Linear decoder = nullptr;
};
EBB_MODULE(CharRNN);

}  // namespace ebb::models
