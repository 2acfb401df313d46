// LeNet-5: a small convolutional network for images of digits.
#pragma once

#include <ebb/nn.h>

#include <cstdint>

namespace ebb::models {

/// Options of LeNet5.
class EBB_API LeNet5Options {
 public:
  LeNet5Options(std::int64_t num_classes = 10) : num_classes_(num_classes) {}

  EBB_ARG(std::int64_t, num_classes);      ///< number of outputs
  EBB_ARG(std::int64_t, in_channels) = 1;  ///< channels of the images
  EBB_ARG(std::int64_t, padding) = 2;      ///< zeros around the images: 2 for 28x28, 0 for 32x32
};

/// Two 5x5 convolutions with pooling and three linear layers (LeCun, Bottou, Bengio & Haffner 1998). As in
/// PyTorch's tutorial, it uses ReLU and max pooling, and the layers are named conv1, conv2, fc1, fc2 and fc3.
/// Input (N, in_channels, H, W) with H + 2 padding = W + 2 padding = 32, output (N, num_classes).
struct EBB_API LeNet5Impl : nn::Cloneable<LeNet5Impl> {
  explicit LeNet5Impl(LeNet5Options options_ = {});
  void reset() override;
  Variable forward(const Variable& images);

  LeNet5Options options;
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};
};
EBB_MODULE(LeNet5);

}  // namespace ebb::models
