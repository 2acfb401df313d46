// Misaligned arrays and split batches: device libraries get only arrays that are aligned and within their
// size limits.
#include <ebb/ebb.h>

#include "cuda/unit/against_cpu.h"
#include "support/catch.h"
#include "support/compare.h"

using namespace ebb;
using testing::check_close;
using testing::compare;
using testing::with_and_without_cudnn;

namespace {

// The same values, one element after the start of an allocation, with the same layout; the gradient is
// shifted, too.
Tensor shifted(const Tensor& x) {
  const bool last = !x.is_contiguous();
  const Tensor lines = last ? x.permute({0, 2, 3, 1}) : x;
  const Tensor moved = cat({zeros({1}, TensorOptions(x.dtype()).device(x.device())), lines.reshape({-1})})
                           .slice(0, 1)
                           .view(lines.sizes());
  return last ? moved.permute({0, 3, 1, 2}) : moved;
}

Tensor like(const Tensor& t, const Tensor& x) { return t.to(x.dtype()).to(x.device()); }

// The weight gradient of a convolution on the device, compared with the CPU in double.
void compare_weight(const Tensor& values, const Tensor& weight, const Tensor& seed, bool shift) {
  for (const DType dtype : {kFloat, kHalf, kDouble})
    for (const bool last : {false, true}) {
      INFO(to_string(dtype) << (last ? ", channels-last" : ", contiguous"));
      const auto gradient = [&](const TensorOptions& options) {
        const auto there = [&](const Tensor& t) {
          return t.to(dtype).contiguous(testing::format_of(t, last)).to(options.device()).to(options.dtype());
        };
        Tensor w = there(weight).clone().requires_grad_();
        const Tensor x = there(values), y = conv2d(shift ? shifted(x) : x, shift ? shifted(w) : w, {}, 1, 1);
        (shift ? shifted(y) : y).backward(there(seed));
        return w.grad();
      };
      check_close(gradient(TensorOptions(kCUDA).dtype(dtype)), gradient(TensorOptions(kCPU).dtype(kDouble)),
                  dtype);
    }
}

}  // namespace

TEST_CASE("convolutions of misaligned arrays agree with and without cuDNN") {
  manual_seed(41);
  const Tensor x = randn({2, 4, 7, 6}, kDouble), w = randn({8, 4, 3, 3}, kDouble) * 0.3,
               b = randn({8}, kDouble), turned = randn({4, 8, 3, 3}, kDouble) * 0.3;
  const auto all = [&](const Tensor& v, const Tensor& weight) {
    return like(weight, v).contiguous(testing::format_of(weight, !v.is_contiguous()));
  };
  with_and_without_cudnn([&] {
    compare(
        "plain", [&](const Tensor& v) { return shifted(conv2d(shifted(v), shifted(all(v, w)), {}, 1, 1)); },
        x);
    compare(
        "with a bias",
        [&](const Tensor& v) { return conv2d(shifted(v), shifted(all(v, w)), shifted(like(b, v)), 1, 1); },
        x);
    compare(
        "transposed",
        [&](const Tensor& v) { return shifted(conv_transpose2d(shifted(v), shifted(all(v, turned)))); }, x);
    compare_weight(x, w, randn({2, 8, 7, 6}, kDouble), true);
  });
}

TEST_CASE("convolutions with split batches agree with and without cuDNN") {
  manual_seed(42);
  const Tensor w = randn({8, 4, 3, 3}, kDouble) * 0.3, b = randn({8}, kDouble);
  // The emulated cuDNN supports up to 2^14 elements: parts of 8 and 6 samples, of 2 and 1, and no part for a
  // too large sample.
  for (const DimVector& shape :
       {DimVector{14, 4, 14, 16}, DimVector{3, 4, 30, 30}, DimVector{2, 4, 48, 48}}) {
    INFO(IntArrayRef(shape));
    const Tensor x = randn(shape, kDouble);
    DimVector result = shape;
    result[1] = 8;
    const Tensor seed = randn(result, kDouble) * 0.1;
    with_and_without_cudnn([&] {
      compare("with a bias", [&](const Tensor& v) { return conv2d(v, like(w, v), like(b, v), 1, 1); }, x);
      compare_weight(x * 0.1, w, seed, false);
    });
  }
}

TEST_CASE("gradients of attention on misaligned arrays agree with and without cuDNN") {
  manual_seed(44);
  const Tensor query = randn({1, 2, 20, 16}, kDouble), key = randn({1, 2, 24, 16}, kDouble),
               value = randn({1, 2, 24, 16}, kDouble), seed = randn({1, 2, 20, 16}, kDouble);
  for (const DType dtype : {kHalf, kBFloat16}) {
    const auto gradients = [&](const TensorOptions& options) {
      const auto there = [&](const Tensor& x) {
        return x.to(dtype).to(options.device()).to(options.dtype());
      };
      const variable_list leaves = {there(query).requires_grad_(), there(key).requires_grad_(),
                                    there(value).requires_grad_()};
      const Tensor y = shifted(scaled_dot_product_attention(leaves[0], leaves[1], leaves[2]));
      return autograd::grad({y}, leaves, {there(seed)});
    };
    const variable_list expected = gradients(TensorOptions(kCPU).dtype(kDouble));
    with_and_without_cudnn([&] {
      const variable_list got = gradients(TensorOptions(kCUDA).dtype(dtype));
      for (std::size_t i = 0; i < got.size(); ++i) {
        INFO(to_string(dtype) << ", " << i);
        const Tensor error = (got[i].cpu().to(kDouble) - expected[i]).abs();
        CHECK((error / (1 + expected[i].abs())).max().item<double>() < (dtype == kHalf ? 8e-3 : 6e-2));
      }
    });
  }
}

TEST_CASE("matmul of misaligned matrices agrees with the CPU") {
  manual_seed(43);
  const Tensor a = randn({5, 7, 9}, kDouble), b = randn({5, 9, 6}, kDouble), c = randn({5, 7, 6}, kDouble);
  for (const DType dtype : {kFloat, kHalf, kBFloat16, kDouble}) {
    INFO(to_string(dtype));
    const auto there = [&](const Tensor& t) { return t.to(dtype).to(Device::CUDA); };
    const auto rounded = [&](const Tensor& t) { return t.to(dtype).to(kDouble); };
    const Tensor product = matmul(rounded(a), rounded(b));
    check_close(matmul(shifted(there(a)), there(b)), product, dtype);
    check_close(matmul(there(a), shifted(there(b))), product, dtype);
    check_close(matmul(shifted(there(a)), shifted(there(b).mT().contiguous()).mT()), product, dtype);
    // Accumulates into misaligned memory.
    Tensor sum = shifted(there(c));
    sum.baddbmm_(there(a), there(b), 0.5, 2);
    check_close(sum, rounded(c) * 0.5 + product * 2, dtype);
    // A linear layer whose bias is added to the product.
    const Tensor x = a[0], weight = b[0].t().contiguous(), bias = c[0][0];
    check_close(linear(shifted(there(x)), there(weight), there(bias)),
                linear(rounded(x), rounded(weight), rounded(bias)), dtype);
  }
}
