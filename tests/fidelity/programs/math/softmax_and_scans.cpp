// softmax and its kin, cumulative sums, products, extrema.
#include "fidelity.h"

namespace softmax_and_scans {

namespace F = torch::nn::functional;

void run() {
  const Tensor x = ramp({2, 3}, -2, 2);
  grad1(
      "softmax", [](const Tensor& t) { return torch::softmax(t, 1); }, x);
  grad1(
      "softmax.0", [](const Tensor& t) { return t.softmax(0); }, x);
  grad1(
      "softmax.neg", [](const Tensor& t) { return t.softmax(-1); }, ramp({2, 2, 3}));
  grad1(
      "log_softmax", [](const Tensor& t) { return torch::log_softmax(t, 1); }, x);
  grad1(
      "log_softmax.0", [](const Tensor& t) { return t.log_softmax(0); }, ramp({3, 2, 2}));
  grad1(
      "softmin", [](const Tensor& t) { return F::softmin(t, F::SoftminFuncOptions(1)); }, x);
  grad1(
      "F.softmax", [](const Tensor& t) { return F::softmax(t, F::SoftmaxFuncOptions(0)); }, x);
  grad1(
      "F.log_softmax", [](const Tensor& t) { return F::log_softmax(t, F::LogSoftmaxFuncOptions(-1)); }, x);
  grad1(
      "softmax.scalar", [](const Tensor& t) { return t.softmax(0); }, ramp({}));
  grad1(
      "softmax.far", [](const Tensor& t) { return t.softmax(0); },
      torch::tensor({1000., 999., -1000.}, torch::kFloat64));
  grad1(
      "log_softmax.far", [](const Tensor& t) { return t.log_softmax(0); },
      torch::tensor({1000., 999., -1000.}, torch::kFloat64));
  grad1(
      "softmax.inf", [](const Tensor& t) { return t.softmax(0); },
      torch::tensor({-kInf, 1., 2.}, torch::kFloat64), 1);
  grad1(
      "softmax.allinf", [](const Tensor& t) { return t.softmax(0); },
      torch::full({2}, -kInf, torch::kFloat64), 1);
  section("softmax.dtype", [] {
    report("softmax.dtype", torch::softmax(torch::tensor({1, 2, 3}), 0, torch::kFloat64));
    report("softmax.f32", torch::softmax(ramp({4}).to(torch::kFloat32), 0));
    report("softmax.empty", torch::softmax(torch::zeros({0, 3}), 1));
    report_error("softmax.range", [] { torch::softmax(ramp({2}), 1); });
    report_error("softmax.int", [] { torch::softmax(torch::tensor({1, 2}), 0); });
  });

  grad1(
      "cumsum", [](const Tensor& t) { return torch::cumsum(t, 1); }, x);
  grad1(
      "cumsum.0", [](const Tensor& t) { return t.cumsum(0); }, x);
  grad1(
      "cumprod", [](const Tensor& t) { return torch::cumprod(t, 1); }, x);
  grad1(
      "cumprod.zero", [](const Tensor& t) { return t.cumprod(0); },
      torch::tensor({2., 0., 3., 4.}, torch::kFloat64));
  grad1(
      "cumprod.zeros", [](const Tensor& t) { return t.cumprod(0); },
      torch::tensor({2., 0., 3., 0., 5.}, torch::kFloat64));
  grad1(
      "cummax", [](const Tensor& t) { return std::get<0>(torch::cummax(t, 1)); }, x);
  grad1(
      "cummin", [](const Tensor& t) { return std::get<0>(t.cummin(0)); }, x);
  grad1(
      "logcumsumexp", [](const Tensor& t) { return torch::logcumsumexp(t, 1); }, x);
  grad1(
      "logcumsumexp.far", [](const Tensor& t) { return t.logcumsumexp(0); },
      torch::tensor({700., 800., -1000., 801.}, torch::kFloat64), 1);
  section("scan.indices", [] {
    const Tensor v = torch::tensor({1., 3., 3., 2., 5., 5.}, torch::kFloat64);
    report("cummax.indices", std::get<1>(torch::cummax(v, 0)));
    report("cummin.indices", std::get<1>(torch::cummin(-v, 0)));
    const Tensor holes = torch::tensor({1., kNan, 3., 4.}, torch::kFloat64);
    report("cummax.nan", std::get<0>(holes.cummax(0)));
    report("cummax.nan_indices", std::get<1>(holes.cummax(0)));
    grad1(
        "cummax.ties", [](const Tensor& t) { return std::get<0>(t.cummax(0)); }, v, 1);
    report("cumsum.int", torch::cumsum(torch::tensor({1, 2, 3}, torch::kInt32), 0));
    report("cumsum.bool", torch::cumsum(torch::tensor({true, true, false}), 0));
    report("cumsum.dtype", torch::cumsum(torch::tensor({1, 2, 3}), 0, torch::kFloat64));
    report("cumprod.int", torch::cumprod(torch::tensor({2, 3, 4}), 0));
    report("cumsum.scalar", torch::tensor(3.5).cumsum(0));
    report("cumsum.empty", torch::zeros({0, 2}).cumsum(0));
    Tensor w = ramp({4});
    w.cumsum_(0);
    report("cumsum_", w);
    w.cumprod_(0);
    report("cumprod_", w);
    report_error("cumsum.range", [] { torch::cumsum(ramp({2}), 1); });
    report("diff", torch::diff(v));
    report("diff.2", torch::diff(v, 2));
    grad1(
        "diff.grad", [](const Tensor& t) { return torch::diff(t, 1, 1); }, ramp({2, 3}));
  });
}

const Program program("softmax_and_scans", run);

}  // namespace softmax_and_scans
