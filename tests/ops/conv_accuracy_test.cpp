// How far single precision is from double: sums over many products must not lose what short ones keep.
#include <ebb/ebb.h>

#include "support/catch.h"

using ebb::Variable;

namespace {

struct Layer {
  const char* name;
  std::int64_t batch, in, out, size, kernel, stride, padding, groups;
  double bar = 2.4e-7;
};

double distance(const Variable& x, const Variable& exact) {
  return ((x.to(ebb::kDouble) - exact).norm() / exact.norm()).item<double>();
}

}  // namespace

TEST_CASE("convolutions in single precision are as accurate as sums in parts") {
  // Layers of VGG16, ResNet-50 and EfficientNet on few small images, and kernels as large as the image.
  const Layer layers[] = {
      {"3x3 of 64", 1, 64, 64, 28, 3, 1, 1, 1},
      {"3x3 of 512", 1, 512, 512, 7, 3, 1, 1, 1},
      {"3x3 of large images", 4, 3, 64, 112, 3, 1, 1, 1},
      {"7x7 with a stride", 2, 3, 64, 112, 7, 2, 3, 1},
      {"1x1 of 2048", 1, 2048, 128, 7, 1, 1, 0, 1},
      {"1x1 with a stride", 2, 512, 1024, 14, 1, 2, 0, 1},
      {"3x3 with a stride", 1, 256, 256, 14, 3, 2, 1, 1},
      {"3x3 by channel", 8, 32, 32, 56, 3, 1, 1, 32},
      {"5x5 by channel with a stride", 16, 32, 32, 56, 5, 2, 2, 32},
      {"8x8 of 8x8", 4, 32, 32, 8, 8, 1, 0, 1},
      {"32x32 of 33x33", 8, 8, 16, 33, 32, 1, 0, 1, 4e-7},
  };
  ebb::manual_seed(11);
  for (const Layer& l : layers) {
    INFO(l.name);
    const Variable x = ebb::randn({l.batch, l.in, l.size, l.size});
    const Variable w = ebb::randn({l.out, l.in / l.groups, l.kernel, l.kernel});
    const Variable g = ebb::randn(ebb::conv2d(x, w, {}, l.stride, l.padding, 1, l.groups).sizes().vec());
    const auto results = [&](ebb::DType dtype) {
      const Variable a = x.to(dtype).clone().requires_grad_(), b = w.to(dtype).clone().requires_grad_();
      const Variable y = ebb::conv2d(a, b, {}, l.stride, l.padding, 1, l.groups);
      auto all = ebb::autograd::grad({y}, {a, b}, {g.to(dtype)});
      all.push_back(y.detach());
      return all;
    };
    const auto single = results(ebb::kFloat), exact = results(ebb::kDouble);
    CHECK(distance(single[2], exact[2]) < l.bar);
    CHECK(distance(single[0], exact[0]) < l.bar);
    CHECK(distance(single[1], exact[1]) < l.bar);
  }
}

TEST_CASE("matrix products in single precision are as accurate as sums in parts") {
  ebb::manual_seed(12);
  for (const std::int64_t depth : {512, 4608}) {
    const Variable a = ebb::randn({48, depth}), b = ebb::randn({depth, 64});
    const auto exact = ebb::matmul(a.to(ebb::kDouble), b.to(ebb::kDouble));
    CHECK(distance(ebb::matmul(a, b), exact) < 3.5e-7);
    CHECK(distance(ebb::matmul(a, b.t().contiguous().t()), exact) < 3.5e-7);
  }
}
