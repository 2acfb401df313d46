// Padding in every mode, unfold and fold.
#include "fidelity.h"

namespace pad_fold {

namespace F = torch::nn::functional;

void run() {
  const Tensor x3 = ramp({1, 2, 5}), x4 = ramp({1, 2, 3, 4}), x5 = ramp({1, 1, 2, 3, 3});
  grad1(
      "constant",
      [](const Tensor& t) {
        return F::pad(t, F::PadFuncOptions({1, 2}));
      },
      x3);
  grad1(
      "constant.value",
      [](const Tensor& t) {
        return F::pad(t, F::PadFuncOptions({1, 0, 2, 1}).value(7));
      },
      x4);
  grad1(
      "constant.crop",
      [](const Tensor& t) {
        return F::pad(t, F::PadFuncOptions({-1, 1}).mode(torch::kConstant));
      },
      x3);
  grad1(
      "constant_pad_nd",
      [](const Tensor& t) {
        return torch::constant_pad_nd(t, {1, 1, 0, 2}, 0.5);
      },
      x4);
  grad1(
      "torch.pad",
      [](const Tensor& t) {
        return torch::pad(t, {1, 2}, "constant", 3.0);
      },
      x3);
  grad1(
      "torch.pad.reflect",
      [](const Tensor& t) {
        return torch::pad(t, {1, 2, 1, 1}, "reflect");
      },
      x4);
  grad1(
      "reflect1",
      [](const Tensor& t) {
        return F::pad(t, F::PadFuncOptions({2, 3}).mode(torch::kReflect));
      },
      x3);
  grad1(
      "reflect2",
      [](const Tensor& t) {
        return F::pad(t, F::PadFuncOptions({1, 3, 2, 0}).mode(torch::kReflect));
      },
      x4);
  grad1(
      "replicate1",
      [](const Tensor& t) {
        return F::pad(t, F::PadFuncOptions({2, 3}).mode(torch::kReplicate));
      },
      x3);
  grad1(
      "replicate2",
      [](const Tensor& t) {
        return F::pad(t, F::PadFuncOptions({1, 3, 2, 0}).mode(torch::kReplicate));
      },
      x4);
  grad1(
      "replicate3",
      [](const Tensor& t) {
        return F::pad(t, F::PadFuncOptions({1, 0, 0, 1, 1, 1}).mode(torch::kReplicate));
      },
      x5);
  grad1(
      "circular1",
      [](const Tensor& t) {
        return F::pad(t, F::PadFuncOptions({2, 3}).mode(torch::kCircular));
      },
      x3);
  grad1(
      "circular2",
      [](const Tensor& t) {
        return F::pad(t, F::PadFuncOptions({1, 3, 2, 0}).mode(torch::kCircular));
      },
      x4);
  grad1(
      "reflection_pad1d",
      [](const Tensor& t) {
        return torch::reflection_pad1d(t, {1, 1});
      },
      x3);
  grad1(
      "replication_pad2d",
      [](const Tensor& t) {
        return torch::replication_pad2d(t, {1, 1, 0, 2});
      },
      x4);

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
  grad1(
      "unfold",
      [](const Tensor& t) {
        return F::unfold(t, F::UnfoldFuncOptions({2, 3}));
      },
      image);
  grad1(
      "unfold.all",
      [](const Tensor& t) {
        return F::unfold(t, F::UnfoldFuncOptions({3, 2}).dilation(1).padding({1, 0}).stride({2, 1}));
      },
      image);
  grad1(
      "im2col",
      [](const Tensor& t) {
        return torch::im2col(t, {2, 2}, {1, 2}, {0, 1}, {2, 1});
      },
      image);
  grad1(
      "fold",
      [](const Tensor& t) {
        return F::fold(t, F::FoldFuncOptions({4, 5}, {2, 2}));
      },
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
