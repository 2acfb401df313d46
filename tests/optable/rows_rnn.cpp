// Rows of recurrent layers and cells: each sequence alone, one step at a time, by plain loops.
#include <ebb/ops/rnn.h>

#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>
#include <cmath>

namespace optable {
namespace {

enum class Kind { tanh, relu, lstm, gru };

struct Call {
  Kind kind;
  std::vector<std::int64_t> lengths = {3, 3};  // of every sequence, the longest first
  std::int64_t layers = 1, directions = 1, projected = 0, features = 2, hidden = 3;
  bool biases = true, packed = false, batch_first = false, cell = false;

  std::int64_t gates() const { return kind == Kind::lstm ? 4 : kind == Kind::gru ? 3 : 1; }
  std::int64_t out() const { return projected > 0 ? projected : hidden; }
  std::int64_t batch() const { return static_cast<std::int64_t>(lengths.size()); }
  std::size_t states() const { return kind == Kind::lstm ? 2 : 1; }
  std::size_t each() const { return (biases ? 4u : 2u) + (projected > 0 ? 1u : 0u); }
  std::vector<std::int64_t> batch_sizes() const {
    std::vector<std::int64_t> sizes;
    for (std::int64_t t = 0; t < lengths[0]; ++t)
      sizes.push_back(std::count_if(lengths.begin(), lengths.end(), [&](std::int64_t n) { return n > t; }));
    return sizes;
  }
  std::int64_t rows() const {
    std::int64_t n = 0;
    for (const std::int64_t length : lengths) n += length;
    return n;
  }
  /// Returns where row t of sequence n begins among rows of one feature.
  std::int64_t row(std::int64_t n, std::int64_t t) const {
    if (batch_first) return n * lengths[0] + t;
    std::int64_t first = 0;
    const std::vector<std::int64_t> sizes = batch_sizes();
    for (std::int64_t i = 0; i < t; ++i) first += sizes[static_cast<std::size_t>(i)];
    return first + n;
  }
  Sizes sequences(std::int64_t width) const {
    if (cell) return {batch(), width};
    if (packed) return {rows(), width};
    return batch_first ? Sizes{batch(), lengths[0], width} : Sizes{lengths[0], batch(), width};
  }
  Sizes state(std::int64_t width) const {
    return cell ? Sizes{batch(), width} : Sizes{layers * directions, batch(), width};
  }
  std::vector<Sizes> shapes() const {
    std::vector<Sizes> all{sequences(features), state(out())};
    if (kind == Kind::lstm) all.push_back(state(hidden));
    for (std::int64_t pass = 0; pass < layers * directions; ++pass) {
      all.push_back({gates() * hidden, pass < directions ? features : directions * out()});
      all.push_back({gates() * hidden, out()});
      if (biases) all.insert(all.end(), 2, {gates() * hidden});
      if (projected > 0) all.push_back({projected, hidden});
    }
    return all;
  }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The parameters of one layer and direction.
struct Weights {
  const Array *input, *hidden, *input_bias = nullptr, *hidden_bias = nullptr, *projection = nullptr;
};

/// Computes W x + b of a gate.
double affine(const Array& w, const Array* b, std::int64_t row, const Column& x) {
  double sum = b ? (*b)[static_cast<std::size_t>(row)] : 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += w[static_cast<std::size_t>(row) * x.size() + k] * x[k];
  return sum;
}

/// Makes one step, which updates h and c.
void step(const Call& call, const Weights& w, const Column& x, Column& h, Column& c) {
  const std::int64_t size = call.hidden;
  Column next(static_cast<std::size_t>(size));
  for (std::int64_t j = 0; j < size; ++j) {
    const auto from_input = [&](std::int64_t gate) {
      return affine(*w.input, w.input_bias, gate * size + j, x);
    };
    const auto from_hidden = [&](std::int64_t gate) {
      return affine(*w.hidden, w.hidden_bias, gate * size + j, h);
    };
    const auto sum = [&](std::int64_t gate) { return from_input(gate) + from_hidden(gate); };
    const auto at = static_cast<std::size_t>(j);
    if (call.kind == Kind::tanh) next[at] = std::tanh(sum(0));
    if (call.kind == Kind::relu) next[at] = std::max(0.0, sum(0));
    if (call.kind == Kind::gru) {
      const double z = sigmoid(sum(1)), n = std::tanh(from_input(2) + sigmoid(sum(0)) * from_hidden(2));
      next[at] = (1 - z) * n + z * h[at];
    }
    if (call.kind == Kind::lstm) {
      c[at] = sigmoid(sum(1)) * c[at] + sigmoid(sum(0)) * std::tanh(sum(2));
      next[at] = sigmoid(sum(3)) * std::tanh(c[at]);
    }
  }
  if (!w.projection) {
    h = next;
    return;
  }
  for (std::int64_t p = 0; p < call.projected; ++p)
    h[static_cast<std::size_t>(p)] = affine(*w.projection, nullptr, p, next);
}

Weights weights_of(const Call& call, const Arrays& in, std::int64_t pass) {
  std::size_t i = 1 + call.states() + static_cast<std::size_t>(pass) * call.each();
  Weights w{&in[i], &in[i + 1]};
  i += 2;
  if (call.biases) {
    w.input_bias = &in[i++];
    w.hidden_bias = &in[i++];
  }
  if (call.projected > 0) w.projection = &in[i];
  return w;
}

Column row_of(const Array& x, std::int64_t row, std::int64_t width) {
  return Column(x.values.begin() + row * width, x.values.begin() + (row + 1) * width);
}
void put(Array& x, std::int64_t row, const Column& values, std::int64_t at = 0) {
  std::copy(values.begin(), values.end(), x.values.begin() + row * x.sizes.back() + at);
}
Array zeros(Sizes sizes) {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes) n *= size;
  return {std::move(sizes), Column(static_cast<std::size_t>(n))};
}

Row::Reference recurrent(Call call) {
  return [call](const Arrays& in) {
    Arrays out{zeros(call.sequences(call.directions * call.out())), zeros(call.state(call.out()))};
    if (call.kind == Kind::lstm) out.push_back(zeros(call.state(call.hidden)));
    for (std::int64_t n = 0; n < call.batch(); ++n) {
      const std::int64_t length = call.lengths[static_cast<std::size_t>(n)];
      std::vector<Column> rows;
      for (std::int64_t t = 0; t < length; ++t) rows.push_back(row_of(in[0], call.row(n, t), call.features));
      for (std::int64_t layer = 0; layer < call.layers; ++layer) {
        std::vector<Column> next(rows.size());
        for (std::int64_t direction = 0; direction < call.directions; ++direction) {
          const std::int64_t pass = layer * call.directions + direction, state = pass * call.batch() + n;
          const Weights w = weights_of(call, in, pass);
          Column h = row_of(in[1], state, call.out()), c;
          if (call.kind == Kind::lstm) c = row_of(in[2], state, call.hidden);
          std::vector<Column> side(rows.size());
          for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::size_t t = direction == 0 ? i : rows.size() - 1 - i;
            step(call, w, rows[t], h, c);
            side[t] = h;
          }
          for (std::size_t t = 0; t < rows.size(); ++t)
            next[t].insert(next[t].end(), side[t].begin(), side[t].end());
          put(out[1], state, h);
          if (call.kind == Kind::lstm) put(out[2], state, c);
        }
        rows = next;
      }
      for (std::int64_t t = 0; t < length; ++t)
        put(out[0], call.row(n, t), rows[static_cast<std::size_t>(t)]);
    }
    if (call.cell) out.erase(out.begin());  // the state is the result
    return out;
  };
}

variable_list pair(std::tuple<Variable, Variable> x) { return {std::get<0>(x), std::get<1>(x)}; }

variable_list run(const Call& call, In x) {
  const std::size_t first = 1 + call.states();
  const variable_list params(x.begin() + static_cast<std::ptrdiff_t>(first), x.end());
  const Variable sizes = ebb::tensor(call.batch_sizes(), ebb::kLong);
  const bool both = call.directions == 2;
  if (call.kind == Kind::lstm) {
    const auto out =
        call.packed ? ebb::lstm(x[0], sizes, {x[1], x[2]}, params, call.biases, call.layers, 0, true, both)
                    : ebb::lstm(x[0], {x[1], x[2]}, params, call.biases, call.layers, 0, true, both,
                                call.batch_first);
    return {std::get<0>(out), std::get<1>(out), std::get<2>(out)};
  }
  const auto all = [&](auto f) {
    return pair(call.packed
                    ? f(x[0], sizes, x[1], params, call.biases, call.layers, 0.0, true, both)
                    : f(x[0], x[1], params, call.biases, call.layers, 0.0, true, both, call.batch_first));
  };
  if (call.kind == Kind::gru) return all([](const auto&... a) { return ebb::gru(a...); });
  if (call.kind == Kind::tanh) return all([](const auto&... a) { return ebb::rnn_tanh(a...); });
  return all([](const auto&... a) { return ebb::rnn_relu(a...); });
}

variable_list run_cell(const Call& call, In x) {
  const std::size_t w = 1 + call.states();
  const ebb::optional<Variable> b_ih = call.biases ? ebb::optional<Variable>(x[w + 2]) : ebb::nullopt,
                                b_hh = call.biases ? ebb::optional<Variable>(x[w + 3]) : ebb::nullopt;
  switch (call.kind) {
    case Kind::lstm:
      return pair(ebb::lstm_cell(x[0], {x[1], x[2]}, x[w], x[w + 1], b_ih, b_hh));
    case Kind::gru:
      return {ebb::gru_cell(x[0], x[1], x[w], x[w + 1], b_ih, b_hh)};
    case Kind::tanh:
      return {ebb::rnn_tanh_cell(x[0], x[1], x[w], x[w + 1], b_ih, b_hh)};
    default:
      return {ebb::rnn_relu_cell(x[0], x[1], x[w], x[w + 1], b_ih, b_hh)};
  }
}

Row& layers(const std::string& name, const Call& call) {
  // Without gates, larger weights let differences grow from step to step in the enlarged rows. Smaller ones
  // bring relu close to its kink.
  const double most = call.gates() > 1 ? 1 : call.kind == Kind::tanh ? 0.2 : 0.4;
  return row(name, [call](In x) { return call.cell ? run_cell(call, x) : run(call, x); })
      .shapes({call.shapes()})
      .range(-most, most)
      .roundings(6)
      .reference(recurrent(call));
}

void family_of(const std::string& name, Kind kind) {
  layers(name, {.kind = kind})
      .error("3 dimensions",
             [kind] {
               Call call{.kind = kind};
               call.cell = true;
               variable_list x;
               for (const Sizes& sizes : call.shapes()) x.push_back(ebb::ones(sizes));
               call.cell = false;
               run(call, x);
             })
      .error("parameters", [kind] {
        const Call call{.kind = kind};
        variable_list x;
        for (const Sizes& sizes : call.shapes()) x.push_back(ebb::ones(sizes));
        x.pop_back();
        run(call, x);
      });
  layers(name + ".no_biases", {.kind = kind, .biases = false});
  layers(name + ".batch_first", {.kind = kind, .batch_first = true});
  layers(name + ".wide", {.kind = kind, .lengths = {2, 2, 2, 2, 2, 2, 2}, .features = 5, .hidden = 9});
  layers(name + ".bidirectional", {.kind = kind, .directions = 2});
  layers(name + ".two_layers", {.kind = kind, .layers = 2, .hidden = 2});
  layers(name + ".packed", {.kind = kind, .lengths = {4, 2, 2, 1}, .packed = true});
  layers(name + ".packed_both",
         {.kind = kind, .lengths = {3, 2, 1}, .layers = 2, .directions = 2, .hidden = 2, .packed = true})
      .error("batch_sizes", [kind] {
        Call call{.kind = kind, .lengths = {3, 2, 1}};
        call.packed = true;
        variable_list x;
        for (const Sizes& sizes : call.shapes()) x.push_back(ebb::ones(sizes));
        x[0] = ebb::ones({5, 2});
        run(call, x);
      });
  layers(name + "_cell", {.kind = kind, .lengths = {1, 1, 1}, .cell = true})
      .node("RnnLayerBackward0")
      .error("2 dimensions", [kind] {
        const Call call{.kind = kind, .lengths = {1, 1, 1}, .cell = true};
        variable_list x;
        for (const Sizes& sizes : call.shapes()) x.push_back(ebb::ones(sizes));
        x[0] = x[0][0];
        run_cell(call, x);
      });
  layers(name + "_cell.no_biases", {.kind = kind, .lengths = {1, 1}, .biases = false, .cell = true});
}

}  // namespace

void register_rnn() {
  family("rnn");
  family_of("lstm", Kind::lstm);
  layers("lstm.projected", {.kind = Kind::lstm, .projected = 2});
  layers("lstm.projected_packed", {.kind = Kind::lstm,
                                   .lengths = {3, 2, 1},
                                   .layers = 2,
                                   .directions = 2,
                                   .projected = 1,
                                   .hidden = 2,
                                   .packed = true});
  family_of("gru", Kind::gru);
  family_of("rnn_tanh", Kind::tanh);
  family_of("rnn_relu", Kind::relu);
}

}  // namespace optable
