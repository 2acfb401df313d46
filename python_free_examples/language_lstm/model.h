// Reader: a bidirectional LSTM that classifies texts byte by byte.
#pragma once

#include <ebb/ebb.h>

#include <vector>

namespace nn = ebb::nn;

/// Embedding - bidirectional LSTM - Linear of the last states of both directions.
struct ReaderImpl : nn::Module {
  ReaderImpl(std::int64_t units, std::int64_t classes)
      : embedding(register_module("embedding", nn::Embedding(256, 32))),
        lstm(register_module("lstm", nn::LSTM(nn::LSTMOptions(32, units).bidirectional(true)))),
        dropout(register_module("dropout", nn::Dropout(0.3))),
        head(register_module("head", nn::Linear(2 * units, classes))) {}

  /// Returns the logits [texts, classes] of texts of any lengths. Each text is its bytes, kLong [length].
  ebb::Tensor forward(const std::vector<ebb::Tensor>& texts) {
    using ebb::nn::utils::rnn::PackedSequence;
    const PackedSequence bytes = nn::utils::rnn::pack_sequence(texts, /*enforce_sorted=*/false)
                                     .to(head->weight.options().dtype(ebb::kLong));
    // Packed data has no padding, so layers that process each step separately apply to its rows.
    const PackedSequence letters(dropout(embedding(bytes.data())), bytes.batch_sizes(),
                                 bytes.sorted_indices(), bytes.unsorted_indices());
    const auto [hidden, cell] = std::get<1>(lstm->forward_with_packed_input(letters));
    return head(dropout(ebb::cat({hidden[0], hidden[1]}, 1)));
  }

  nn::Embedding embedding;
  nn::LSTM lstm;
  nn::Dropout dropout;
  nn::Linear head;
};
EBB_MODULE(Reader);
