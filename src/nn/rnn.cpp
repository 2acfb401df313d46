// RNN, LSTM and GRU: parameters, initial states, and unbatched or packed inputs.
#include <ebb/core/warning.h>
#include <ebb/nn/init.h>
#include <ebb/nn/modules/rnn.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/index.h>
#include <ebb/ops/rnn.h>
#include <ebb/ops/shape.h>

#include "autograd/thread_state.h"
#include "nn/fields.h"
#include "nn/module_tools.h"

#include <cmath>

namespace ebb::nn {

namespace detail {

namespace {

using utils::rnn::PackedSequence;

std::int64_t gates_of(RNNMode mode) { return mode == kLSTM ? 4 : mode == kGRU ? 3 : 1; }
std::int64_t directions_of(const RNNOptionsBase& o) { return o.bidirectional() ? 2 : 1; }
std::int64_t output_size(const RNNOptionsBase& o) {
  return o.proj_size() > 0 ? o.proj_size() : o.hidden_size();
}

void check(const RNNOptionsBase& o) {
  const char* name = o.mode() == kLSTM ? "LSTM" : o.mode() == kGRU ? "GRU" : "RNN";
  EBB_CHECK(o.dropout() >= 0 && o.dropout() <= 1, name, ": dropout should be a number in range [0, 1] ",
            "representing the probability of an element being zeroed, got ", o.dropout(), ".");
  EBB_CHECK(o.input_size() > 0, name, ": input_size must be greater than zero, got ", o.input_size(), ".");
  EBB_CHECK(o.hidden_size() > 0, name, ": hidden_size must be greater than zero, got ", o.hidden_size(), ".");
  EBB_CHECK(o.num_layers() > 0, name, ": num_layers must be greater than zero, got ", o.num_layers(), ".");
  EBB_CHECK(
      o.proj_size() >= 0 && o.proj_size() < o.hidden_size(), name,
      ": proj_size has to be a positive integer, smaller than hidden_size or zero to disable projections, "
      "got ",
      o.proj_size(), ".");
  if (o.dropout() > 0 && o.num_layers() == 1)
    warn(
        "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
        "num_layers ",
        "greater than 1, but got dropout=", o.dropout(), " and num_layers=", o.num_layers());
}

/// One call of a stack of layers.
struct Call {
  const RNNOptionsBase& options;
  const std::vector<Variable>& weights;
  bool train;

  /// Returns the outputs and the last states. `input` is packed if `batch_sizes` is defined, and otherwise
  /// padded.
  variable_list operator()(const Variable& input, const Variable& batch_sizes,
                           const variable_list& hx) const {
    const RNNOptionsBase& o = options;
    const auto layers = [&](auto op) {
      return batch_sizes.defined() ? op(input, batch_sizes, hx[0], weights, o.bias(), o.num_layers(),
                                        o.dropout(), train, o.bidirectional())
                                   : op(input, hx[0], weights, o.bias(), o.num_layers(), o.dropout(), train,
                                        o.bidirectional(), o.batch_first());
    };
    if (o.mode() == kLSTM) {
      auto [rows, h, c] = batch_sizes.defined()
                              ? lstm(input, batch_sizes, hx, weights, o.bias(), o.num_layers(), o.dropout(),
                                     train, o.bidirectional())
                              : lstm(input, hx, weights, o.bias(), o.num_layers(), o.dropout(), train,
                                     o.bidirectional(), o.batch_first());
      return {std::move(rows), std::move(h), std::move(c)};
    }
    auto [rows, h] = o.mode() == kGRU        ? layers([](const auto&... a) { return gru(a...); })
                     : o.mode() == kRNN_TANH ? layers([](const auto&... a) { return rnn_tanh(a...); })
                                             : layers([](const auto&... a) { return rnn_relu(a...); });
    return {std::move(rows), std::move(h)};
  }

  /// Returns the given initial states after a check of their shapes, or zeros if none are given.
  variable_list states(const Variable& input, std::int64_t batch, variable_list hx) const {
    const std::int64_t passes = options.num_layers() * directions_of(options);
    const std::size_t count = options.mode() == kLSTM ? 2 : 1;
    if (hx.empty() || !hx[0].defined()) {
      hx = {zeros({passes, batch, output_size(options)}, input.options())};
      if (count == 2) hx.push_back(zeros({passes, batch, options.hidden_size()}, input.options()));
      return hx;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const DimVector expected{passes, batch, i == 0 ? output_size(options) : options.hidden_size()};
      EBB_CHECK(hx[i].defined() && hx[i].sizes() == IntArrayRef(expected), "Expected hidden",
                count == 2 ? (i == 0 ? "[0]" : "[1]") : "", " size ", IntArrayRef(expected), ", got ", hx[i],
                ".");
    }
    return hx;
  }

  void check_input(const Variable& input, std::int64_t dims) const {
    EBB_CHECK(input.defined(), "expected an input, got an undefined tensor. Assign it before use.");
    EBB_CHECK(input.dim() == dims, "input must have ", dims, " dimensions, got ", input.dim(), ".");
    EBB_CHECK(input.size(-1) == options.input_size(), "input.size(-1) must be equal to input_size. Expected ",
              options.input_size(), ", got ", input.size(-1), ".");
    EBB_CHECK(input.dtype() == weights[0].dtype() || autograd::thread_state.autocast.devices != 0,
              "RNN input dtype (", input.dtype(), ") does not match weight dtype (", weights[0].dtype(),
              "). Convert input: input.to(", weights[0].dtype(), "), or convert model: model->to(",
              input.dtype(), ").");
  }
};

Variable reordered(const Variable& x, const Variable& order) {
  return order.defined() ? x.index_select(1, order) : x;
}

}  // namespace

template <class Derived>
RNNImplBase<Derived>::RNNImplBase(const RNNOptionsBase& options_) : options_base(options_) {
  RNNImplBase::reset();
}

template <class Derived>
void RNNImplBase<Derived>::reset() {
  const RNNOptionsBase& o = options_base;
  check(o);
  flat_weights_.clear();
  const std::int64_t rows = gates_of(o.mode()) * o.hidden_size(), size = output_size(o);
  for (std::int64_t layer = 0; layer < o.num_layers(); ++layer)
    for (std::int64_t direction = 0; direction < directions_of(o); ++direction) {
      const std::string suffix = "_l" + std::to_string(layer) + (direction == 1 ? "_reverse" : "");
      const auto add = [&](const char* name, std::initializer_list<std::int64_t> sizes) {
        flat_weights_.push_back(this->register_parameter(name + suffix, ebb::empty(IntArrayRef(sizes))));
      };
      add("weight_ih", {rows, layer == 0 ? o.input_size() : size * directions_of(o)});
      add("weight_hh", {rows, size});
      if (o.bias()) {
        add("bias_ih", {rows});
        add("bias_hh", {rows});
      }
      if (o.proj_size() > 0) add("weight_hr", {o.proj_size(), o.hidden_size()});
    }
  reset_parameters();
}

template <class Derived>
void RNNImplBase<Derived>::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (const Variable& weight : flat_weights_) init::uniform_(weight, -bound, bound);
}

template <class Derived>
void RNNImplBase<Derived>::pretty_print(std::ostream& stream) const {
  const RNNOptionsBase& o = options_base;
  Fields out(stream, typeid(Derived));
  out("input_size", o.input_size())("hidden_size", o.hidden_size())("num_layers", o.num_layers());
  out("bias", o.bias())("batch_first", o.batch_first())("dropout", o.dropout())("bidirectional",
                                                                                o.bidirectional());
  if (o.proj_size() > 0) out("proj_size", o.proj_size());
}

template <class Derived>
variable_list RNNImplBase<Derived>::run(const Variable& input, variable_list hx) const {
  return at_path(*this, [&] {
    const Call call{options_base, flat_weights_, this->is_training()};
    const std::int64_t batch_dim = options_base.batch_first() ? 0 : 1;
    const bool whole = !input.defined() || input.dim() != 2;
    call.check_input(input, whole ? 3 : 2);
    for (Variable& state : hx) {
      if (!state.defined()) continue;
      EBB_CHECK(state.dim() == (whole ? 3 : 2), "For ", whole ? "batched 3-D" : "unbatched 2-D",
                " input, hx should also be ", whole ? 3 : 2, "-D but got ", state.dim(), "-D tensor.");
      if (!whole) state = state.unsqueeze(1);
    }
    const Variable rows = whole ? input : input.unsqueeze(batch_dim);
    variable_list out = call(rows, Variable(), call.states(rows, rows.size(batch_dim), std::move(hx)));
    if (whole) return out;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i].squeeze(i == 0 ? batch_dim : 1);
    return out;
  });
}

template <class Derived>
std::tuple<PackedSequence, variable_list> RNNImplBase<Derived>::run(const PackedSequence& input,
                                                                    variable_list hx) const {
  return at_path(*this, [&]() -> std::tuple<PackedSequence, variable_list> {
    const Call call{options_base, flat_weights_, this->is_training()};
    call.check_input(input.data(), 2);
    const std::int64_t batch = input.batch_sizes()[0].template item<std::int64_t>();
    hx = call.states(input.data(), batch, std::move(hx));
    for (Variable& state : hx) state = reordered(state, input.sorted_indices());
    variable_list out = call(input.data(), input.batch_sizes(), hx);
    PackedSequence rows(out[0], input.batch_sizes(), input.sorted_indices(), input.unsorted_indices());
    out.erase(out.begin());
    for (Variable& state : out) state = reordered(state, input.unsorted_indices());
    return {std::move(rows), std::move(out)};
  });
}

namespace {

RNNOptionsBase base_of(const RNNOptions& o) {
  RNNOptionsBase base(o.nonlinearity() == kTanh ? RNNMode(kRNN_TANH) : RNNMode(kRNN_RELU), o.input_size(),
                      o.hidden_size());
  return base.num_layers(o.num_layers())
      .bias(o.bias())
      .batch_first(o.batch_first())
      .dropout(o.dropout())
      .bidirectional(o.bidirectional());
}
RNNOptionsBase base_of(const LSTMOptions& o) {
  RNNOptionsBase base(kLSTM, o.input_size(), o.hidden_size());
  return base.num_layers(o.num_layers())
      .bias(o.bias())
      .batch_first(o.batch_first())
      .dropout(o.dropout())
      .bidirectional(o.bidirectional())
      .proj_size(o.proj_size());
}
RNNOptionsBase base_of(const GRUOptions& o) {
  RNNOptionsBase base(kGRU, o.input_size(), o.hidden_size());
  return base.num_layers(o.num_layers())
      .bias(o.bias())
      .batch_first(o.batch_first())
      .dropout(o.dropout())
      .bidirectional(o.bidirectional());
}

variable_list one(Variable hx) { return hx.defined() ? variable_list{std::move(hx)} : variable_list{}; }
variable_list two(const optional<std::tuple<Variable, Variable>>& hx) {
  return hx ? variable_list{std::get<0>(*hx), std::get<1>(*hx)} : variable_list{};
}

}  // namespace

template class RNNImplBase<RNNImpl>;
template class RNNImplBase<LSTMImpl>;
template class RNNImplBase<GRUImpl>;

}  // namespace detail

using detail::base_of, detail::one, detail::two;
using utils::rnn::PackedSequence;

RNNImpl::RNNImpl(const RNNOptions& options_) : RNNImplBase(base_of(options_)), options(options_) {}
std::tuple<Variable, Variable> RNNImpl::forward(const Variable& input, Variable hx) {
  const variable_list out = run(input, one(std::move(hx)));
  return {out[0], out[1]};
}
std::tuple<PackedSequence, Variable> RNNImpl::forward_with_packed_input(const PackedSequence& packed_input,
                                                                        Variable hx) {
  auto [rows, states] = run(packed_input, one(std::move(hx)));
  return {std::move(rows), states[0]};
}

LSTMImpl::LSTMImpl(const LSTMOptions& options_) : RNNImplBase(base_of(options_)), options(options_) {}
std::tuple<Variable, std::tuple<Variable, Variable>> LSTMImpl::forward(
    const Variable& input, optional<std::tuple<Variable, Variable>> hx_opt) {
  const variable_list out = run(input, two(hx_opt));
  return {out[0], {out[1], out[2]}};
}
std::tuple<PackedSequence, std::tuple<Variable, Variable>> LSTMImpl::forward_with_packed_input(
    const PackedSequence& packed_input, optional<std::tuple<Variable, Variable>> hx_opt) {
  auto [rows, states] = run(packed_input, two(hx_opt));
  return {std::move(rows), {states[0], states[1]}};
}

GRUImpl::GRUImpl(const GRUOptions& options_) : RNNImplBase(base_of(options_)), options(options_) {}
std::tuple<Variable, Variable> GRUImpl::forward(const Variable& input, Variable hx) {
  const variable_list out = run(input, one(std::move(hx)));
  return {out[0], out[1]};
}
std::tuple<PackedSequence, Variable> GRUImpl::forward_with_packed_input(const PackedSequence& packed_input,
                                                                        Variable hx) {
  auto [rows, states] = run(packed_input, one(std::move(hx)));
  return {std::move(rows), states[0]};
}

template class Cloneable<RNNImpl>;
template class Cloneable<LSTMImpl>;
template class Cloneable<GRUImpl>;

}  // namespace ebb::nn
