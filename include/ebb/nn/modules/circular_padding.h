// Padding with what stands at the other end, and with zeros in one and three dimensions, as modules.
#pragma once

#include <ebb/nn/modules/padding.h>

namespace ebb::nn {

/// Options of CircularPad: sizes from the last dimension on, left and right.
template <std::size_t D>
class EBB_API CircularPadOptions {
 public:
  CircularPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}

  EBB_ARG(ExpandingArray<D * 2>, padding);
};

/// Pads with what stands at the other end (torch.nn.CircularPad2d).
template <std::size_t D>
struct EBB_API CircularPadImpl : detail::Stateless<CircularPadImpl<D>, CircularPadOptions<D>, Variable> {
  using CircularPadImpl::Stateless::Stateless;
  explicit CircularPadImpl(ExpandingArray<D * 2> padding) : CircularPadImpl(CircularPadOptions<D>(padding)) {}
};

using CircularPad1dOptions = CircularPadOptions<1>;
using CircularPad2dOptions = CircularPadOptions<2>;
using CircularPad3dOptions = CircularPadOptions<3>;
using ZeroPad1dOptions = ZeroPadOptions<1>;
using ZeroPad3dOptions = ZeroPadOptions<3>;
using CircularPad1dImpl = CircularPadImpl<1>;
using CircularPad2dImpl = CircularPadImpl<2>;
using CircularPad3dImpl = CircularPadImpl<3>;
using ZeroPad1dImpl = ZeroPadImpl<1>;
using ZeroPad3dImpl = ZeroPadImpl<3>;
EBB_LIBRARY_MODULE(CircularPad1d);
EBB_LIBRARY_MODULE(CircularPad2d);
EBB_LIBRARY_MODULE(CircularPad3d);
EBB_LIBRARY_MODULE(ZeroPad1d);
EBB_LIBRARY_MODULE(ZeroPad3d);

}  // namespace ebb::nn
