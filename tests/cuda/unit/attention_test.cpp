// Attention on a device: head sizes of its kernels, lengths that fill no tile, dropout as the host drops.
#include <ebb/ebb.h>

#include <cmath>

#include "ops/attention/kernels.h"
#include "support/catch.h"

using namespace ebb;

namespace {

struct Inputs {
  Tensor query, key, value, grad;
};

Inputs inputs(DType dtype, std::int64_t heads, std::int64_t queries, std::int64_t keys, std::int64_t width,
              std::int64_t value_width) {
  const auto made = [&](std::int64_t h, std::int64_t rows, std::int64_t columns) {
    return randn({1, h, rows, columns}, dtype);
  };
  return {made(heads, queries, width), made(1, keys, width), made(1, keys, value_width),
          made(heads, queries, value_width)};
}

/// The result and the gradients of the three, and of the mask where there is one.
variable_list results(const Inputs& in, TensorOptions to, const Tensor& mask, bool causal) {
  const auto leaf = [&](const Tensor& x) { return x.to(to).requires_grad_(); };
  variable_list leaves = {leaf(in.query), leaf(in.key), leaf(in.value)};
  Tensor m = mask;
  if (mask.defined()) {
    m = mask.is_floating_point() ? leaf(mask) : mask.to(to.device());
    if (mask.is_floating_point()) leaves.push_back(m);
  }
  const Tensor y = scaled_dot_product_attention(leaves[0], leaves[1], leaves[2], m, 0, causal, {}, true);
  variable_list all = autograd::grad({y}, leaves, {in.grad.to(to)});
  all.push_back(y.detach());
  return all;
}

void compare(const Inputs& in, const Tensor& mask, bool causal, double tolerance) {
  const DType dtype = in.query.dtype();
  const variable_list got = results(in, TensorOptions(kCUDA).dtype(dtype), mask, causal),
                      expected = results(in, TensorOptions(kCPU).dtype(kDouble), mask, causal);
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("result " << i);
    CHECK(got[i].dtype() == dtype);
    const Tensor error = (got[i].cpu().to(kDouble) - expected[i]).abs();
    CHECK((error / (1 + expected[i].abs())).max().item<double>() < tolerance);
  }
}

double tolerance_of(DType dtype) {
  return dtype == kDouble ? 1e-11 : dtype == kFloat ? 1e-4 : dtype == kHalf ? 8e-3 : 6e-2;
}

}  // namespace

TEST_CASE("attention on a device has a kernel for every head size") {
  manual_seed(4);
  for (const DType dtype : {kHalf, kBFloat16, kFloat})
    for (const std::int64_t width : {8, 33, 64, 96, 120, 200, 264}) {
      INFO(dtype << ", head size " << width);
      compare(inputs(dtype, 1, 70, 40, width, width), {}, false, tolerance_of(dtype));
    }
  compare(inputs(kBFloat16, 1, 20, 30, 40, 72), {}, false, tolerance_of(kBFloat16));
  compare(inputs(kHalf, 1, 20, 30, 72, 7), {}, false, tolerance_of(kHalf));
}

TEST_CASE("attention on a device keeps to masks where lengths fill no tile") {
  manual_seed(6);
  for (const DType dtype : {kHalf, kBFloat16, kFloat, kDouble})
    for (const auto& [queries, keys] : {std::pair(65, 131), std::pair(131, 65), std::pair(1, 67)}) {
      INFO(dtype << ", " << queries << " queries, " << keys << " keys");
      const Inputs in = inputs(dtype, 2, queries, keys, 16, 16);
      const double tolerance = tolerance_of(dtype);
      compare(in, {}, true, tolerance);
      Tensor allowed = rand({queries, keys}).gt(0.4);
      allowed.select(0, 0).fill_(false);
      compare(in, allowed, false, tolerance);
      compare(in, randn({1, 1, queries, keys}, dtype), false, tolerance);
    }
}

TEST_CASE("attention on a device reads rows at any address and heads in any order") {
  for (const DType dtype : {kHalf, kFloat}) {
    const Tensor wide = randn({2, 20, 3, 41}, dtype), x = wide.slice(3, 1, 41).transpose(1, 2);
    const Tensor there = wide.to(kCUDA).slice(3, 1, 41).transpose(1, 2);
    const Tensor y = scaled_dot_product_attention(there, there, there).cpu();
    const Tensor z = x.to(kDouble);
    CHECK(allclose(y.to(kDouble), scaled_dot_product_attention(z, z, z), 4e-3, 4e-3));
  }
}

TEST_CASE("a device's attention drops the weights that the host drops") {
  for (const DType dtype : {kHalf, kFloat, kDouble}) {
    INFO(dtype);
    const Inputs in = inputs(dtype, 2, 67, 70, 16, 16);
    ops::AttentionRule rule;
    rule.scale = 0.25;
    rule.dropout = drawing::Dropout(Philox{77, 3}, 0.7, 1 / 0.7);
    const auto run = [&](Device device) {
      const auto there = [&](const Tensor& x) { return x.to(device).array(); };
      const auto fresh = [&](const Tensor& x) { return NdArray::empty(x.sizes(), dtype, device); };
      const DType sums = dtype == kDouble ? kDouble : kFloat;
      ops::AttentionSaved call{there(in.query),
                               there(in.key),
                               there(in.value),
                               fresh(in.grad),
                               NdArray::empty({1, 2, 67}, sums, device),
                               rule};
      kernels::attention(device, call);
      ops::AttentionGrads grads{fresh(in.query), fresh(in.key), fresh(in.value)};
      kernels::attention_backward(device, grads, there(in.grad), call);
      NdArray factors = NdArray::empty({1, 2, 67, 70}, sums, device);
      kernels::attention_dropout(device, factors, *rule.dropout);
      variable_list all;
      for (const NdArray& x : {call.result, call.log_sum, grads.query, grads.key, grads.value, factors})
        all.push_back(Tensor(x).cpu());
      return all;
    };
    const variable_list here = run(kCPU), there = run(Device(DeviceType::CUDA, 0));
    for (std::size_t i = 0; i < here.size(); ++i) {
      INFO("result " << i);
      CHECK(allclose(there[i].to(kDouble), here[i].to(kDouble), tolerance_of(dtype), tolerance_of(dtype)));
    }
    CHECK(equal(there[5], here[5]));
  }
}
