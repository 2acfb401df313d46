// Net: a small convolutional network for image classification.
#pragma once

#include <ebb/ebb.h>

namespace nn = ebb::nn;

/// Conv 32 3x3 - ReLU - MaxPool - Conv 64 - ReLU - MaxPool - Conv 64 - ReLU - Flatten - Linear 64 - ReLU -
/// Linear classes.
struct NetImpl : nn::Module {
  NetImpl(std::int64_t rows, std::int64_t columns, std::int64_t classes) {
    // Without padding, nothing would remain of images as small as 8x8.
    const std::int64_t pad = std::min(rows, columns) < 20 ? 1 : 0;
    const auto after = [pad](std::int64_t n) {
      return ((n + 2 * pad - 2) / 2 + 2 * pad - 2) / 2 + 2 * pad - 2;
    };
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 32, 3).padding(pad)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(32, 64, 3).padding(pad)));
    conv3 = register_module("conv3", nn::Conv2d(nn::Conv2dOptions(64, 64, 3).padding(pad)));
    fc1 = register_module("fc1", nn::Linear(64 * after(rows) * after(columns), 64));
    fc2 = register_module("fc2", nn::Linear(64, classes));
  }

  ebb::Tensor forward(ebb::Tensor x) {
    x = ebb::max_pool2d(ebb::relu(conv1(x)), 2);
    x = ebb::max_pool2d(ebb::relu(conv2(x)), 2);
    x = ebb::relu(conv3(x)).flatten(1);
    return fc2(ebb::relu(fc1(x)));
  }

  nn::Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr};
};
EBB_MODULE(Net);
