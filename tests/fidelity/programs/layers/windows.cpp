// Pooling, padding and sliding windows.
#include "fidelity.h"

// Pooling: max, average and adaptive windows.
namespace pooling {

namespace F = torch::nn::functional;

void run() {
  const Tensor x1 = ramp({2, 2, 7}), x2 = ramp({2, 2, 5, 6});
  grad1("max1", [](const Tensor& t) { return torch::max_pool1d(t, 2); }, x1);
  grad1("max1.all", [](const Tensor& t) { return torch::max_pool1d(t, 3, 2, 1, 1, true); }, x1);
  grad1("max2", [](const Tensor& t) { return torch::max_pool2d(t, 2); }, x2);
  grad1("max2.pairs", [](const Tensor& t) { return torch::max_pool2d(t, {3, 2}, {1, 2}, {1, 0}); }, x2);
  grad1("max2.dilation", [](const Tensor& t) { return torch::max_pool2d(t, 2, 1, 0, 2); }, x2);
  grad1("max2.ceil", [](const Tensor& t) { return torch::max_pool2d(t, 2, 2, 0, 1, true); }, x2);
  grad1("max2.unbatched", [](const Tensor& t) { return torch::max_pool2d(t[0], 2); }, x2);
  grad1(
      "F.max2",
      [](const Tensor& t) { return F::max_pool2d(t, F::MaxPool2dFuncOptions(3).stride(2).padding(1)); }, x2);
  grad1("F.max1", [](const Tensor& t) { return F::max_pool1d(t, F::MaxPool1dFuncOptions(2)); }, x1);
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

  grad1("avg1", [](const Tensor& t) { return torch::avg_pool1d(t, 3, 2, 1); }, x1);
  grad1("avg1.exclude", [](const Tensor& t) { return torch::avg_pool1d(t, 3, 2, 1, true, false); }, x1);
  grad1("avg2", [](const Tensor& t) { return torch::avg_pool2d(t, 2); }, x2);
  grad1("avg2.pairs", [](const Tensor& t) { return torch::avg_pool2d(t, {3, 2}, {1, 2}, {1, 1}); }, x2);
  grad1("avg2.exclude", [](const Tensor& t) { return torch::avg_pool2d(t, 3, 2, 1, false, false); }, x2);
  grad1("avg2.ceil", [](const Tensor& t) { return torch::avg_pool2d(t, 2, 2, 0, true); }, x2);
  grad1("avg2.divisor", [](const Tensor& t) { return torch::avg_pool2d(t, 2, 2, 0, false, true, 3); }, x2);
  grad1(
      "F.avg2",
      [](const Tensor& t) {
        return F::avg_pool2d(t, F::AvgPool2dFuncOptions(3).stride(1).padding(1).count_include_pad(false));
      },
      x2);
  grad1("F.avg1", [](const Tensor& t) { return F::avg_pool1d(t, F::AvgPool1dFuncOptions(2).stride(1)); }, x1);

  grad1("adaptive_avg1", [](const Tensor& t) { return torch::adaptive_avg_pool1d(t, 3); }, x1);
  grad1("adaptive_avg2", [](const Tensor& t) { return torch::adaptive_avg_pool2d(t, {3, 4}); }, x2);
  grad1("adaptive_avg2.one", [](const Tensor& t) { return torch::adaptive_avg_pool2d(t, {1, 1}); }, x2);
  grad1("adaptive_avg2.up", [](const Tensor& t) { return torch::adaptive_avg_pool2d(t, {7, 7}); }, x2);
  grad1("adaptive_max1", [](const Tensor& t) { return std::get<0>(torch::adaptive_max_pool1d(t, 3)); }, x1);
  grad1(
      "adaptive_max2", [](const Tensor& t) { return std::get<0>(torch::adaptive_max_pool2d(t, {3, 4})); },
      x2);
  grad1(
      "F.adaptive_avg2",
      [](const Tensor& t) { return F::adaptive_avg_pool2d(t, F::AdaptiveAvgPool2dFuncOptions({2, 3})); }, x2);
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

// Padding in all modes, unfold and fold.
namespace pad_fold {

namespace F = torch::nn::functional;

void run() {
  const Tensor x3 = ramp({1, 2, 5}), x4 = ramp({1, 2, 3, 4}), x5 = ramp({1, 1, 2, 3, 3});
  grad1("constant", [](const Tensor& t) { return F::pad(t, F::PadFuncOptions({1, 2})); }, x3);
  grad1(
      "constant.value", [](const Tensor& t) { return F::pad(t, F::PadFuncOptions({1, 0, 2, 1}).value(7)); },
      x4);
  grad1(
      "constant.crop",
      [](const Tensor& t) { return F::pad(t, F::PadFuncOptions({-1, 1}).mode(torch::kConstant)); }, x3);
  grad1("constant_pad_nd", [](const Tensor& t) { return torch::constant_pad_nd(t, {1, 1, 0, 2}, 0.5); }, x4);
  grad1("torch.pad", [](const Tensor& t) { return torch::pad(t, {1, 2}, "constant", 3.0); }, x3);
  grad1("torch.pad.reflect", [](const Tensor& t) { return torch::pad(t, {1, 2, 1, 1}, "reflect"); }, x4);
  grad1(
      "reflect1", [](const Tensor& t) { return F::pad(t, F::PadFuncOptions({2, 3}).mode(torch::kReflect)); },
      x3);
  grad1(
      "reflect2",
      [](const Tensor& t) { return F::pad(t, F::PadFuncOptions({1, 3, 2, 0}).mode(torch::kReflect)); }, x4);
  grad1(
      "replicate1",
      [](const Tensor& t) { return F::pad(t, F::PadFuncOptions({2, 3}).mode(torch::kReplicate)); }, x3);
  grad1(
      "replicate2",
      [](const Tensor& t) { return F::pad(t, F::PadFuncOptions({1, 3, 2, 0}).mode(torch::kReplicate)); }, x4);
  grad1(
      "replicate3",
      [](const Tensor& t) {
        return F::pad(t, F::PadFuncOptions({1, 0, 0, 1, 1, 1}).mode(torch::kReplicate));
      },
      x5);
  grad1(
      "circular1",
      [](const Tensor& t) { return F::pad(t, F::PadFuncOptions({2, 3}).mode(torch::kCircular)); }, x3);
  grad1(
      "circular2",
      [](const Tensor& t) { return F::pad(t, F::PadFuncOptions({1, 3, 2, 0}).mode(torch::kCircular)); }, x4);
  grad1("reflection_pad1d", [](const Tensor& t) { return torch::reflection_pad1d(t, {1, 1}); }, x3);
  grad1("replication_pad2d", [](const Tensor& t) { return torch::replication_pad2d(t, {1, 1, 0, 2}); }, x4);

  section("modules", [&] {
    report("ConstantPad1d", torch::nn::ConstantPad1d(torch::nn::ConstantPad1dOptions({1, 2}, 3.5))(x3));
    report("ZeroPad2d", torch::nn::ZeroPad2d(torch::nn::ZeroPad2dOptions({1, 0, 2, 1}))(x4));
    report("ReflectionPad2d", torch::nn::ReflectionPad2d(1)(x4));
    report("ReplicationPad1d", torch::nn::ReplicationPad1d(torch::nn::ReplicationPad1dOptions({3, 1}))(x3));
  });

  section("refused", [&] {
    report_error("reflect.wide", [&] { F::pad(x3, F::PadFuncOptions({5, 0}).mode(torch::kReflect)); });
    report_error("circular.wide", [&] { F::pad(x3, F::PadFuncOptions({6, 0}).mode(torch::kCircular)); });
    report_error("odd", [&] { F::pad(x3, F::PadFuncOptions({1, 2, 3})); });
    report_error("too_many", [&] { F::pad(ramp({3}), F::PadFuncOptions({1, 1, 1, 1})); });
    report("int", F::pad(torch::tensor({{1, 2}}), F::PadFuncOptions({1, 1}).value(9)));
  });

  const Tensor image = ramp({2, 2, 4, 5});
  grad1("unfold", [](const Tensor& t) { return F::unfold(t, F::UnfoldFuncOptions({2, 3})); }, image);
  grad1(
      "unfold.all",
      [](const Tensor& t) {
        return F::unfold(t, F::UnfoldFuncOptions({3, 2}).dilation(1).padding({1, 0}).stride({2, 1}));
      },
      image);
  grad1("im2col", [](const Tensor& t) { return torch::im2col(t, {2, 2}, {1, 2}, {0, 1}, {2, 1}); }, image);
  grad1(
      "fold", [](const Tensor& t) { return F::fold(t, F::FoldFuncOptions({4, 5}, {2, 2})); },
      ramp({2, 8, 12}));
  grad1(
      "fold.all",
      [](const Tensor& t) {
        return F::fold(t, F::FoldFuncOptions({4, 5}, {3, 2}).padding({1, 0}).stride({2, 1}));
      },
      ramp({1, 12, 8}));
  section("fold_modules", [&] {
    const Tensor columns = torch::nn::Unfold(torch::nn::UnfoldOptions({2, 2}).stride(2))(image);
    report("Unfold", columns);
    report("Fold", torch::nn::Fold(torch::nn::FoldOptions({4, 4}, {2, 2}).stride(2))(columns));
    report_error("fold.columns", [] { F::fold(ramp({1, 8, 5}), F::FoldFuncOptions({4, 5}, {2, 2})); });
    report_error("unfold.kernel", [&] { F::unfold(image, F::UnfoldFuncOptions({9, 9})); });
  });
}

const Program program("pad_fold", run);

}  // namespace pad_fold
