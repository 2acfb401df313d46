// Attention on a device with ebb's kernels and with cuDNN (real or emulated), compared with the CPU.
#include <ebb/ebb.h>

#include "cuda/unit/against_cpu.h"
#include "ops/attention/kernels.h"
#include "support/catch.h"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

// Attention on a device: head sizes of its kernels, lengths that are no multiples of a tile, dropout equal to
// the host.

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

/// The result, the gradients of query, key and value, and that of the mask if there is one.
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

TEST_CASE("attention on a device applies masks correctly if lengths are not multiples of the tile") {
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

TEST_CASE("attention on a device accepts misaligned rows and transposed heads") {
  for (const DType dtype : {kHalf, kFloat}) {
    const Tensor wide = randn({2, 20, 3, 41}, dtype), x = wide.slice(3, 1, 41).transpose(1, 2);
    const Tensor there = wide.to(kCUDA).slice(3, 1, 41).transpose(1, 2);
    const Tensor y = scaled_dot_product_attention(there, there, there).cpu();
    const Tensor z = x.to(kDouble);
    CHECK(allclose(y.to(kDouble), scaled_dot_product_attention(z, z, z), 4e-3, 4e-3));
  }
}

TEST_CASE("attention dropout on a device drops the same weights as on the host") {
  for (const DType dtype : {kHalf, kFloat, kDouble}) {
    INFO(dtype);
    const Inputs in = inputs(dtype, 2, 67, 70, 16, 16);
    ops::AttentionRule rule;
    rule.scale = 0.25;
    rule.dropout = random::Dropout(Philox{77, 3}, 0.7, 1 / 0.7);
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
      kernels::attention_forward(device, call);
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

// Attention with cuDNN (real or emulated), compared with the CPU; and cases that use ebb's own kernels.

using testing::Deterministic;
using testing::with_and_without_cudnn;

namespace {

struct Case {
  std::int64_t heads, key_heads, queries, keys, width, value_width;
  bool causal, interleaved;  // the memory layout is (N, L, H, .)
};
const Case kCases[] = {{4, 4, 64, 64, 64, 64, false, false}, {4, 4, 64, 64, 64, 64, true, true},
                       {4, 2, 65, 131, 32, 32, true, false}, {3, 1, 131, 40, 16, 24, true, true},
                       {2, 2, 1, 67, 8, 8, false, true},     {2, 2, 70, 33, 128, 64, false, false}};

struct LibraryInputs {
  Tensor query, key, value, grad;

  LibraryInputs(const Case& c, DType dtype)
      : query(heads(c.heads, c.queries, c.width, dtype, c.interleaved)),
        key(heads(c.key_heads, c.keys, c.width, dtype, c.interleaved)),
        value(heads(c.key_heads, c.keys, c.value_width, dtype, c.interleaved)),
        grad(heads(c.heads, c.queries, c.value_width, dtype, false)) {}

  static Tensor heads(std::int64_t count, std::int64_t rows, std::int64_t width, DType dtype,
                      bool interleaved) {
    if (interleaved) return randn({2, rows, count, width}, dtype).transpose(1, 2);
    return randn({2, count, rows, width}, dtype);
  }
};

// The result and the three gradients; `between` runs after the forward pass.
variable_list library_results(
    const LibraryInputs& in, TensorOptions to, bool causal, const std::function<void()>& between = [] {},
    const Tensor& mask = {}, double dropout = 0) {
  const auto leaf = [&](const Tensor& x) { return x.to(to).requires_grad_(); };
  const variable_list leaves = {leaf(in.query), leaf(in.key), leaf(in.value)};
  const Tensor y =
      scaled_dot_product_attention(leaves[0], leaves[1], leaves[2], mask, dropout, causal, {}, true);
  between();
  variable_list all = autograd::grad({y}, leaves, {in.grad.to(to)});
  all.push_back(y.detach());
  return all;
}

void compare_library(const LibraryInputs& in, bool causal, const std::function<void()>& between = [] {}) {
  const DType dtype = in.query.dtype();
  const variable_list got = library_results(in, TensorOptions(kCUDA).dtype(dtype), causal, between),
                      expected = library_results(in, TensorOptions(kCPU).dtype(kDouble), causal);
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("result " << i);
    const Tensor error = (got[i].cpu().to(kDouble) - expected[i]).abs();
    CHECK((error / (1 + expected[i].abs())).max().item<double>() < (dtype == kHalf ? 8e-3 : 6e-2));
  }
}

struct EnableAgain {
  ~EnableAgain() { cuda::enable_cudnn(true); }
};

}  // namespace

TEST_CASE("attention agrees with the CPU with and without cuDNN") {
  manual_seed(31);
  for (const Case& c : kCases)
    for (const DType dtype : {kHalf, kBFloat16}) {
      INFO(dtype << ", " << c.queries << " queries, " << c.keys << " keys, heads of " << c.width
                 << (c.causal ? ", causal" : ""));
      const LibraryInputs in(c, dtype);
      with_and_without_cudnn([&] { compare_library(in, c.causal); });
    }
}

TEST_CASE("gradients of attention do not depend on the old contents of scratch memory") {
  manual_seed(35);
  for (const Case& c : kCases) {
    const LibraryInputs in(c, kHalf);
    // The allocator reuses freed blocks without clearing: these have the sizes of the gradient sums of the
    // queries, and of adjacent buffers.
    const auto leave_dirt = [&] {
      std::vector<Tensor> dirt;
      for (int i = 0; i < 3; ++i) {
        dirt.push_back(full(in.query.sizes(), std::nan(""), TensorOptions(kCUDA)));
        dirt.push_back(full(in.key.sizes(), std::nan(""), TensorOptions(kCUDA)));
      }
    };
    with_and_without_cudnn([&] {
      for (int repeat = 0; repeat < 3; ++repeat) compare_library(in, c.causal, leave_dirt);
    });
  }
}

TEST_CASE("attention works if only one of forward and backward uses cuDNN") {
  const EnableAgain guard;
  manual_seed(32);
  for (const bool first : {true, false})
    for (const Case& c : kCases) {
      cuda::enable_cudnn(first);
      compare_library(LibraryInputs(c, kHalf), c.causal, [&] { cuda::enable_cudnn(!first); });
    }
}

TEST_CASE("attention with cuDNN gives only the requested gradients") {
  manual_seed(33);
  const LibraryInputs in(kCases[0], kHalf);
  const TensorOptions there = TensorOptions(kCUDA).dtype(kHalf);
  const variable_list all = library_results(in, there, false);
  const variable_list fixed = {in.query.to(there), in.key.to(there), in.value.to(there)};
  for (std::size_t i = 0; i < 3; ++i) {
    variable_list inputs = fixed;
    inputs[i] = fixed[i].clone().requires_grad_();
    const Tensor y = scaled_dot_product_attention(inputs[0], inputs[1], inputs[2]);
    CHECK(allclose(autograd::grad({y}, {inputs[i]}, {in.grad.to(there)})[0].cpu(), all[i].cpu(), 1e-2, 1e-2));
  }
}

TEST_CASE("attention that cuDNN does not support is equal with and without cuDNN") {
  const EnableAgain guard;
  manual_seed(34);
  const auto is_same = [](const std::function<variable_list()>& run) {
    manual_seed(35);
    cuda::enable_cudnn(true);
    const variable_list on = run();
    manual_seed(35);
    cuda::enable_cudnn(false);
    const variable_list off = run();
    bool same = true;
    for (std::size_t i = 0; i < on.size(); ++i) same = same && equal(on[i].cpu(), off[i].cpu());
    return same;
  };
  const Case& c = kCases[0];
  const LibraryInputs half(c, kHalf), single(c, kFloat), odd({2, 2, 70, 64, 36, 36, false, false}, kHalf);
  const TensorOptions there = TensorOptions(kCUDA).dtype(kHalf);
  const Tensor bias = randn({c.queries, c.keys}, there), allowed = bias.gt(-1);
  CHECK(is_same([&] { return library_results(half, there, false, [] {}, bias); }));
  CHECK(is_same([&] { return library_results(half, there, false, [] {}, allowed); }));
  CHECK(is_same([&] { return library_results(half, there, true, [] {}, {}, 0.25); }));
  CHECK(is_same([&] { return library_results(single, TensorOptions(kCUDA).dtype(kFloat), false); }));
  CHECK(is_same([&] { return library_results(odd, there, false); }));
  // Also with a sample that is expanded to many, and with reversed rows of scores.
  const Tensor one = half.key.slice(0, 0, 1).to(there).expand({2, 4, 64, 64}), query = half.query.to(there);
  CHECK(is_same([&] { return variable_list{scaled_dot_product_attention(query, one, one)}; }));
  CHECK(is_same([&] {
    return variable_list{scaled_dot_product_attention(query, query, query, {}, 0, false, -0.125)};
  }));
  // Otherwise the emulated cuDNN is used, which rounds differently.
  const char* const stands_in = std::getenv("EBB_EMU_DNN");
  if (!stands_in) return;
  CHECK(is_same([&] { return library_results(half, there, false); }) != cuda::cudnn_is_available());
  CHECK(is_same([&] { return variable_list{scaled_dot_product_attention(query, query, query)}; }) !=
        cuda::cudnn_is_available());
}

TEST_CASE("deterministic gradients of attention are bitwise equal with and without cuDNN") {
  const Deterministic deterministic;
  manual_seed(36);
  const LibraryInputs in(kCases[1], kBFloat16);
  with_and_without_cudnn([&] {
    const TensorOptions there = TensorOptions(kCUDA).dtype(kBFloat16);
    const variable_list once = library_results(in, there, true), again = library_results(in, there, true);
    for (std::size_t i = 0; i < once.size(); ++i) CHECK(equal(once[i], again[i]));
  });
  if (!std::getenv("EBB_EMU_DNN")) return;
  // They come from ebb's kernels: with the same forward pass they are equal without cuDNN.
  const EnableAgain guard;
  const TensorOptions there = TensorOptions(kCUDA).dtype(kBFloat16);
  const variable_list on = library_results(in, there, true),
                      off = library_results(in, there, true, [] { cuda::enable_cudnn(false); });
  for (std::size_t i = 0; i < on.size(); ++i) CHECK(equal(on[i], off[i]));
}
