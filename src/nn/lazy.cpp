// LazyImpl: LazyLinear, LazyConv1d and the other lazy modules, which take the number of inputs from their
// first input.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/modules/lazy.h>
#include <ebb/nn/skip_init.h>
#include <ebb/ops/creation.h>

#include "nn/module_tools.h"

#include <sstream>

namespace ebb::nn {
namespace {

// Overloads for the kinds of modules. They return the number of inputs from one of three sources: the
// options, the input tensor, or the sizes of a stored tensor.

std::int64_t& inputs_of(LinearOptions& o) { return o.in_features(); }
template <class Options>
  requires requires(Options& o) { o.in_channels(); }
std::int64_t& inputs_of(Options& o) {
  return o.in_channels();
}
template <class Options>
  requires requires(Options& o) { o.num_features(); }
std::int64_t& inputs_of(Options& o) {
  return o.num_features();
}

template <std::size_t D>
constexpr std::size_t dims_of(const ConvImpl<D>*) {
  return D;
}
template <std::size_t D>
constexpr std::size_t dims_of(const ConvTransposeImpl<D>*) {
  return D;
}
template <std::size_t D>
constexpr std::size_t dims_of(const InstanceNormImpl<D>*) {
  return D;
}

std::int64_t inputs_in(const LinearImpl*, const Variable& input) {
  EBB_CHECK(input.dim() > 0, "LazyLinear: the input must have at least one dimension, got ", input.sizes(),
            ".");
  return input.size(-1);
}
std::int64_t channels_in(const Variable& input, std::int64_t dims, bool single_samples) {
  EBB_CHECK(input.dim() == dims + 2 || (single_samples && input.dim() == dims + 1), "A lazy module of ", dims,
            " dimensions learns its channels from an input of ", dims + 2, " dimensions",
            single_samples ? ", or one less for a single sample" : "", ", got ", input.sizes(), ".");
  return input.size(input.dim() == dims + 2 ? 1 : 0);
}
template <class M>
std::int64_t inputs_in(const M* module, const Variable& input) {
  return channels_in(input, static_cast<std::int64_t>(dims_of(module)), true);
}
template <std::size_t D>
std::int64_t inputs_in(const BatchNormImpl<D>*, const Variable& input) {
  if (D == 1 && input.dim() == 2) return input.size(1);
  return channels_in(input, std::int64_t{D}, false);
}

void resize(const Variable& tensor, const std::vector<std::int64_t>& sizes) {
  if (tensor.defined()) tensor.set_data(ebb::empty(sizes, tensor.options()));
}

void resize_all(LinearImpl& m, std::int64_t inputs) { resize(m.weight, {m.options.out_features(), inputs}); }
template <std::size_t D>
void resize_all(ConvImpl<D>& m, std::int64_t inputs) {
  EBB_CHECK(inputs % m.options.groups() == 0, "Conv: the input's channels, ", inputs,
            ", must be divisible by groups, ", m.options.groups(), ".");
  std::vector<std::int64_t> sizes = m.weight.sizes().vec();
  sizes[1] = inputs / m.options.groups();
  resize(m.weight, sizes);
}
template <std::size_t D>
void resize_all(ConvTransposeImpl<D>& m, std::int64_t inputs) {
  EBB_CHECK(inputs % m.options.groups() == 0, "ConvTranspose: the input's channels, ", inputs,
            ", must be divisible by groups, ", m.options.groups(), ".");
  std::vector<std::int64_t> sizes = m.weight.sizes().vec();
  sizes[0] = inputs;
  resize(m.weight, sizes);
}
template <class Norm>
  requires requires(Norm& m) { m.running_mean; }
void resize_all(Norm& m, std::int64_t inputs) {
  for (Variable* each : {&m.weight, &m.bias, &m.running_mean, &m.running_var}) resize(*each, {inputs});
}

// Returns the number of inputs of a module from the sizes of its weight or running mean.
std::int64_t inputs_of_state(const LinearImpl&, IntArrayRef sizes) {
  return sizes.size() == 2 ? sizes[1] : 0;
}
template <std::size_t D>
std::int64_t inputs_of_state(const ConvImpl<D>& m, IntArrayRef sizes) {
  return sizes.size() == D + 2 ? sizes[1] * m.options.groups() : 0;
}
template <std::size_t D>
std::int64_t inputs_of_state(const ConvTransposeImpl<D>&, IntArrayRef sizes) {
  return sizes.size() == D + 2 ? sizes[0] : 0;
}
template <class Norm>
  requires requires(Norm& m) { m.running_mean; }
std::int64_t inputs_of_state(const Norm&, IntArrayRef sizes) {
  return sizes.size() == 1 ? sizes[0] : 0;
}

// Returns the options with the smallest number of inputs that the base allows. The base is constructed with
// these options, because the actual number of inputs is not known yet.
template <class Options>
Options with_fewest_inputs(Options options, const utils::SkipInitGuard&) {
  std::int64_t fewest = 1;
  if constexpr (requires { options.groups(); }) fewest = options.groups();
  inputs_of(options) = fewest;
  return options;
}

}  // namespace

// The SkipInitGuard exists while the base is constructed. It skips the initialisation of the tensors, because
// they are resized to 0 elements below.
template <class Base>
LazyImpl<Base>::LazyImpl(Options options)
    : Base(with_fewest_inputs(std::move(options), utils::SkipInitGuard())) {
  {
    NoGradGuard no_grad;
    resize_all(static_cast<Base&>(*this), 0);
    inputs_of(this->options) = 0;
  }
  hook_ = this->register_load_state_dict_pre_hook(
      [](Module& module, Module::StateDict& state, const std::string& prefix) {
        auto* const self = dynamic_cast<LazyImpl*>(&module);
        if (!self || !self->has_uninitialized_params()) return;
        for (const char* name : {"weight", "running_mean"}) {
          const Variable* const found = state.find(prefix + name);
          if (!found || !found->defined()) continue;
          if (const std::int64_t inputs = inputs_of_state(*self, found->sizes()); inputs > 0)
            return self->materialize(inputs);
        }
      });
}

template <class Base>
bool LazyImpl<Base>::has_uninitialized_params() const {
  return inputs_of(const_cast<Options&>(this->options)) == 0;
}

template <class Base>
void LazyImpl<Base>::initialize_parameters(const Variable& input) {
  const std::int64_t inputs = inputs_in(static_cast<const Base*>(this), input);
  EBB_CHECK(inputs > 0, "A lazy module cannot learn its size from an input without features, of shape ",
            input.sizes(), ".");
  materialize(inputs);
}

template <class Base>
void LazyImpl<Base>::materialize(std::int64_t inputs) {
  NoGradGuard no_grad;
  resize_all(static_cast<Base&>(*this), inputs);
  inputs_of(this->options) = inputs;
  this->reset_parameters();
  hook_.remove();
}

template <class Base>
std::shared_ptr<Module> LazyImpl<Base>::clone(const optional<Device>& device) const {
  const detail::CloneSession session(*this);
  if (std::shared_ptr<Module> known = session.known()) return known;
  NoGradGuard no_grad;
  auto copy = std::make_shared<LazyImpl>(this->options);
  inputs_of(copy->options) = inputs_of(const_cast<Options&>(this->options));
  if (!has_uninitialized_params()) copy->hook_.remove();
  const auto copy_all = [&](Module::StateDict& to, const Module::StateDict& from) {
    for (const auto& item : from) {
      if (!item->defined()) continue;
      const Variable data = item->detach();
      to[item.key()].set_data(device && data.device() != *device ? data.to(*device) : data.clone());
      to[item.key()].set_requires_grad(item->requires_grad());
    }
  };
  copy_all(copy->parameters_, this->parameters_);
  copy_all(copy->buffers_, this->buffers_);
  copy->train(this->is_training());
  return session.done(std::move(copy));
}

template <class Base>
void LazyImpl<Base>::pretty_print(std::ostream& stream) const {
  std::ostringstream text;
  Base::pretty_print(text);
  std::string printed = text.str();
  if (has_uninitialized_params()) printed.insert(named_by_program("ebb::nn::").size(), "Lazy");
  stream << printed;
}

template class LazyImpl<LinearImpl>;
template class LazyImpl<ConvImpl<1>>;
template class LazyImpl<ConvImpl<2>>;
template class LazyImpl<ConvImpl<3>>;
template class LazyImpl<ConvTransposeImpl<1>>;
template class LazyImpl<ConvTransposeImpl<2>>;
template class LazyImpl<ConvTransposeImpl<3>>;
template class LazyImpl<BatchNormImpl<1>>;
template class LazyImpl<BatchNormImpl<2>>;
template class LazyImpl<BatchNormImpl<3>>;
template class LazyImpl<InstanceNormImpl<1>>;
template class LazyImpl<InstanceNormImpl<2>>;
template class LazyImpl<InstanceNormImpl<3>>;

}  // namespace ebb::nn
