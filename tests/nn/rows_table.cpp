// Rows of modules that look rows up in a table, and of those that have a table of classes.
#include "nn/module_rows.h"

namespace modules {

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
  rows.back().slopes = false;  // the slope by the padding's row is left out on purpose
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
  rows.back().slopes = false;  // the loss comes as a number; of the outputs tests/nn has the slopes
  add(row<nn::AdaptiveLogSoftmaxWithLoss>(
      "AdaptiveLogSoftmaxWithLoss with biases", {x, classes}, nullptr,
      nn::AdaptiveLogSoftmaxWithLossOptions(6, 8, {2, 5}).div_value(2).head_bias(true)));
  rows.back().slopes = false;
  // log_prob() and predict() are the siblings of forward(): all classes, and the likeliest.
  const auto siblings = [](nn::AdaptiveLogSoftmaxWithLossImpl& m, In in) -> variable_list {
    const Variable all = m.log_prob(in[0]), likeliest = m.predict(in[0]);
    return {all, likeliest, m.forward(in[0], in[1]).output};
  };
  add(row_called<nn::AdaptiveLogSoftmaxWithLoss>(
      "AdaptiveLogSoftmaxWithLoss by all classes", {x, classes}, siblings, nullptr,
      nn::AdaptiveLogSoftmaxWithLossOptions(6, 8, {2, 5}).div_value(2)));
  rows.back().slopes = false;
  rows.back().hooked = false;
  return rows;
}

}  // namespace modules
