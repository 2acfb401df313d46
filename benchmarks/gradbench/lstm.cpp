// lstm: the loss of recurrent layers with diagonal weights that predict the next of a sequence of vectors.
#include "eval.h"

namespace gradbench {
namespace {

struct Problem {
  Tensor main;      // [2 layers, 4 b]: of each layer the weights and then the biases of its four gates
  Tensor extra;     // [3, b]: input weights, output weights, output biases
  Tensor state;     // [2 layers, b]: of each layer the first hidden state and the first cell
  Tensor sequence;  // [c, b]
};

Problem read_problem(const Json& input, Tensor (*parameter)(const Json&)) {
  return {parameter(input.at("main_params")), parameter(input.at("extra_params")), read(input.at("state")),
          read(input.at("sequence"))};
}

// One step of a layer. Forget and output gate see the input, input gate and change the hidden state.
Tensor step(const Tensor& x, const Tensor& weights, const Tensor& biases, Tensor& hidden, Tensor& cell) {
  const int64_t b = x.size(0);
  const Tensor gates = torch::cat({x, hidden, x, hidden}) * weights + biases;
  const Tensor open = gates.slice(0, 0, 3 * b).sigmoid(), change = gates.slice(0, 3 * b).tanh();
  cell = cell * open.slice(0, 0, b) + open.slice(0, b, 2 * b) * change;
  hidden = open.slice(0, 2 * b) * cell.tanh();
  return hidden;
}

Tensor loss(const Problem& p) {
  const std::vector<Tensor> rows = p.main.unbind(0), inputs = (p.sequence * p.extra.select(0, 0)).unbind(0);
  std::vector<Tensor> state = p.state.unbind(0), outputs;
  for (std::size_t t = 0; t + 1 < inputs.size(); ++t) {
    Tensor x = inputs[t];
    for (std::size_t i = 0; i < rows.size(); i += 2)
      x = step(x, rows[i], rows[i + 1], state[i], state[i + 1]);
    outputs.push_back(x);
  }
  const Tensor predicted = torch::stack(outputs) * p.extra.select(0, 1) + p.extra.select(0, 2);
  const Tensor normalized = predicted - (predicted.exp().sum(1, /*keepdim=*/true) + 2).log();
  return -(p.sequence.slice(0, 1) * normalized).mean();
}

}  // namespace

Eval lstm() {
  return {{"objective",
           [](const Json& input) {
             const Problem p = read_problem(input, read);
             return primal([=] { return loss(p); });
           }},
          {"jacobian", [](const Json& input) {
             const Problem p = read_problem(input, read_input);
             return gradient([=] { return loss(p); }, {p.main, p.extra});
           }}};
}

}  // namespace gradbench
