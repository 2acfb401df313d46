#include <ebb/nn/functional/padding.h>
#include <ebb/nn/modules/padding.h>

#include <ostream>

#include "nn/module_tools.h"
#include "nn/print.h"

namespace ebb::nn {

namespace F = functional;

namespace {

std::string impl_name(const char* kind, std::size_t dims) {
  return "ebb::nn::" + std::string(kind) + "Pad" + std::to_string(dims) + "dImpl";
}

template <std::size_t D>
F::PadFuncOptions pad_options(const ExpandingArray<D>& padding) {
  return F::PadFuncOptions(std::vector<std::int64_t>((*padding).begin(), (*padding).end()));
}

}  // namespace

template <std::size_t D>
ReflectionPadImpl<D>::ReflectionPadImpl(ReflectionPadOptions<D> options_)
    : Cloneable<ReflectionPadImpl<D>>(impl_name("Reflection", D)), options(options_) {}
template <std::size_t D>
void ReflectionPadImpl<D>::reset() {}
template <std::size_t D>
void ReflectionPadImpl<D>::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::ReflectionPad" << D << "d(padding=" << text_of(options.padding()) << ")";
}
template <std::size_t D>
Variable ReflectionPadImpl<D>::forward(const Variable& input) {
  return at_path(*this, [&] { return F::pad(input, pad_options(options.padding()).mode(kReflect)); });
}

template <std::size_t D>
ReplicationPadImpl<D>::ReplicationPadImpl(ReplicationPadOptions<D> options_)
    : Cloneable<ReplicationPadImpl<D>>(impl_name("Replication", D)), options(options_) {}
template <std::size_t D>
void ReplicationPadImpl<D>::reset() {}
template <std::size_t D>
void ReplicationPadImpl<D>::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::ReplicationPad" << D << "d(padding=" << text_of(options.padding()) << ")";
}
template <std::size_t D>
Variable ReplicationPadImpl<D>::forward(const Variable& input) {
  return at_path(*this, [&] { return F::pad(input, pad_options(options.padding()).mode(kReplicate)); });
}

template <std::size_t D>
ZeroPadImpl<D>::ZeroPadImpl(ZeroPadOptions<D> options_)
    : Cloneable<ZeroPadImpl<D>>(impl_name("Zero", D)), options(options_) {}
template <std::size_t D>
void ZeroPadImpl<D>::reset() {}
template <std::size_t D>
void ZeroPadImpl<D>::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::ZeroPad" << D << "d(padding=" << text_of(options.padding()) << ")";
}
template <std::size_t D>
Variable ZeroPadImpl<D>::forward(const Variable& input) {
  return at_path(*this,
                 [&] { return F::pad(input, pad_options(options.padding()).mode(kConstant).value(0)); });
}

template <std::size_t D>
ConstantPadImpl<D>::ConstantPadImpl(ConstantPadOptions<D> options_)
    : Cloneable<ConstantPadImpl<D>>(impl_name("Constant", D)), options(options_) {}
template <std::size_t D>
void ConstantPadImpl<D>::reset() {}
template <std::size_t D>
void ConstantPadImpl<D>::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::ConstantPad" << D << "d(padding=" << text_of(options.padding())
         << ", value=" << options.value() << ")";
}
template <std::size_t D>
Variable ConstantPadImpl<D>::forward(const Variable& input) {
  return at_path(*this, [&] {
    return F::pad(input, pad_options(options.padding()).mode(kConstant).value(options.value()));
  });
}

template class ReflectionPadImpl<1>;
template class ReflectionPadImpl<2>;
template class ReflectionPadImpl<3>;
template class ReplicationPadImpl<1>;
template class ReplicationPadImpl<2>;
template class ReplicationPadImpl<3>;
template class ZeroPadImpl<2>;
template class ConstantPadImpl<1>;
template class ConstantPadImpl<2>;
template class ConstantPadImpl<3>;

FoldImpl::FoldImpl(FoldOptions options_) : options(options_) {}
void FoldImpl::reset() {}
void FoldImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Fold(output_size=" << text_of(options.output_size())
         << ", kernel_size=" << text_of(options.kernel_size()) << ", dilation=" << text_of(options.dilation())
         << ", padding=" << text_of(options.padding()) << ", stride=" << text_of(options.stride()) << ")";
}
Variable FoldImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::fold(input, options); });
}

UnfoldImpl::UnfoldImpl(UnfoldOptions options_) : options(options_) {}
void UnfoldImpl::reset() {}
void UnfoldImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Unfold(kernel_size=" << text_of(options.kernel_size())
         << ", dilation=" << text_of(options.dilation()) << ", padding=" << text_of(options.padding())
         << ", stride=" << text_of(options.stride()) << ")";
}
Variable UnfoldImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::unfold(input, options); });
}

PixelShuffleImpl::PixelShuffleImpl(PixelShuffleOptions options_) : options(options_) {}
void PixelShuffleImpl::reset() {}
void PixelShuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::PixelShuffle(upscale_factor=" << options.upscale_factor() << ")";
}
Variable PixelShuffleImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::pixel_shuffle(input, options); });
}

PixelUnshuffleImpl::PixelUnshuffleImpl(PixelUnshuffleOptions options_) : options(options_) {}
void PixelUnshuffleImpl::reset() {}
void PixelUnshuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::PixelUnshuffle(downscale_factor=" << options.downscale_factor() << ")";
}
Variable PixelUnshuffleImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::pixel_unshuffle(input, options); });
}

UpsampleImpl::UpsampleImpl(UpsampleOptions options_) : options(std::move(options_)) {}
void UpsampleImpl::reset() {}
void UpsampleImpl::pretty_print(std::ostream& stream) const {
  const auto list = [&](const auto& values) {
    const char* separator = "[";
    for (const auto value : values) {
      stream << separator << value;
      separator = ", ";
    }
    stream << "]";
  };
  stream << "ebb::nn::Upsample(";
  if (options.scale_factor()) {
    stream << "scale_factor=";
    list(*options.scale_factor());
  } else if (options.size()) {
    stream << "size=";
    list(*options.size());
  }
  stream << ", mode=" << options.mode().name() << ")";
}
Variable UpsampleImpl::forward(const Variable& input) {
  return at_path(*this, [&] {
    return F::interpolate(input, F::InterpolateFuncOptions()
                                     .size(options.size())
                                     .scale_factor(options.scale_factor())
                                     .mode(options.mode())
                                     .align_corners(options.align_corners()));
  });
}

}  // namespace ebb::nn
