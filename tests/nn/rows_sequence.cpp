// Rows of recurrent layers, attention and transformers, embeddings and adaptive softmax.
#include "nn/module_rows.h"

// Rows of recurrent layers and cells.

namespace modules {

namespace {

// Calls an LSTM on whole sequences, with one tensor for each of its two states.
template <class Holder>
variable_list lstm(nn::Module& module, In x) {
  auto& m = dynamic_cast<typename Holder::ContainedType&>(module);
  return flat(x.size() == 1 ? nn::detail::call_module(m, x[0])
                            : nn::detail::call_module(m, x[0], std::tuple(x[1], x[2])));
}

Variable gate(In in, const Tensors& t) {
  Variable out = in[0].matmul(t["weight_ih"].t()) + in[1].matmul(t["weight_hh"].t());
  if (t["bias_ih"].defined()) out = out + t["bias_ih"] + t["bias_hh"];
  return out;
}

variable_list lstm_cell(In in, const Tensors& t) {
  const std::vector<Variable> part = gate(in, t).chunk(4, -1);
  const Variable c = part[1].sigmoid() * in[2] + part[0].sigmoid() * part[2].tanh();
  return {part[3].sigmoid() * c.tanh(), c};
}

variable_list gru_cell(In in, const Tensors& t) {
  const auto parts = [&](const Variable& x, const char* weight, const char* bias) {
    const Variable y = x.matmul(t[weight].t());
    return (t[bias].defined() ? y + t[bias] : y).chunk(3, -1);
  };
  const std::vector<Variable> a = parts(in[0], "weight_ih", "bias_ih"),
                              b = parts(in[1], "weight_hh", "bias_hh");
  const Variable r = (a[0] + b[0]).sigmoid(), z = (a[1] + b[1]).sigmoid(), n = (a[2] + r * b[2]).tanh();
  return {(1 - z) * n + z * in[1]};
}

const std::vector<std::string> kCell = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};

}  // namespace

std::vector<Row> recurrent_rows() {
  std::vector<Row> rows;
  const auto add = [&](Row row) { rows.push_back(std::move(row)); };
  const auto without_sequence = [&] { rows.back().sequence = nullptr; };
  add(row<nn::RNN>("RNN", {wave({4, 2, 3}), wave({1, 2, 5}, 1)}, nullptr, nn::RNNOptions(3, 5)));
  rows.back().names = {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"};
  add(row<nn::RNN>(
      "RNN of two layers, both ways, by rectifiers, batch first", {wave({2, 4, 3}), wave({4, 2, 5}, 1)},
      nullptr,
      nn::RNNOptions(3, 5).num_layers(2).bidirectional(true).batch_first(true).nonlinearity(ebb::kReLU)));
  add(row<nn::RNN>("RNN unbatched without biases", {wave({4, 3}), wave({1, 5}, 1)}, nullptr,
                   nn::RNNOptions(3, 5).bias(false)));
  add(row<nn::GRU>("GRU", {wave({4, 2, 3}), wave({2, 2, 5}, 1)}, nullptr,
                   nn::GRUOptions(3, 5).bidirectional(true)));
  add(row<nn::GRU>("GRU unbatched and batch first", {wave({4, 3}), wave({2, 1}, 1)}, nullptr,
                   nn::GRUOptions(3, 1).num_layers(2).batch_first(true)));
  add(row<nn::GRU>("GRU with dropout between layers", {wave({3, 2, 3}), wave({2, 2, 4}, 1)}, nullptr,
                   nn::GRUOptions(3, 4).num_layers(2).dropout(0.4)));
  rows.back().draws = true;
  add(row<nn::LSTM>("LSTM from zeros", {wave({4, 2, 3})}, nullptr, nn::LSTMOptions(3, 5)));
  rows.back().call = lstm<nn::LSTM>;
  without_sequence();
  add(row<nn::LSTM>("LSTM projected to one number", {wave({4, 2, 3}), wave({2, 2, 1}, 1), wave({2, 2, 5}, 2)},
                    nullptr, nn::LSTMOptions(3, 5).proj_size(1).bidirectional(true)));
  rows.back().call = lstm<nn::LSTM>;
  add(row<nn::LSTM>("LSTM of two layers, batch first",
                    {wave({3, 4, 3}), wave({2, 3, 5}, 1), wave({2, 3, 5}, 2)}, nullptr,
                    nn::LSTMOptions(3, 5).num_layers(2).batch_first(true).bias(false)));
  rows.back().call = lstm<nn::LSTM>;

  for (const bool bias : {true, false}) {
    const std::string without = bias ? "" : " without biases";
    const auto names = [&] {
      rows.back().names = bias ? kCell : std::vector<std::string>{"weight_ih", "weight_hh"};
    };
    const auto tanh = [](In in, const Tensors& t) -> variable_list { return {gate(in, t).tanh()}; };
    add(row<nn::RNNCell>("RNNCell" + without, {wave({2, 3}), wave({2, 5}, 1)}, tanh,
                         nn::RNNCellOptions(3, 5).bias(bias)));
    names();
    add(row<nn::RNNCell>(
        "RNNCell by rectifiers" + without, {wave({3}), wave({5}, 1)},
        [](In in, const Tensors& t) -> variable_list { return {gate(in, t).relu()}; },
        nn::RNNCellOptions(3, 5).bias(bias).nonlinearity(ebb::kReLU)));
    add(row<nn::GRUCell>("GRUCell" + without, {wave({2, 3}), wave({2, 5}, 1)}, gru_cell,
                         nn::GRUCellOptions(3, 5).bias(bias)));
    names();
    add(row<nn::LSTMCell>("LSTMCell" + without, {wave({2, 3}), wave({2, 5}, 1), wave({2, 5}, 2)}, lstm_cell,
                          nn::LSTMCellOptions(3, 5).bias(bias)));
    rows.back().call = lstm<nn::LSTMCell>;
    names();
  }
  for (Row& row : rows) {
    const bool cell = row.name.find("Cell") != std::string::npos;
    if (row.inputs[0].dim() == (cell ? 1 : 2))
      row.batch = -1;
    else
      row.batch = cell || row.name.find("batch first") != std::string::npos ? 0 : 1;
  }
  return rows;
}

// Rows of attention and transformers.

std::vector<Row> attention_rows() {
  std::vector<Row> rows;
  const auto add = [&](Row row) { rows.push_back(std::move(row)); };
  // With a dropout of 0, training and evaluation have equal results.
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
    row.sequence = nullptr;  // other arguments have defaults, which a Sequential cannot use
    row.batch = 1;
  }
  return rows;
}

// Rows of embeddings and of modules with a table of classes.

std::vector<Row> table_rows() {
  std::vector<Row> rows;
  const auto add = [&](Row row) { rows.push_back(std::move(row)); };
  const Variable places = integers({1, 0, 4, 1, 3, 2}, {2, 3});
  const auto chosen = [](In in, const Tensors& t) -> variable_list {
    return {t["weight"].index_select(0, in[0].flatten()).view({2, 3, 3})};
  };
  add(row<nn::Embedding>("Embedding", {places}, chosen, nn::EmbeddingOptions(5, 3)));
  rows.back().names = {"weight"};
  add(row<nn::Embedding>("Embedding with padding", {places}, chosen,
                         nn::EmbeddingOptions(5, 3).padding_idx(4)));
  rows.back().has_derivatives = false;  // the gradient of the padding row is omitted on purpose
  const auto bags = [&](const std::string& name, auto mode, Formula formula) {
    add(row<nn::EmbeddingBag>(name, {places}, std::move(formula), nn::EmbeddingBagOptions(5, 3).mode(mode)));
    rows.back().sequence = nullptr;
  };
  const auto looked = [](In in, const Tensors& t) {
    return t["weight"].index_select(0, in[0].flatten()).view({2, 3, 3});
  };
  bags("EmbeddingBag of sums", ebb::kSum,
       [=](In in, const Tensors& t) -> variable_list { return {looked(in, t).sum(1)}; });
  bags("EmbeddingBag of means", ebb::kMean,
       [=](In in, const Tensors& t) -> variable_list { return {looked(in, t).mean(1)}; });
  bags("EmbeddingBag of maxima", ebb::kMax,
       [=](In in, const Tensors& t) -> variable_list { return {looked(in, t).amax({1})}; });

  const Variable x = wave({4, 6}), classes = integers({0, 7, 3, 5});
  add(row<nn::AdaptiveLogSoftmaxWithLoss>("AdaptiveLogSoftmaxWithLoss", {x, classes}, nullptr,
                                          nn::AdaptiveLogSoftmaxWithLossOptions(6, 8, {2, 5}).div_value(2)));
  rows.back().has_derivatives =
      false;  // the loss is a scalar; tests/nn checks the derivatives of the outputs
  add(row<nn::AdaptiveLogSoftmaxWithLoss>(
      "AdaptiveLogSoftmaxWithLoss with biases", {x, classes}, nullptr,
      nn::AdaptiveLogSoftmaxWithLossOptions(6, 8, {2, 5}).div_value(2).head_bias(true)));
  rows.back().has_derivatives = false;
  // log_prob() and predict() return all classes and the most likely one.
  const auto siblings = [](nn::AdaptiveLogSoftmaxWithLossImpl& m, In in) -> variable_list {
    const Variable all = m.log_prob(in[0]), likeliest = m.predict(in[0]);
    return {all, likeliest, m.forward(in[0], in[1]).output};
  };
  add(row_called<nn::AdaptiveLogSoftmaxWithLoss>(
      "AdaptiveLogSoftmaxWithLoss by all classes", {x, classes}, siblings, nullptr,
      nn::AdaptiveLogSoftmaxWithLossOptions(6, 8, {2, 5}).div_value(2)));
  rows.back().has_derivatives = false;
  rows.back().hooked = false;
  return rows;
}

}  // namespace modules
