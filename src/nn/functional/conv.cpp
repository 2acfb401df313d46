#include <ebb/nn/functional/conv.h>
#include <ebb/ops/conv.h>

namespace ebb::nn::functional {

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

}  // namespace ebb::nn::functional
