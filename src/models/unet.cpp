// U-Net: image segmentation by an encoder and a decoder with skip connections.
#include <ebb/models/unet.h>
#include <ebb/ops/shape.h>

namespace ebb::models {

DoubleConvImpl::DoubleConvImpl(std::int64_t in_channels_, std::int64_t out_channels_,
                               std::int64_t mid_channels_)
    : in_channels(in_channels_), out_channels(out_channels_), mid_channels(mid_channels_) {
  DoubleConvImpl::reset();
}

void DoubleConvImpl::reset() {
  const std::int64_t mid = mid_channels ? mid_channels : out_channels;
  const auto conv = [](std::int64_t in, std::int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false));
  };
  double_conv = nn::Sequential();
  for (const auto& [in, out] : {std::pair(in_channels, mid), std::pair(mid, out_channels)}) {
    double_conv->push_back(conv(in, out));
    double_conv->push_back(nn::BatchNorm2d(out));
    double_conv->push_back(nn::ReLU(nn::ReLUOptions(true)));
  }
  register_module("double_conv", double_conv);
}

Variable DoubleConvImpl::forward(const Variable& x) { return double_conv(x); }

DownImpl::DownImpl(std::int64_t in_channels_, std::int64_t out_channels_)
    : in_channels(in_channels_), out_channels(out_channels_) {
  DownImpl::reset();
}

void DownImpl::reset() {
  maxpool_conv = register_module("maxpool_conv",
                                 nn::Sequential(nn::MaxPool2d(2), DoubleConv(in_channels, out_channels)));
}

Variable DownImpl::forward(const Variable& x) { return maxpool_conv(x); }

UpImpl::UpImpl(std::int64_t in_channels_, std::int64_t out_channels_, bool bilinear_)
    : in_channels(in_channels_), out_channels(out_channels_), bilinear(bilinear_) {
  UpImpl::reset();
}

void UpImpl::reset() {
  if (bilinear) {
    up = nn::Upsample(
        nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2}).mode(kBilinear).align_corners(true));
    conv = DoubleConv(in_channels, out_channels, in_channels / 2);
  } else {
    up = nn::ConvTranspose2d(nn::ConvTranspose2dOptions(in_channels, in_channels / 2, 2).stride(2));
    conv = DoubleConv(in_channels, out_channels);
  }
  register_module("up", up.ptr());
  register_module("conv", conv);
}

Variable UpImpl::forward(const Variable& x, const Variable& skip) {
  Variable larger = up.forward(x);
  const std::int64_t rows = skip.size(2) - larger.size(2), columns = skip.size(3) - larger.size(3);
  if (rows != 0 || columns != 0)
    larger = nn::functional::pad(larger, nn::functional::PadFuncOptions({columns / 2, columns - columns / 2,
                                                                         rows / 2, rows - rows / 2}));
  return conv(cat({skip, larger}, 1));
}

OutConvImpl::OutConvImpl(std::int64_t in_channels_, std::int64_t out_channels_)
    : in_channels(in_channels_), out_channels(out_channels_) {
  OutConvImpl::reset();
}

void OutConvImpl::reset() { conv = register_module("conv", nn::Conv2d(in_channels, out_channels, 1)); }

Variable OutConvImpl::forward(const Variable& x) { return conv(x); }

UNetImpl::UNetImpl(UNetOptions options_) : options(options_) { UNetImpl::reset(); }

void UNetImpl::reset() {
  // A transposed convolution halves the number of channels, but interpolation does not. With interpolation,
  // each convolution that is followed by an Up therefore returns half as many channels.
  const std::int64_t w = options.width(), factor = options.bilinear() ? 2 : 1;
  inc = register_module("inc", DoubleConv(options.n_channels(), w));
  down1 = register_module("down1", Down(w, 2 * w));
  down2 = register_module("down2", Down(2 * w, 4 * w));
  down3 = register_module("down3", Down(4 * w, 8 * w));
  down4 = register_module("down4", Down(8 * w, 16 * w / factor));
  up1 = register_module("up1", Up(16 * w, 8 * w / factor, options.bilinear()));
  up2 = register_module("up2", Up(8 * w, 4 * w / factor, options.bilinear()));
  up3 = register_module("up3", Up(4 * w, 2 * w / factor, options.bilinear()));
  up4 = register_module("up4", Up(2 * w, w, options.bilinear()));
  outc = register_module("outc", OutConv(w, options.n_classes()));
}

Variable UNetImpl::forward(const Variable& images) {
  EBB_CHECK(images.dim() == 4 && images.size(2) >= 16 && images.size(3) >= 16, "UNet: takes images (N, ",
            options.n_channels(), ", H, W) of at least 16x16, got ", images.sizes(), ".");
  const Variable x1 = inc(images), x2 = down1(x1), x3 = down2(x2), x4 = down3(x3);
  Variable x = up1(down4(x4), x4);
  x = up2(x, x3);
  x = up3(x, x2);
  x = up4(x, x1);
  return outc(x);
}

}  // namespace ebb::models
