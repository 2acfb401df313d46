// U-Net: image segmentation by an encoder and a decoder with skip connections.
#pragma once

#include <ebb/nn.h>

#include <cstdint>

namespace ebb::models {

/// Two 3x3 convolutions of unchanged size, each with batch normalization and ReLU.
struct EBB_API DoubleConvImpl : nn::Cloneable<DoubleConvImpl> {
  /// `mid_channels` is the number of channels after the first convolution; 0 means out_channels.
  DoubleConvImpl(std::int64_t in_channels_, std::int64_t out_channels_, std::int64_t mid_channels_ = 0);
  void reset() override;
  Variable forward(const Variable& x);

  std::int64_t in_channels, out_channels, mid_channels;
  nn::Sequential double_conv{nullptr};
};
EBB_MODULE(DoubleConv);

/// Max pooling to half the size, followed by a DoubleConv.
struct EBB_API DownImpl : nn::Cloneable<DownImpl> {
  DownImpl(std::int64_t in_channels_, std::int64_t out_channels_);
  void reset() override;
  Variable forward(const Variable& x);

  std::int64_t in_channels, out_channels;
  nn::Sequential maxpool_conv{nullptr};
};
EBB_MODULE(Down);

/// Enlarges x to twice its size, by a transposed convolution to half the channels or bilinearly. Concatenates
/// `skip` and x, and applies a DoubleConv. If skip is larger, x is padded with zeros.
struct EBB_API UpImpl : nn::Cloneable<UpImpl> {
  UpImpl(std::int64_t in_channels_, std::int64_t out_channels_, bool bilinear_);
  void reset() override;
  Variable forward(const Variable& x, const Variable& skip);

  std::int64_t in_channels, out_channels;
  bool bilinear;
  nn::AnyModule up;
  DoubleConv conv{nullptr};
};
EBB_MODULE(Up);

/// A 1x1 convolution.
struct EBB_API OutConvImpl : nn::Cloneable<OutConvImpl> {
  OutConvImpl(std::int64_t in_channels_, std::int64_t out_channels_);
  void reset() override;
  Variable forward(const Variable& x);

  std::int64_t in_channels, out_channels;
  nn::Conv2d conv{nullptr};
};
EBB_MODULE(OutConv);

/// Options of UNet.
class EBB_API UNetOptions {
 public:
  UNetOptions(std::int64_t n_channels, std::int64_t n_classes)
      : n_channels_(n_channels), n_classes_(n_classes) {}

  EBB_ARG(std::int64_t, n_channels);  ///< channels of the images
  EBB_ARG(std::int64_t, n_classes);   ///< number of classes of each pixel
  EBB_ARG(bool, bilinear) = false;    ///< bilinear upsampling in place of transposed convolutions
  EBB_ARG(std::int64_t, width) = 64;  ///< channels of the first level; each of the four lower levels doubles
                                      ///< them
};

/// Four levels down and four up, with a skip connection at each level (Ronneberger, Fischer & Brox 2015,
/// arXiv:1505.04597). Convolutions are padded and followed by batch normalization. Names are as in milesial's
/// Pytorch-UNet. Input (N, n_channels, H, W) of at least 16x16, output (N, n_classes, H, W).
struct EBB_API UNetImpl : nn::Cloneable<UNetImpl> {
  UNetImpl(std::int64_t n_channels, std::int64_t n_classes) : UNetImpl(UNetOptions(n_channels, n_classes)) {}
  explicit UNetImpl(UNetOptions options_);
  void reset() override;
  Variable forward(const Variable& images);

  UNetOptions options;
  DoubleConv inc{nullptr};
  Down down1{nullptr}, down2{nullptr}, down3{nullptr}, down4{nullptr};
  Up up1{nullptr}, up2{nullptr}, up3{nullptr}, up4{nullptr};
  OutConv outc{nullptr};
};
EBB_MODULE(UNet);

}  // namespace ebb::models
