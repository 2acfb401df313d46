// A network that reads texts byte by byte.
#pragma once

#include <ebb/ebb.h>

#include <vector>

namespace nn = ebb::nn;

/// Embedding - LSTM, forwards and backwards - Linear of the last state of both.
struct ReaderImpl : nn::Module {
  ReaderImpl(std::int64_t units, std::int64_t classes)
      : embedding(register_module("embedding", nn::Embedding(256, 32))),
        lstm(register_module("lstm", nn::LSTM(nn::LSTMOptions(32, units).bidirectional(true)))),
        dropout(register_module("dropout", nn::Dropout(0.3))),
        head(register_module("head", nn::Linear(2 * units, classes))) {}

  /// Texts of any lengths, each the kLong [length] of its bytes; scores, [texts, classes].
  ebb::Tensor forward(const std::vector<ebb::Tensor>& texts) {
    using ebb::nn::utils::rnn::PackedSequence;
    const PackedSequence bytes = nn::utils::rnn::pack_sequence(texts, /*enforce_sorted=*/false)
                                     .to(head->weight.options().dtype(ebb::kLong));
    // What is packed has no padding: layers that see one step at a time work on its rows as they are.
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
