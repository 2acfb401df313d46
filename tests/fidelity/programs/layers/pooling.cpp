// Pooling: maxima, means and adaptive windows.
#include "fidelity.h"

namespace pooling {

namespace F = torch::nn::functional;

void run() {
  const Tensor x1 = ramp({2, 2, 7}), x2 = ramp({2, 2, 5, 6});
  grad1(
      "max1", [](const Tensor& t) { return torch::max_pool1d(t, 2); }, x1);
  grad1(
      "max1.all", [](const Tensor& t) { return torch::max_pool1d(t, 3, 2, 1, 1, true); }, x1);
  grad1(
      "max2", [](const Tensor& t) { return torch::max_pool2d(t, 2); }, x2);
  grad1(
      "max2.pairs",
      [](const Tensor& t) {
        return torch::max_pool2d(t, {3, 2}, {1, 2}, {1, 0});
      },
      x2);
  grad1(
      "max2.dilation", [](const Tensor& t) { return torch::max_pool2d(t, 2, 1, 0, 2); }, x2);
  grad1(
      "max2.ceil", [](const Tensor& t) { return torch::max_pool2d(t, 2, 2, 0, 1, true); }, x2);
  grad1(
      "max2.unbatched", [](const Tensor& t) { return torch::max_pool2d(t[0], 2); }, x2);
  grad1(
      "F.max2",
      [](const Tensor& t) { return F::max_pool2d(t, F::MaxPool2dFuncOptions(3).stride(2).padding(1)); }, x2);
  grad1(
      "F.max1", [](const Tensor& t) { return F::max_pool1d(t, F::MaxPool1dFuncOptions(2)); }, x1);
  grad1(
      "max2.ties", [](const Tensor& t) { return torch::max_pool2d(t.round(), 2) * torch::max_pool2d(t, 2); },
      x2);
  grad1(
      "max2.equal", [](const Tensor& t) { return torch::max_pool2d(t, 2); },
      torch::ones({1, 1, 4, 4}, torch::kFloat64));
  section("indices", [&] {
    auto [values, indices] = torch::max_pool2d_with_indices(x2, {2, 2});
    report("max2.values", values);
    report("max2.indices", indices);
    auto [values1, indices1] = torch::max_pool1d_with_indices(x1, 3, 2);
    report("max1.indices", indices1);
    const Tensor holes = torch::tensor({{{{1., kNan}, {3., 2.}}}}, torch::kFloat64);
    report("max2.nan", torch::max_pool2d(holes, 2));
  });

  grad1(
      "avg1", [](const Tensor& t) { return torch::avg_pool1d(t, 3, 2, 1); }, x1);
  grad1(
      "avg1.exclude", [](const Tensor& t) { return torch::avg_pool1d(t, 3, 2, 1, true, false); }, x1);
  grad1(
      "avg2", [](const Tensor& t) { return torch::avg_pool2d(t, 2); }, x2);
  grad1(
      "avg2.pairs",
      [](const Tensor& t) {
        return torch::avg_pool2d(t, {3, 2}, {1, 2}, {1, 1});
      },
      x2);
  grad1(
      "avg2.exclude", [](const Tensor& t) { return torch::avg_pool2d(t, 3, 2, 1, false, false); }, x2);
  grad1(
      "avg2.ceil", [](const Tensor& t) { return torch::avg_pool2d(t, 2, 2, 0, true); }, x2);
  grad1(
      "avg2.divisor", [](const Tensor& t) { return torch::avg_pool2d(t, 2, 2, 0, false, true, 3); }, x2);
  grad1(
      "F.avg2",
      [](const Tensor& t) {
        return F::avg_pool2d(t, F::AvgPool2dFuncOptions(3).stride(1).padding(1).count_include_pad(false));
      },
      x2);
  grad1(
      "F.avg1", [](const Tensor& t) { return F::avg_pool1d(t, F::AvgPool1dFuncOptions(2).stride(1)); }, x1);

  grad1(
      "adaptive_avg1", [](const Tensor& t) { return torch::adaptive_avg_pool1d(t, 3); }, x1);
  grad1(
      "adaptive_avg2",
      [](const Tensor& t) {
        return torch::adaptive_avg_pool2d(t, {3, 4});
      },
      x2);
  grad1(
      "adaptive_avg2.one",
      [](const Tensor& t) {
        return torch::adaptive_avg_pool2d(t, {1, 1});
      },
      x2);
  grad1(
      "adaptive_avg2.up",
      [](const Tensor& t) {
        return torch::adaptive_avg_pool2d(t, {7, 7});
      },
      x2);
  grad1(
      "adaptive_max1", [](const Tensor& t) { return std::get<0>(torch::adaptive_max_pool1d(t, 3)); }, x1);
  grad1(
      "adaptive_max2",
      [](const Tensor& t) {
        return std::get<0>(torch::adaptive_max_pool2d(t, {3, 4}));
      },
      x2);
  grad1(
      "F.adaptive_avg2",
      [](const Tensor& t) {
        return F::adaptive_avg_pool2d(t, F::AdaptiveAvgPool2dFuncOptions({2, 3}));
      },
      x2);
  grad1(
      "F.adaptive_max1",
      [](const Tensor& t) { return F::adaptive_max_pool1d(t, F::AdaptiveMaxPool1dFuncOptions(2)); }, x1);

  section("modules", [&] {
    namespace nn = torch::nn;
    report("MaxPool2d", nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1))(x2));
    report("MaxPool2d.number", nn::MaxPool2d(2)->forward(x2));
    report("MaxPool1d", nn::MaxPool1d(nn::MaxPool1dOptions(2))(x1));
    report("AvgPool2d", nn::AvgPool2d(nn::AvgPool2dOptions({2, 3}).stride({1, 2}))(x2));
    report("AvgPool1d", nn::AvgPool1d(3)(x1));
    report("AdaptiveAvgPool2d", nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({1, 1}))(x2));
    report("AdaptiveAvgPool1d", nn::AdaptiveAvgPool1d(2)(x1));
    report("AdaptiveMaxPool2d", nn::AdaptiveMaxPool2d(nn::AdaptiveMaxPool2dOptions(3))(x2));
    report("AdaptiveMaxPool1d", nn::AdaptiveMaxPool1d(2)(x1));
  });

  section("refused", [&] {
    report_error("kernel", [&] { torch::max_pool2d(x2, 9); });
    report_error("kernel.zero", [&] { torch::max_pool2d(x2, 0); });
    report_error("padding", [&] { torch::max_pool2d(x2, 2, 2, 2); });
    report_error("stride", [&] { torch::max_pool2d(x2, 2, 0); });
    report_error("dims", [&] { torch::max_pool2d(ramp({4}), 2); });
    report_error("avg.padding", [&] { torch::avg_pool2d(x2, 2, 2, 2); });
    report_error("avg.divisor", [&] { torch::avg_pool2d(x2, 2, 2, 0, false, true, 0); });
    report_error("adaptive", [&] { torch::adaptive_avg_pool2d(x2, {-1, 2}); });
  });
}

const Program program("pooling", run);

}  // namespace pooling
