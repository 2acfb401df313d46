// LeNet-5, and MLP: the multi-layer perceptron.
#include <ebb/models/lenet.h>
#include <ebb/models/mlp.h>
#include <ebb/ops/pool.h>

namespace ebb::models {

LeNet5Impl::LeNet5Impl(LeNet5Options options_) : options(options_) { LeNet5Impl::reset(); }

void LeNet5Impl::reset() {
  conv1 = register_module(
      "conv1", nn::Conv2d(nn::Conv2dOptions(options.in_channels(), 6, 5).padding(options.padding())));
  conv2 = register_module("conv2", nn::Conv2d(6, 16, 5));
  fc1 = register_module("fc1", nn::Linear(16 * 5 * 5, 120));
  fc2 = register_module("fc2", nn::Linear(120, 84));
  fc3 = register_module("fc3", nn::Linear(84, options.num_classes()));
}

Variable LeNet5Impl::forward(const Variable& images) {
  const std::int64_t side = 32 - 2 * options.padding();
  EBB_CHECK(images.dim() == 4 && images.size(2) == side && images.size(3) == side,
            "LeNet5: takes images (N, C, ", side, ", ", side, "), got ", images.sizes(),
            ". Set LeNet5Options::padding for images of another size.");
  Variable x = max_pool2d(conv1(images).relu_(), 2);
  x = max_pool2d(conv2(x).relu_(), 2).flatten(1);
  x = fc2(fc1(x).relu_()).relu_();
  return fc3(x);
}

MLPImpl::MLPImpl(const std::vector<std::int64_t>& widths, double dropout) {
  EBB_CHECK(widths.size() >= 2, "MLP: needs at least the widths of its input and its output, got ",
            widths.size());
  for (std::size_t i = 1; i < widths.size(); ++i) {
    push_back(nn::Linear(widths[i - 1], widths[i]));
    if (i + 1 == widths.size()) break;
    push_back(nn::ReLU());
    if (dropout > 0) push_back(nn::Dropout(dropout));
  }
}

}  // namespace ebb::models
