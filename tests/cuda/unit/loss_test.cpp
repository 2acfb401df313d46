// Fused cross-entropy on a device, compared with the composition of ops on the CPU in double.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <cmath>
#include <limits>

using namespace ebb;

namespace {

namespace F = nn::functional;

double tolerance(DType dtype) {
  return dtype == kDouble ? 1e-11 : dtype == kFloat ? 2e-5 : dtype == kHalf ? 4e-3 : 3e-2;
}

struct Result {
  Tensor loss, grad;
};

/// The loss and the gradient of its weighted sum.
Result run(Tensor x, const Tensor& target, const F::CrossEntropyFuncOptions& options) {
  x = x.detach().requires_grad_();
  const Tensor loss = F::cross_entropy(x, target, options);
  const Tensor factors = 1 + arange(loss.numel(), TensorOptions(kDouble)).view(loss.sizes()) / 8;
  loss.backward(factors.to(x.device(), x.dtype()));
  return {loss.detach(), x.grad()};
}

void check(const Tensor& got, const Tensor& expected, DType dtype) {
  REQUIRE(got.is_cuda());
  CHECK(got.dtype() == dtype);
  CHECK(allclose(got.cpu().to(kDouble), expected, tolerance(dtype), tolerance(dtype), /*equal_nan=*/true));
}

struct Case {
  DimVector sizes;
  bool weighted, soft;
  double smoothing;
};

/// Compares all reductions of a case; `first` drops that many logits, so that rows are misaligned.
void compare(const Case& c, DType dtype, std::int64_t first = 0) {
  manual_seed(12);
  const std::int64_t dim = c.sizes.size() == 1 ? 0 : 1, classes = c.sizes[static_cast<std::size_t>(dim)];
  const Tensor scores = (randn(c.sizes, kDouble) * 3).to(dtype);
  DimVector places(c.sizes);
  places.erase(places.begin() + dim);
  Tensor target = randint(classes, places, kLong);
  if (target.numel() > 2) target.view({-1}).slice(0, 0, target.numel(), 3).fill_(-100);
  if (c.soft) target = randn(c.sizes, kDouble).softmax(dim).to(dtype);
  const Tensor weight = (rand({classes}, kDouble) + 0.5).to(dtype);
  const auto options = [&](Device device, DType wide) {
    F::CrossEntropyFuncOptions o;
    if (c.weighted) o.weight(weight.to(device, wide));
    return o.label_smoothing(c.smoothing);
  };
  Tensor on_cuda = scores.to(Device::CUDA);
  if (first > 0) {
    const Tensor memory = zeros({scores.numel() + first}, TensorOptions(Device::CUDA).dtype(dtype));
    on_cuda = memory.slice(0, first).view(c.sizes).copy_(scores);
  }
  const auto wide = [&](const Tensor& t) { return is_floating(t.dtype()) ? t.to(kDouble) : t; };
  for (int reduction = 0; reduction < 3; ++reduction) {
    const auto with = [&](F::CrossEntropyFuncOptions o) {
      if (reduction == 0) return o.reduction(kNone);
      return reduction == 1 ? o.reduction(kMean) : o.reduction(kSum);
    };
    const Result expected = run(wide(scores), wide(target), with(options(Device::CPU, kDouble)));
    const Result got = run(on_cuda, target.to(Device::CUDA), with(options(Device::CUDA, dtype)));
    check(got.loss, expected.loss, dtype);
    check(got.grad, expected.grad, dtype);
  }
}

}  // namespace

TEST_CASE("cross-entropy on a device agrees with the CPU for all options") {
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16})
    for (const bool weighted : {false, true})
      for (const bool soft : {false, true})
        for (const double smoothing : {0.0, 0.2})
          for (const DimVector& sizes : {DimVector{4, 5}, DimVector{7}, DimVector{3, 32}, DimVector{2, 5, 6},
                                         DimVector{2, 40, 3, 5}}) {
            INFO(dtype << (weighted ? ", weighted" : "") << (soft ? ", soft" : "") << ", smoothing "
                       << smoothing << ", " << IntArrayRef(sizes));
            compare({sizes, weighted, soft, smoothing}, dtype);
          }
}

TEST_CASE("cross-entropy on a device handles all row lengths and misaligned rows") {
  for (const std::int64_t classes : {1, 2, 3, 7, 8, 31, 64, 129, 255, 257, 1000, 2048, 5003})
    for (const std::int64_t first : {0, 1}) {
      INFO(classes << " classes, from " << first);
      compare({DimVector{3, classes}, false, false, 0}, kFloat, first);
      compare({DimVector{3, classes}, false, false, 0}, kBFloat16, first);
      compare({DimVector{3, classes}, true, false, 0.1}, kHalf, first);
      compare({DimVector{3, classes}, false, true, 0}, kFloat, first);
    }
  for (const std::int64_t first : {0, 3}) {  // the number of tokens
    compare({DimVector{5, 50257}, false, false, 0}, kFloat, first);
    compare({DimVector{5, 50257}, true, false, 0.1}, kBFloat16, first);
    compare({DimVector{2, 50257}, false, true, 0}, kDouble, first);
  }
}

TEST_CASE("cross-entropy on a device agrees with the CPU for infinite and NaN logits") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16})
    for (const std::int64_t classes : {5, 64, 1001}) {
      INFO(dtype << ", " << classes << " classes");
      manual_seed(14);
      Tensor x = randn({7, classes}, kDouble);
      x.select(0, 0).fill_(-kInf);
      x.select(0, 1).fill_(kInf);
      x.select(0, 2).select(0, classes / 2).fill_(kInf);
      x.select(0, 3).select(0, classes - 1).fill_(NAN);
      x.select(0, 4).slice(0, 0, classes - 1).fill_(-kInf);  // one class remains
      x.select(0, 5).slice(0, 0, 3).fill_(-kInf);
      x = x.to(dtype).to(kDouble);
      const auto options = F::CrossEntropyFuncOptions().reduction(kNone);
      const Tensor target = full({7}, classes - 2, kLong);
      target.select(0, 4).fill_(classes - 1);
      const auto both = [&](const Tensor& classes_of_rows) {
        const Result expected = run(x, classes_of_rows, options);
        const Result got = run(x.to(dtype).to(Device::CUDA), classes_of_rows.to(Device::CUDA), options);
        check(got.loss, expected.loss, dtype);
        check(got.grad, expected.grad, dtype);
        return got;
      };
      const Result all = both(target);
      CHECK(std::isnan(all.loss.select(0, 1).item<double>()));
      CHECK(std::isnan(all.loss.select(0, 2).item<double>()));
      CHECK(all.loss.select(0, 4).item<double>() == 0);
      target.slice(0, 0, 4).fill_(-100);
      const Result some = both(target);
      CHECK(some.loss.slice(0, 0, 4).abs().sum().item<double>() == 0);
      CHECK(some.grad.slice(0, 0, 4).abs().sum().item<double>() == 0);  // not NaN
    }
}

TEST_CASE("cross-entropy on a device handles infinite logits and ignored rows and invalid classes") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Tensor x =
      tensor({-kInf, 1.0F, -kInf, 2.0F, kInf, 0.0F, -kInf, -kInf, 3.0F, NAN, 1.0F, 2.0F}).view({6, 2});
  const Tensor target = tensor({1, 1, 1, 0, 0, 0}, kLong);
  const auto options = F::CrossEntropyFuncOptions().reduction(kNone);
  const Result expected = run(x.to(kDouble), target, options);
  const Result got = run(x.to(Device::CUDA), target.to(Device::CUDA), options);
  check(got.loss, expected.loss, kFloat);
  check(got.grad, expected.grad, kFloat);
  const Tensor none = full({2}, -100, TensorOptions(Device::CUDA).dtype(kLong));
  const Result ignored =
      run(ones({2, 3}, TensorOptions(Device::CUDA)), none, F::CrossEntropyFuncOptions().reduction(kSum));
  CHECK(ignored.loss.item<float>() == 0);
  CHECK(ignored.grad.abs().sum().item<float>() == 0);
  CHECK(std::isnan(F::cross_entropy(ones({2, 3}, TensorOptions(Device::CUDA)), none).item<float>()));
  CHECK_THROWS_AS(
      F::cross_entropy(ones({1, 3}, TensorOptions(Device::CUDA)), full({1}, 3, none.options())).item<float>(),
      IndexError);
  const Tensor empty_rows = zeros({0, 4}, TensorOptions(Device::CUDA)).requires_grad_();
  CHECK(F::cross_entropy(empty_rows, zeros({0}, none.options()), F::CrossEntropyFuncOptions().reduction(kSum))
            .item<float>() == 0);
}

TEST_CASE("second derivatives of cross-entropy on a device are correct") {
  manual_seed(13);
  const Tensor target = tensor({1, -100, 0}, kLong).to(Device::CUDA);
  const Tensor soft = randn({3, 4}, kDouble).softmax(1).to(Device::CUDA);
  const Tensor weight = tensor({0.5, 1.0, 2.0, 1.5}, kDouble).to(Device::CUDA);
  for (const bool is_soft : {false, true})
    for (const double smoothing : {0.0, 0.3}) {
      const auto loss = [&](const variable_list& in) {
        const auto options = F::CrossEntropyFuncOptions().weight(weight).label_smoothing(smoothing);
        return variable_list{
            F::cross_entropy(in[0].to(Device::CUDA), is_soft ? soft : target, options).cpu()};
      };
      const Tensor x = randn({3, 4}, kDouble).requires_grad_();
      CHECK(gradcheck(loss, {x}));
      CHECK(gradgradcheck(loss, {x}));
    }
  const auto images = [&](const variable_list& in) {
    return variable_list{F::cross_entropy(in[0].to(Device::CUDA), target.view({1, 3})).cpu()};
  };
  const Tensor x = randn({1, 2, 3}, kDouble).requires_grad_();
  CHECK(gradcheck(images, {x}));
  CHECK(gradgradcheck(images, {x}));
}
