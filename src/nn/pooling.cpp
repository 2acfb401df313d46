// Pooling functions and modules.
#include <ebb/nn/modules/pooling.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/pool.h>

#include "nn/stateless.h"

#include <cmath>

namespace ebb::nn {

namespace functional {

namespace {

/// Returns the requested output sizes. If a size is nullopt, the input's size is used.
template <std::size_t D>
DimVector output_sizes(const Variable& input, const ExpandingArrayWithOptionalElem<D>& requested) {
  DimVector out;
  for (std::size_t i = 0; i < D; ++i)
    out.push_back((*requested)[i] ? *(*requested)[i]
                                  : input.size(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(D)));
  return out;
}

Variable root_of_mean(const Variable& mean, double norm_type, std::int64_t window) {
  return (mean.sign() * ebb::relu(mean.abs())).mul(static_cast<double>(window)).pow(1.0 / norm_type);
}

}  // namespace

Variable avg_pool1d(const Variable& input, const AvgPool1dFuncOptions& o) {
  return ebb::avg_pool1d(input, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(),
                         o.count_include_pad());
}
Variable avg_pool2d(const Variable& input, const AvgPool2dFuncOptions& o) {
  return ebb::avg_pool2d(input, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(),
                         o.count_include_pad(), o.divisor_override());
}
Variable avg_pool3d(const Variable& input, const AvgPool3dFuncOptions& o) {
  return ebb::avg_pool3d(input, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(),
                         o.count_include_pad(), o.divisor_override());
}
Variable max_pool1d(const Variable& input, const MaxPool1dFuncOptions& o) {
  return ebb::max_pool1d(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(), o.ceil_mode());
}
Variable max_pool2d(const Variable& input, const MaxPool2dFuncOptions& o) {
  return ebb::max_pool2d(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(), o.ceil_mode());
}
Variable max_pool3d(const Variable& input, const MaxPool3dFuncOptions& o) {
  return ebb::max_pool3d(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(), o.ceil_mode());
}
TensorPair max_pool1d_with_indices(const Variable& input, const MaxPool1dFuncOptions& o) {
  return ebb::max_pool1d_with_indices(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(),
                                      o.ceil_mode());
}
TensorPair max_pool2d_with_indices(const Variable& input, const MaxPool2dFuncOptions& o) {
  return ebb::max_pool2d_with_indices(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(),
                                      o.ceil_mode());
}
TensorPair max_pool3d_with_indices(const Variable& input, const MaxPool3dFuncOptions& o) {
  return ebb::max_pool3d_with_indices(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(),
                                      o.ceil_mode());
}
Variable adaptive_avg_pool1d(const Variable& input, const AdaptiveAvgPool1dFuncOptions& o) {
  return ebb::adaptive_avg_pool1d(input, o.output_size());
}
Variable adaptive_avg_pool2d(const Variable& input, const AdaptiveAvgPool2dFuncOptions& o) {
  return ebb::adaptive_avg_pool2d(input, output_sizes(input, o.output_size()));
}
Variable adaptive_avg_pool3d(const Variable& input, const AdaptiveAvgPool3dFuncOptions& o) {
  return ebb::adaptive_avg_pool3d(input, output_sizes(input, o.output_size()));
}
TensorPair adaptive_max_pool1d_with_indices(const Variable& input, const AdaptiveMaxPool1dFuncOptions& o) {
  return ebb::adaptive_max_pool1d(input, o.output_size());
}
TensorPair adaptive_max_pool2d_with_indices(const Variable& input, const AdaptiveMaxPool2dFuncOptions& o) {
  return ebb::adaptive_max_pool2d(input, output_sizes(input, o.output_size()));
}
TensorPair adaptive_max_pool3d_with_indices(const Variable& input, const AdaptiveMaxPool3dFuncOptions& o) {
  return ebb::adaptive_max_pool3d(input, output_sizes(input, o.output_size()));
}
Variable adaptive_max_pool1d(const Variable& input, const AdaptiveMaxPool1dFuncOptions& o) {
  return std::get<0>(adaptive_max_pool1d_with_indices(input, o));
}
Variable adaptive_max_pool2d(const Variable& input, const AdaptiveMaxPool2dFuncOptions& o) {
  return std::get<0>(adaptive_max_pool2d_with_indices(input, o));
}
Variable adaptive_max_pool3d(const Variable& input, const AdaptiveMaxPool3dFuncOptions& o) {
  return std::get<0>(adaptive_max_pool3d_with_indices(input, o));
}

Variable lp_pool1d(const Variable& input, const LPPool1dFuncOptions& o) {
  const Variable mean =
      ebb::avg_pool1d(input.pow(o.norm_type()), o.kernel_size(), o.stride(), 0, o.ceil_mode());
  return root_of_mean(mean, o.norm_type(), (*o.kernel_size())[0]);
}
Variable lp_pool2d(const Variable& input, const LPPool2dFuncOptions& o) {
  const Variable mean =
      ebb::avg_pool2d(input.pow(o.norm_type()), o.kernel_size(), o.stride(), 0, o.ceil_mode());
  return root_of_mean(mean, o.norm_type(), (*o.kernel_size())[0] * (*o.kernel_size())[1]);
}

Variable lp_pool3d(const Variable& input, const LPPool3dFuncOptions& o) {
  const Variable mean =
      ebb::avg_pool3d(input.pow(o.norm_type()), o.kernel_size(), o.stride(), 0, o.ceil_mode());
  const auto& window = *o.kernel_size();
  return root_of_mean(mean, o.norm_type(), window[0] * window[1] * window[2]);
}

}  // namespace functional

namespace F = functional;

template <std::size_t D>
static Variable call(const AvgPoolImpl<D>& m, const Variable& x) {
  if constexpr (D == 1) return F::avg_pool1d(x, m.options);
  if constexpr (D == 2) return F::avg_pool2d(x, m.options);
  if constexpr (D == 3) return F::avg_pool3d(x, m.options);
}
template <std::size_t D>
static void print(Fields& out, const AvgPoolOptions<D>& o) {
  out("kernel_size", o.kernel_size())("stride", o.stride())("padding", o.padding());
}
EBB_STATELESS(AvgPool1dImpl, AvgPool1dOptions, Variable);
EBB_STATELESS(AvgPool2dImpl, AvgPool2dOptions, Variable);
EBB_STATELESS(AvgPool3dImpl, AvgPool3dOptions, Variable);

template <std::size_t D>
static Variable call(const MaxPoolImpl<D>& m, const Variable& x) {
  if constexpr (D == 1) return F::max_pool1d(x, m.options);
  if constexpr (D == 2) return F::max_pool2d(x, m.options);
  if constexpr (D == 3) return F::max_pool3d(x, m.options);
}
template <std::size_t D>
static void print(Fields& out, const MaxPoolOptions<D>& o) {
  out("kernel_size", o.kernel_size())("stride", o.stride())("padding", o.padding())("dilation", o.dilation())(
      "ceil_mode", o.ceil_mode());
}
template <std::size_t D>
std::tuple<Variable, Variable> MaxPoolImpl<D>::forward_with_indices(const Variable& input) {
  return at_path(*this, [&] {
    if constexpr (D == 1) return F::max_pool1d_with_indices(input, this->options);
    if constexpr (D == 2) return F::max_pool2d_with_indices(input, this->options);
    if constexpr (D == 3) return F::max_pool3d_with_indices(input, this->options);
  });
}
template struct MaxPoolImpl<1>;
EBB_STATELESS(MaxPool1dImpl, MaxPool1dOptions, Variable);
template struct MaxPoolImpl<2>;
EBB_STATELESS(MaxPool2dImpl, MaxPool2dOptions, Variable);
template struct MaxPoolImpl<3>;
EBB_STATELESS(MaxPool3dImpl, MaxPool3dOptions, Variable);

template <class Sizes>
static void print(Fields& out, const AdaptivePoolOptions<Sizes>& o) {
  out("output_size", o.output_size());
}
template <std::size_t D>
static Variable call(const AdaptiveAvgPoolImpl<D>& m, const Variable& x) {
  if constexpr (D == 1) return F::adaptive_avg_pool1d(x, m.options);
  if constexpr (D == 2) return F::adaptive_avg_pool2d(x, m.options);
  if constexpr (D == 3) return F::adaptive_avg_pool3d(x, m.options);
}
EBB_STATELESS(AdaptiveAvgPool1dImpl, AdaptiveAvgPool1dOptions, Variable);
EBB_STATELESS(AdaptiveAvgPool2dImpl, AdaptiveAvgPool2dOptions, Variable);
EBB_STATELESS(AdaptiveAvgPool3dImpl, AdaptiveAvgPool3dOptions, Variable);

template <std::size_t D>
static Variable call(const AdaptiveMaxPoolImpl<D>& m, const Variable& x) {
  if constexpr (D == 1) return F::adaptive_max_pool1d(x, m.options);
  if constexpr (D == 2) return F::adaptive_max_pool2d(x, m.options);
  if constexpr (D == 3) return F::adaptive_max_pool3d(x, m.options);
}
template <std::size_t D>
std::tuple<Variable, Variable> AdaptiveMaxPoolImpl<D>::forward_with_indices(const Variable& input) {
  return at_path(*this, [&] {
    if constexpr (D == 1) return F::adaptive_max_pool1d_with_indices(input, this->options);
    if constexpr (D == 2) return F::adaptive_max_pool2d_with_indices(input, this->options);
    if constexpr (D == 3) return F::adaptive_max_pool3d_with_indices(input, this->options);
  });
}
template struct AdaptiveMaxPoolImpl<1>;
EBB_STATELESS(AdaptiveMaxPool1dImpl, AdaptiveMaxPool1dOptions, Variable);
template struct AdaptiveMaxPoolImpl<2>;
EBB_STATELESS(AdaptiveMaxPool2dImpl, AdaptiveMaxPool2dOptions, Variable);
template struct AdaptiveMaxPoolImpl<3>;
EBB_STATELESS(AdaptiveMaxPool3dImpl, AdaptiveMaxPool3dOptions, Variable);

template <std::size_t D>
static Variable call(const LPPoolImpl<D>& m, const Variable& x) {
  if constexpr (D == 1) return F::lp_pool1d(x, m.options);
  if constexpr (D == 2) return F::lp_pool2d(x, m.options);
  if constexpr (D == 3) return F::lp_pool3d(x, m.options);
}
template <std::size_t D>
static void print(Fields& out, const LPPoolOptions<D>& o) {
  out("norm_type", o.norm_type())("kernel_size", o.kernel_size())("stride", o.stride())("ceil_mode",
                                                                                        o.ceil_mode());
}
template <std::size_t D>
static void check(const LPPoolOptions<D>& o) {
  EBB_CHECK(o.norm_type() != 0, "LPPool", std::uint64_t{D},
            "d: norm_type must be a non-zero value, but got 0.");
}
EBB_STATELESS(LPPool1dImpl, LPPool1dOptions, Variable);
EBB_STATELESS(LPPool2dImpl, LPPool2dOptions, Variable);
EBB_STATELESS(LPPool3dImpl, LPPool3dOptions, Variable);

}  // namespace ebb::nn
