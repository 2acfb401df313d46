// Rows of attention and transformers.
#include "nn/module_rows.h"

namespace modules {

std::vector<Row> attention_rows() {
  std::vector<Row> rows;
  const auto add = [&](Row row) { rows.push_back(std::move(row)); };
  // Dropout of 0 leaves training and evaluation comparable.
  const auto attention = [](std::int64_t heads) { return nn::MultiheadAttentionOptions(6, heads); };
  const Variable q = wave({3, 2, 6}), k = wave({4, 2, 6}, 1), v = wave({4, 2, 6}, 2);
  add(row<nn::MultiheadAttention>("MultiheadAttention", {q, k, v}, nullptr, attention(2)));
  add(row<nn::MultiheadAttention>("MultiheadAttention of one head with further keys", {q, k, v}, nullptr,
                                  attention(1).bias(false).add_bias_kv(true).add_zero_attn(true)));
  add(row<nn::MultiheadAttention>("MultiheadAttention of other widths",
                                  {q, wave({4, 2, 5}, 1), wave({4, 2, 3}, 2)}, nullptr,
                                  attention(3).kdim(5).vdim(3)));
  const auto encoder = [] { return nn::TransformerEncoderLayerOptions(6, 2).dim_feedforward(7).dropout(0); };
  const auto decoder = [] { return nn::TransformerDecoderLayerOptions(6, 2).dim_feedforward(7).dropout(0); };
  add(row<nn::TransformerEncoderLayer>("TransformerEncoderLayer", {q}, nullptr, encoder()));
  add(row<nn::TransformerEncoderLayer>("TransformerEncoderLayer by GELU", {q}, nullptr,
                                       encoder().activation(ebb::kGELU)));
  add(row<nn::TransformerDecoderLayer>("TransformerDecoderLayer", {q, k}, nullptr, decoder()));
  add(row<nn::TransformerEncoder>("TransformerEncoder", {q}, nullptr,
                                  nn::TransformerEncoderOptions(encoder(), 2)));
  add(row<nn::TransformerDecoder>("TransformerDecoder", {q, k}, nullptr,
                                  nn::TransformerDecoderOptions(decoder(), 2)));
  add(row<nn::Transformer>("Transformer", {q, k}, nullptr,
                           nn::TransformerOptions(6, 2, 1, 2).dim_feedforward(7).dropout(0)));
  for (Row& row : rows) {
    row.sequence = nullptr;  // what else they take has defaults that a Sequential does not know
    row.batch = 1;
  }
  return rows;
}

}  // namespace modules
