// CharRNN: a recurrent language model.
#include <ebb/models/char_rnn.h>
#include <ebb/nn/init.h>
#include <ebb/nn/skip_init.h>
#include <ebb/ops/shape.h>

#include "models/language_model.h"

namespace ebb::models {

namespace {

constexpr const char* kName = "CharRNN";

template <class Layer, class Options>
Layer layer_of(const CharRNNOptions& o, Options options) {
  // Dropout acts between layers. For a single layer it is set to 0, because the module would otherwise warn
  // that dropout has no effect.
  return Layer(
      options.num_layers(o.num_layers()).batch_first(true).dropout(o.num_layers() > 1 ? o.dropout() : 0));
}

std::variant<nn::LSTM, nn::GRU, nn::RNN> recurrent_layer(const CharRNNOptions& o) {
  const std::int64_t in = o.embedding_dim(), hidden = o.hidden_size();
  if (o.cell() == kLSTM) return layer_of<nn::LSTM>(o, nn::LSTMOptions(in, hidden));
  if (o.cell() == kGRU) return layer_of<nn::GRU>(o, nn::GRUOptions(in, hidden));
  nn::RNNOptions options(in, hidden);
  if (o.cell() == kRNN_RELU) options.nonlinearity(kReLU);
  return layer_of<nn::RNN>(o, options);
}

std::tuple<Variable, CharRNNImpl::State> read(nn::LSTM& lstm, const Variable& x,
                                              const CharRNNImpl::State& state) {
  optional<std::tuple<Variable, Variable>> before;
  if (!state.empty()) before.emplace(state[0], state[1]);
  const auto [out, after] = lstm->forward(x, before);
  return {out, {std::get<0>(after), std::get<1>(after)}};
}

template <class Layer>
std::tuple<Variable, CharRNNImpl::State> read(Layer& layer, const Variable& x,
                                              const CharRNNImpl::State& state) {
  const auto [out, after] = layer->forward(x, state.empty() ? Variable() : state[0]);
  return {out, {after}};
}

}  // namespace

CharRNNImpl::CharRNNImpl(const CharRNNOptions& options_) : options(options_) { CharRNNImpl::reset(); }

void CharRNNImpl::reset() {
  drop = register_module("drop", nn::Dropout(options.dropout()));
  encoder = register_module(
      "encoder", nn::utils::skip_init<nn::Embedding>(options.vocab_size(), options.embedding_dim()));
  rnn = recurrent_layer(options);
  std::visit([this](const auto& layer) { register_module("rnn", layer); }, rnn);
  decoder = register_module("decoder",
                            nn::utils::skip_init<nn::Linear>(options.hidden_size(), options.vocab_size()));
  nn::init::uniform_(encoder->weight, -0.1, 0.1);
  nn::init::uniform_(decoder->weight, -0.1, 0.1);
  nn::init::zeros_(decoder->bias);
}

Variable CharRNNImpl::forward(const Variable& ids) { return std::get<0>(forward_with_state(ids, {})); }

std::tuple<Variable, CharRNNImpl::State> CharRNNImpl::forward_with_state(const Variable& ids,
                                                                         const State& state) {
  check_ids(kName, ids);
  const std::size_t parts = options.cell() == kLSTM ? 2 : 1;
  EBB_CHECK(state.empty() || state.size() == parts, kName, ": a state has ", parts, " tensors, got ",
            state.size(), ".");
  const Variable x = drop(encoder(ids));
  auto [out, after] = std::visit([&](auto& layer) { return read(layer, x, state); }, rnn);
  return {decoder(drop(out)), std::move(after)};
}

Variable CharRNNImpl::generate(const Variable& ids, std::int64_t max_new_tokens,
                               const GenerateOptions& generate_options) {
  State state;
  return extended(kName, ids, max_new_tokens, generate_options, [&](const Variable& tokens) {
    auto [logits, after] = forward_with_state(tokens, state);
    if (generate_options.use_cache()) state = std::move(after);
    return logits.select(1, -1);
  });
}

}  // namespace ebb::models
