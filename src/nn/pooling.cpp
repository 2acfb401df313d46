#include <ebb/nn/functional/pooling.h>
#include <ebb/nn/modules/pooling.h>

#include <ostream>

#include "nn/module_tools.h"
#include "nn/print.h"

namespace ebb::nn {

namespace F = functional;

namespace {

std::string impl_name(const char* kind, std::size_t dims) {
  return "ebb::nn::" + std::string(kind) + std::to_string(dims) + "dImpl";
}

std::string sizes_text(const ExpandingArray<1>& sizes) { return text_of(sizes); }
template <std::size_t D>
std::string sizes_text(const ExpandingArrayWithOptionalElem<D>& sizes) {
  std::string out = "[";
  for (std::size_t i = 0; i < D; ++i) {
    if (i) out += ", ";
    out += (*sizes)[i] ? std::to_string(*(*sizes)[i]) : "None";
  }
  return out + "]";
}

}  // namespace

template <std::size_t D>
AvgPoolImpl<D>::AvgPoolImpl(AvgPoolOptions<D> options_)
    : Cloneable<AvgPoolImpl<D>>(impl_name("AvgPool", D)), options(std::move(options_)) {}
template <std::size_t D>
void AvgPoolImpl<D>::reset() {}
template <std::size_t D>
void AvgPoolImpl<D>::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::AvgPool" << D << "d(kernel_size=" << text_of(options.kernel_size())
         << ", stride=" << text_of(options.stride()) << ", padding=" << text_of(options.padding()) << ")";
}
template <std::size_t D>
Variable AvgPoolImpl<D>::forward(const Variable& input) {
  return at_path(*this, [&] {
    if constexpr (D == 1)
      return F::avg_pool1d(input, options);
    else if constexpr (D == 2)
      return F::avg_pool2d(input, options);
    else
      return F::avg_pool3d(input, options);
  });
}

template <std::size_t D>
MaxPoolImpl<D>::MaxPoolImpl(MaxPoolOptions<D> options_)
    : Cloneable<MaxPoolImpl<D>>(impl_name("MaxPool", D)), options(std::move(options_)) {}
template <std::size_t D>
void MaxPoolImpl<D>::reset() {}
template <std::size_t D>
void MaxPoolImpl<D>::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::MaxPool" << D << "d(kernel_size=" << text_of(options.kernel_size())
         << ", stride=" << text_of(options.stride()) << ", padding=" << text_of(options.padding())
         << ", dilation=" << text_of(options.dilation()) << ", ceil_mode=" << text_of(options.ceil_mode())
         << ")";
}
template <std::size_t D>
Variable MaxPoolImpl<D>::forward(const Variable& input) {
  return at_path(*this, [&] {
    if constexpr (D == 1)
      return F::max_pool1d(input, options);
    else if constexpr (D == 2)
      return F::max_pool2d(input, options);
    else
      return F::max_pool3d(input, options);
  });
}
template <std::size_t D>
std::tuple<Variable, Variable> MaxPoolImpl<D>::forward_with_indices(const Variable& input) {
  return at_path(*this, [&] {
    if constexpr (D == 1)
      return F::max_pool1d_with_indices(input, options);
    else if constexpr (D == 2)
      return F::max_pool2d_with_indices(input, options);
    else
      return F::max_pool3d_with_indices(input, options);
  });
}

template <std::size_t D>
AdaptiveAvgPoolImpl<D>::AdaptiveAvgPoolImpl(AdaptivePoolOptions<AdaptiveSizes<D>> options_)
    : Cloneable<AdaptiveAvgPoolImpl<D>>(impl_name("AdaptiveAvgPool", D)), options(std::move(options_)) {}
template <std::size_t D>
void AdaptiveAvgPoolImpl<D>::reset() {}
template <std::size_t D>
void AdaptiveAvgPoolImpl<D>::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::AdaptiveAvgPool" << D << "d(output_size=" << sizes_text(options.output_size()) << ")";
}
template <std::size_t D>
Variable AdaptiveAvgPoolImpl<D>::forward(const Variable& input) {
  return at_path(*this, [&] {
    if constexpr (D == 1)
      return F::adaptive_avg_pool1d(input, options);
    else if constexpr (D == 2)
      return F::adaptive_avg_pool2d(input, options);
    else
      return F::adaptive_avg_pool3d(input, options);
  });
}

template <std::size_t D>
AdaptiveMaxPoolImpl<D>::AdaptiveMaxPoolImpl(AdaptivePoolOptions<AdaptiveSizes<D>> options_)
    : Cloneable<AdaptiveMaxPoolImpl<D>>(impl_name("AdaptiveMaxPool", D)), options(std::move(options_)) {}
template <std::size_t D>
void AdaptiveMaxPoolImpl<D>::reset() {}
template <std::size_t D>
void AdaptiveMaxPoolImpl<D>::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::AdaptiveMaxPool" << D << "d(output_size=" << sizes_text(options.output_size()) << ")";
}
template <std::size_t D>
Variable AdaptiveMaxPoolImpl<D>::forward(const Variable& input) {
  return std::get<0>(forward_with_indices(input));
}
template <std::size_t D>
std::tuple<Variable, Variable> AdaptiveMaxPoolImpl<D>::forward_with_indices(const Variable& input) {
  return at_path(*this, [&] {
    if constexpr (D == 1)
      return F::adaptive_max_pool1d_with_indices(input, options);
    else if constexpr (D == 2)
      return F::adaptive_max_pool2d_with_indices(input, options);
    else
      return F::adaptive_max_pool3d_with_indices(input, options);
  });
}

template <std::size_t D>
LPPoolImpl<D>::LPPoolImpl(LPPoolOptions<D> options_)
    : Cloneable<LPPoolImpl<D>>(impl_name("LPPool", D)), options(std::move(options_)) {}
template <std::size_t D>
void LPPoolImpl<D>::reset() {}
template <std::size_t D>
void LPPoolImpl<D>::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::LPPool" << D << "d(norm_type=" << options.norm_type()
         << ", kernel_size=" << text_of(options.kernel_size()) << ", stride=" << text_of(options.stride())
         << ", ceil_mode=" << text_of(options.ceil_mode()) << ")";
}
template <std::size_t D>
Variable LPPoolImpl<D>::forward(const Variable& input) {
  return at_path(*this, [&] {
    if constexpr (D == 1)
      return F::lp_pool1d(input, options);
    else
      return F::lp_pool2d(input, options);
  });
}

template class AvgPoolImpl<1>;
template class AvgPoolImpl<2>;
template class AvgPoolImpl<3>;
template class MaxPoolImpl<1>;
template class MaxPoolImpl<2>;
template class MaxPoolImpl<3>;
template class AdaptiveAvgPoolImpl<1>;
template class AdaptiveAvgPoolImpl<2>;
template class AdaptiveAvgPoolImpl<3>;
template class AdaptiveMaxPoolImpl<1>;
template class AdaptiveMaxPoolImpl<2>;
template class AdaptiveMaxPoolImpl<3>;
template class LPPoolImpl<1>;
template class LPPoolImpl<2>;

}  // namespace ebb::nn
