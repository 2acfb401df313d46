// Convolution functions and modules: Conv1d to Conv3d and ConvTranspose1d to ConvTranspose3d.
#include <ebb/nn/functional/padding.h>
#include <ebb/nn/init.h>
#include <ebb/nn/modules/conv.h>
#include <ebb/ops/conv.h>
#include <ebb/ops/creation.h>

#include "nn/fields.h"
#include "nn/module_tools.h"

#include <cmath>
#include <string_view>

namespace ebb::nn {

namespace functional {

namespace {

optional<Variable> given(const Variable& bias) { return bias.defined() ? optional<Variable>(bias) : nullopt; }

template <std::size_t D, class Convolve>
Variable convolve(const ConvFuncOptions<D>& options, const Convolve& f) {
  if (options.padding().mode()) return f(std::string_view(options.padding().mode()));
  return f(IntArrayRef(options.padding().sizes()));
}

}  // namespace

Variable conv1d(const Variable& input, const Variable& weight, const Conv1dFuncOptions& options) {
  return convolve(options, [&](auto padding) {
    return ebb::conv1d(input, weight, given(options.bias()), options.stride(), padding, options.dilation(),
                       options.groups());
  });
}
Variable conv2d(const Variable& input, const Variable& weight, const Conv2dFuncOptions& options) {
  return convolve(options, [&](auto padding) {
    return ebb::conv2d(input, weight, given(options.bias()), options.stride(), padding, options.dilation(),
                       options.groups());
  });
}
Variable conv3d(const Variable& input, const Variable& weight, const Conv3dFuncOptions& options) {
  return convolve(options, [&](auto padding) {
    return ebb::conv3d(input, weight, given(options.bias()), options.stride(), padding, options.dilation(),
                       options.groups());
  });
}
Variable conv_transpose1d(const Variable& input, const Variable& weight,
                          const ConvTranspose1dFuncOptions& options) {
  return ebb::conv_transpose1d(input, weight, given(options.bias()), options.stride(), options.padding(),
                               options.output_padding(), options.groups(), options.dilation());
}
Variable conv_transpose2d(const Variable& input, const Variable& weight,
                          const ConvTranspose2dFuncOptions& options) {
  return ebb::conv_transpose2d(input, weight, given(options.bias()), options.stride(), options.padding(),
                               options.output_padding(), options.groups(), options.dilation());
}
Variable conv_transpose3d(const Variable& input, const Variable& weight,
                          const ConvTranspose3dFuncOptions& options) {
  return ebb::conv_transpose3d(input, weight, given(options.bias()), options.stride(), options.padding(),
                               options.output_padding(), options.groups(), options.dilation());
}

}  // namespace functional

namespace F = functional;

namespace {

/// Returns the sizes of the weight: (first, second, kernel...).
template <class Options>
DimVector weight_sizes(const Options& options, std::int64_t first, std::int64_t second) {
  DimVector sizes{first, second};
  for (const std::int64_t k : *options.kernel_size()) sizes.push_back(k);
  return sizes;
}

template <class Options>
void check_options(const char* name, const Options& options) {
  EBB_CHECK(options.in_channels() >= 0 && options.out_channels() >= 0, name,
            ": in_channels and out_channels must not be negative, got ", options.in_channels(), " and ",
            options.out_channels(), ".");
  EBB_CHECK(options.groups() > 0, name, ": groups must be a positive integer, got ", options.groups(), ".");
  EBB_CHECK(options.in_channels() % options.groups() == 0, name,
            ": in_channels must be divisible by groups, got ", options.in_channels(), " and ",
            options.groups(), ".");
  EBB_CHECK(options.out_channels() % options.groups() == 0, name,
            ": out_channels must be divisible by groups, got ", options.out_channels(), " and ",
            options.groups(), ".");
}

template <class M>
void init_parameters(M& module) {
  init::kaiming_uniform_(module.weight, std::sqrt(5));
  if (!module.bias.defined()) return;
  const double fan_in = static_cast<double>(std::get<0>(init::_calculate_fan_in_and_fan_out(module.weight)));
  const double bound = fan_in > 0 ? 1 / std::sqrt(fan_in) : 0;
  init::uniform_(module.bias, -bound, bound);
}

template <std::size_t D>
bool all_equal(const ExpandingArray<D>& values, std::int64_t value) {
  for (const std::int64_t v : *values)
    if (v != value) return false;
  return true;
}

template <class Options>
void print_start(Fields& out, const Options& o) {
  out(o.in_channels())(o.out_channels())("kernel_size", o.kernel_size())("stride", o.stride());
}

template <class Options>
void print_end(Fields& out, const Options& o) {
  if (!all_equal(o.dilation(), 1)) out("dilation", o.dilation());
  if constexpr (requires { o.output_padding(); })
    if (!all_equal(o.output_padding(), 0)) out("output_padding", o.output_padding());
  if (o.groups() != 1) out("groups", o.groups());
  if (!o.bias()) out("bias", false);
  if (!(o.padding_mode() == kZeros)) out("padding_mode", o.padding_mode().name());
}

Variable conv(const Variable& x, const Variable& w, const F::ConvFuncOptions<1>& o) {
  return F::conv1d(x, w, o);
}
Variable conv(const Variable& x, const Variable& w, const F::ConvFuncOptions<2>& o) {
  return F::conv2d(x, w, o);
}
Variable conv(const Variable& x, const Variable& w, const F::ConvFuncOptions<3>& o) {
  return F::conv3d(x, w, o);
}
Variable conv_transpose(const Variable& x, const Variable& w, const F::ConvTransposeFuncOptions<1>& o) {
  return F::conv_transpose1d(x, w, o);
}
Variable conv_transpose(const Variable& x, const Variable& w, const F::ConvTransposeFuncOptions<2>& o) {
  return F::conv_transpose2d(x, w, o);
}
Variable conv_transpose(const Variable& x, const Variable& w, const F::ConvTransposeFuncOptions<3>& o) {
  return F::conv_transpose3d(x, w, o);
}

/// Returns the padding sizes for F::pad, which begin with the last dimension.
template <std::size_t D>
std::vector<std::int64_t> border(const ConvOptions<D>& options) {
  std::vector<std::int64_t> sizes;
  const std::string_view mode = options.padding().mode() ? options.padding().mode() : "";
  for (std::size_t i = D; i-- > 0;) {
    std::int64_t left = (*options.padding().sizes())[i], right = left;
    if (mode == "same") {
      const std::int64_t total = (*options.dilation())[i] * ((*options.kernel_size())[i] - 1);
      left = total / 2;
      right = total - left;
    }
    sizes.push_back(left);
    sizes.push_back(right);
  }
  return sizes;
}

}  // namespace

template <std::size_t D>
ConvImpl<D>::ConvImpl(ConvOptions<D> options_) : options(std::move(options_)) {
  ConvImpl::reset();
}

template <std::size_t D>
void ConvImpl<D>::reset() {
  check_options("Conv", options);
  if (options.padding().mode() && options.padding().mode() == std::string_view("same"))
    EBB_CHECK(all_equal(options.stride(), 1),
              "Conv: padding='same' is not supported for strided convolutions.");
  weight = this->register_parameter("weight", empty(weight_sizes(options, options.out_channels(),
                                                                 options.in_channels() / options.groups())));
  if (options.bias())
    bias = this->register_parameter("bias", empty({options.out_channels()}));
  else
    bias = this->register_parameter("bias", {}, /*requires_grad=*/false);
  reset_parameters();
}

template <std::size_t D>
void ConvImpl<D>::reset_parameters() {
  init_parameters(*this);
}

template <std::size_t D>
void ConvImpl<D>::pretty_print(std::ostream& stream) const {
  Fields out(stream, typeid(ConvImpl));
  print_start(out, options);
  if (options.padding().mode())
    out("padding", "'" + std::string(options.padding().mode()) + "'");
  else if (!all_equal(options.padding().sizes(), 0))
    out("padding", options.padding().sizes());
  print_end(out, options);
}

template <std::size_t D>
Variable ConvImpl<D>::forward(const Variable& input) {
  return at_path(*this, [&] {
    auto how = F::ConvFuncOptions<D>()
                   .bias(bias)
                   .stride(options.stride())
                   .dilation(options.dilation())
                   .groups(options.groups());
    if (options.padding_mode() == kZeros) return conv(input, weight, how.padding(options.padding()));
    F::PadFuncOptions pad(border(options));
    if (options.padding_mode() == kReflect)
      pad.mode(kReflect);
    else if (options.padding_mode() == kReplicate)
      pad.mode(kReplicate);
    else
      pad.mode(kCircular);
    return conv(F::pad(input, pad), weight, how);
  });
}

template <std::size_t D>
ConvTransposeImpl<D>::ConvTransposeImpl(ConvTransposeOptions<D> options_) : options(std::move(options_)) {
  ConvTransposeImpl::reset();
}

template <std::size_t D>
void ConvTransposeImpl<D>::reset() {
  check_options("ConvTranspose", options);
  EBB_CHECK(options.padding_mode() == kZeros, "ConvTranspose: Only `zeros` padding mode is supported.");
  weight = this->register_parameter("weight", empty(weight_sizes(options, options.in_channels(),
                                                                 options.out_channels() / options.groups())));
  if (options.bias())
    bias = this->register_parameter("bias", empty({options.out_channels()}));
  else
    bias = this->register_parameter("bias", {}, /*requires_grad=*/false);
  reset_parameters();
}

template <std::size_t D>
void ConvTransposeImpl<D>::reset_parameters() {
  init_parameters(*this);
}

template <std::size_t D>
void ConvTransposeImpl<D>::pretty_print(std::ostream& stream) const {
  Fields out(stream, typeid(ConvTransposeImpl));
  print_start(out, options);
  if (!all_equal(options.padding(), 0)) out("padding", options.padding());
  print_end(out, options);
}

template <std::size_t D>
std::vector<std::int64_t> ConvTransposeImpl<D>::output_padding(
    const Variable& input, const optional<IntArrayRef>& output_size) const {
  std::vector<std::int64_t> out((*options.output_padding()).begin(), (*options.output_padding()).end());
  if (!output_size) return out;
  IntArrayRef wanted = *output_size;
  if (wanted.size() == D + 2) wanted = wanted.slice(2);
  EBB_CHECK(wanted.size() == D, "output_size must have ", std::uint64_t{D}, " or ", std::uint64_t{D + 2},
            " elements (got ", std::uint64_t{wanted.size()},
            "): the spatial sizes, with or without batch and channels.");
  for (std::size_t i = 0; i < D; ++i) {
    const std::int64_t stride = (*options.stride())[i];
    const std::int64_t least =
        (input.size(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(D)) - 1) * stride -
        2 * (*options.padding())[i] + (*options.dilation())[i] * ((*options.kernel_size())[i] - 1) + 1;
    EBB_CHECK(wanted[i] >= least && wanted[i] < least + stride, "requested an output size of ", wanted,
              ", but dimension ", std::uint64_t{i}, " must lie between ", least, " and ", least + stride - 1,
              ".");
    out[i] = wanted[i] - least;
  }
  return out;
}

template <std::size_t D>
Variable ConvTransposeImpl<D>::forward(const Variable& input, const optional<IntArrayRef>& output_size) {
  return at_path(*this, [&] {
    return conv_transpose(input, weight,
                          F::ConvTransposeFuncOptions<D>()
                              .bias(bias)
                              .stride(options.stride())
                              .padding(options.padding())
                              .output_padding(output_padding(input, output_size))
                              .groups(options.groups())
                              .dilation(options.dilation()));
  });
}

template class ConvImpl<1>;
template class Cloneable<ConvImpl<1>>;
template class ConvImpl<2>;
template class Cloneable<ConvImpl<2>>;
template class ConvImpl<3>;
template class Cloneable<ConvImpl<3>>;
template class ConvTransposeImpl<1>;
template class Cloneable<ConvTransposeImpl<1>>;
template class ConvTransposeImpl<2>;
template class Cloneable<ConvTransposeImpl<2>>;
template class ConvTransposeImpl<3>;
template class Cloneable<ConvTransposeImpl<3>>;

}  // namespace ebb::nn
