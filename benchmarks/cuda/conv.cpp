// The convolutions of ResNet-50, forward and backward, in both layouts: microseconds.
//   conv [BATCH]
#include "device.h"

namespace {

struct Shape {
  const char* name;
  int64_t channels, size, filters, kernel, stride;
};

constexpr Shape kShapes[] = {{"7x7.3.64", 3, 224, 64, 7, 2},         {"1x1.64.256", 64, 56, 256, 1, 1},
                             {"3x3.64.64", 64, 56, 64, 3, 1},        {"3x3.128.128", 128, 28, 128, 3, 1},
                             {"3x3.256.256.s2", 256, 28, 256, 3, 2}, {"1x1.1024.256", 1024, 14, 256, 1, 1},
                             {"3x3.512.512", 512, 7, 512, 3, 1}};

void measure(const std::string& precision, torch::ScalarType dtype, const Shape& s, int64_t batch,
             bool channels_last) {
  const auto options = bench::on_device(dtype);
  torch::Tensor x = torch::randn({batch, s.channels, s.size, s.size}, options),
                w = torch::randn({s.filters, s.channels, s.kernel, s.kernel}, options);
  if (channels_last) {
    x = x.contiguous(torch::MemoryFormat::ChannelsLast);
    w = w.contiguous(torch::MemoryFormat::ChannelsLast);
  }
  x.requires_grad_();
  w.requires_grad_();
  const auto forward = [&] { return torch::conv2d(x, w, {}, s.stride, s.kernel / 2); };
  const std::string name =
      std::string("conv.") + s.name + "." + precision + (channels_last ? ".nhwc" : ".nchw");
  {
    torch::NoGradGuard no_grad;
    bench::report(name, bench::device_seconds([&] { forward(); }) * 1e6, "us");
  }
  const torch::Tensor y = forward(), seed = torch::ones_like(y);
  bench::report(name + ".backward",
                bench::device_seconds([&] { torch::autograd::grad({y}, {x, w}, {seed}, true); }) * 1e6, "us");
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t batch = bench::size_argument(argc, argv, 64);
  torch::manual_seed(1);
  for (const Shape& shape : kShapes)
    for (const bool channels_last : {false, true}) {
      bench::allow_tf32(false);
      measure("f32", torch::kFloat, shape, batch, channels_last);
      bench::allow_tf32(true);
      measure("tf32", torch::kFloat, shape, batch, channels_last);
      measure("bf16", torch::kBFloat16, shape, batch, channels_last);
    }
}
