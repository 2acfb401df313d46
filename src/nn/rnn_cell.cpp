// RNNCell, LSTMCell and GRUCell.
#include <ebb/nn/init.h>
#include <ebb/nn/modules/rnn.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/rnn.h>
#include <ebb/ops/shape.h>

#include "nn/fields.h"
#include "nn/module_tools.h"

#include <cmath>

namespace ebb::nn {

namespace detail {

namespace {
optional<Variable> given(const Variable& x) { return x.defined() ? optional<Variable>(x) : nullopt; }
}  // namespace

template <class Derived>
RNNCellImplBase<Derived>::RNNCellImplBase(const RNNCellOptionsBase& options_) : options_base(options_) {
  RNNCellImplBase::reset();
}

template <class Derived>
void RNNCellImplBase<Derived>::reset() {
  const RNNCellOptionsBase& o = options_base;
  EBB_CHECK(o.input_size() >= 0 && o.hidden_size() >= 0, handle_name(typeid(Derived)),
            ": input_size and hidden_size must not be negative, got ", o.input_size(), " and ",
            o.hidden_size(), ".");
  const std::int64_t rows = o.num_chunks() * o.hidden_size();
  weight_ih = this->register_parameter("weight_ih", empty({rows, o.input_size()}));
  weight_hh = this->register_parameter("weight_hh", empty({rows, o.hidden_size()}));
  bias_ih = this->register_parameter("bias_ih", o.bias() ? empty({rows}) : Variable(), o.bias());
  bias_hh = this->register_parameter("bias_hh", o.bias() ? empty({rows}) : Variable(), o.bias());
  reset_parameters();
}

template <class Derived>
void RNNCellImplBase<Derived>::reset_parameters() {
  const double size = static_cast<double>(options_base.hidden_size()),
               bound = size > 0 ? 1 / std::sqrt(size) : 0;
  for (const Variable& weight : this->parameters()) init::uniform_(weight, -bound, bound);
}

template <class Derived>
void RNNCellImplBase<Derived>::pretty_print(std::ostream& stream) const {
  const std::string nonlinearity = get_nonlinearity_str();
  Fields out(stream, typeid(Derived));
  out(options_base.input_size())(options_base.hidden_size());
  if (!options_base.bias()) out("bias", false);
  if (!nonlinearity.empty() && nonlinearity != "kTanh") out("nonlinearity", nonlinearity);
}

template <class Derived>
variable_list RNNCellImplBase<Derived>::run(const Variable& input, variable_list hx) const {
  return at_path(*this, [&]() -> variable_list {
    const RNNCellOptionsBase& o = options_base;
    EBB_CHECK(input.defined(), "expected an input, got an undefined tensor. Assign it before use.");
    EBB_CHECK(input.dim() == 1 || input.dim() == 2, "Expected input to be 1D or 2D, got ", input.dim(),
              "D instead.");
    EBB_CHECK(input.size(-1) == o.input_size(), "input has inconsistent input_size: got ", input.size(-1),
              " expected ", o.input_size(), ".");
    const bool whole = input.dim() == 2;
    const Variable rows = whole ? input : input.unsqueeze(0);
    const bool lstm = o.num_chunks() == 4;
    if (hx.empty() || !hx[0].defined())
      hx.assign(lstm ? 2 : 1, whole ? zeros({rows.size(0), o.hidden_size()}, rows.options())
                                    : zeros({o.hidden_size()}, rows.options()));
    for (Variable& state : hx) {
      EBB_CHECK(state.defined() && (state.dim() == 1 || state.dim() == 2),
                "Expected hidden to be 1D or 2D, got ", state, ".");
      EBB_CHECK(state.dim() == input.dim(), "Expected hidden of as many dimensions as the input, ",
                input.dim(), ", got ", state.dim(), ". Use unsqueeze(0) for a batch of one.");
      if (!whole) state = state.unsqueeze(0);
      EBB_CHECK(state.size(0) == rows.size(0), "Input batch size ", rows.size(0),
                " doesn't match hidden batch size ", state.size(0), ".");
      EBB_CHECK(state.size(1) == o.hidden_size(), "hidden has inconsistent hidden_size: got ", state.size(1),
                ", expected ", o.hidden_size(), ".");
    }
    variable_list out;
    if (lstm) {
      auto [h, c] = lstm_cell(rows, hx, weight_ih, weight_hh, given(bias_ih), given(bias_hh));
      out = {std::move(h), std::move(c)};
    } else {
      const auto step = o.num_chunks() == 3                 ? &gru_cell
                        : get_nonlinearity_str() == "kTanh" ? &rnn_tanh_cell
                                                            : &rnn_relu_cell;
      out = {step(rows, hx[0], weight_ih, weight_hh, given(bias_ih), given(bias_hh))};
    }
    if (!whole)
      for (Variable& state : out) state = state.squeeze(0);
    return out;
  });
}

template class RNNCellImplBase<RNNCellImpl>;
template class RNNCellImplBase<LSTMCellImpl>;
template class RNNCellImplBase<GRUCellImpl>;

}  // namespace detail

RNNCellImpl::RNNCellImpl(const RNNCellOptions& options_)
    : RNNCellImplBase(
          detail::RNNCellOptionsBase(options_.input_size(), options_.hidden_size(), options_.bias(), 1)),
      options(options_) {}
Variable RNNCellImpl::forward(const Variable& input, const Variable& hx) { return run(input, {hx})[0]; }
std::string RNNCellImpl::get_nonlinearity_str() const {
  return options.nonlinearity() == kTanh ? "kTanh" : "kReLU";
}

LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& options_)
    : RNNCellImplBase(
          detail::RNNCellOptionsBase(options_.input_size(), options_.hidden_size(), options_.bias(), 4)),
      options(options_) {}
std::tuple<Variable, Variable> LSTMCellImpl::forward(const Variable& input,
                                                     optional<std::tuple<Variable, Variable>> hx_opt) {
  const variable_list out =
      run(input, hx_opt ? variable_list{std::get<0>(*hx_opt), std::get<1>(*hx_opt)} : variable_list{});
  return {out[0], out[1]};
}

GRUCellImpl::GRUCellImpl(const GRUCellOptions& options_)
    : RNNCellImplBase(
          detail::RNNCellOptionsBase(options_.input_size(), options_.hidden_size(), options_.bias(), 3)),
      options(options_) {}
Variable GRUCellImpl::forward(const Variable& input, const Variable& hx) { return run(input, {hx})[0]; }

template class Cloneable<RNNCellImpl>;
template class Cloneable<LSTMCellImpl>;
template class Cloneable<GRUCellImpl>;

}  // namespace ebb::nn
