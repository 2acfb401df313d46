// Attention by cuDNN, or by what stands in for it, against the CPU; and what stays with ebb's own kernels.
#include <ebb/ebb.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include "cuda/unit/either_way.h"
#include "support/catch.h"

using namespace ebb;
using testing::Deterministic;
using testing::either_way;

namespace {

struct Case {
  std::int64_t heads, key_heads, queries, keys, width, value_width;
  bool causal, interleaved;  // in memory as (N, L, H, .)
};
const Case kCases[] = {{4, 4, 64, 64, 64, 64, false, false}, {4, 4, 64, 64, 64, 64, true, true},
                       {4, 2, 65, 131, 32, 32, true, false}, {3, 1, 131, 40, 16, 24, true, true},
                       {2, 2, 1, 67, 8, 8, false, true},     {2, 2, 70, 33, 128, 64, false, false}};

struct Inputs {
  Tensor query, key, value, grad;

  Inputs(const Case& c, DType dtype)
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
variable_list results(
    const Inputs& in, TensorOptions to, bool causal, const std::function<void()>& between = [] {},
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

void compare(
    const Inputs& in, bool causal, const std::function<void()>& between = [] {}) {
  const DType dtype = in.query.dtype();
  const variable_list got = results(in, TensorOptions(kCUDA).dtype(dtype), causal, between),
                      expected = results(in, TensorOptions(kCPU).dtype(kDouble), causal);
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

TEST_CASE("attention with and without cuDNN") {
  manual_seed(31);
  for (const Case& c : kCases)
    for (const DType dtype : {kHalf, kBFloat16}) {
      INFO(dtype << ", " << c.queries << " queries, " << c.keys << " keys, heads of " << c.width
                 << (c.causal ? ", causal" : ""));
      const Inputs in(c, dtype);
      either_way([&] { compare(in, c.causal); });
    }
}

TEST_CASE("gradients of attention do not depend on what its scratch memory held before") {
  manual_seed(35);
  for (const Case& c : kCases) {
    const Inputs in(c, kHalf);
    // The allocator hands freed blocks out again as they are: these are of the size of the sums of the
    // gradients of queries, and of their neighbours.
    const auto leave_dirt = [&] {
      std::vector<Tensor> dirt;
      for (int i = 0; i < 3; ++i) {
        dirt.push_back(full(in.query.sizes(), std::nan(""), TensorOptions(kCUDA)));
        dirt.push_back(full(in.key.sizes(), std::nan(""), TensorOptions(kCUDA)));
      }
    };
    either_way([&] {
      for (int repeat = 0; repeat < 3; ++repeat) compare(in, c.causal, leave_dirt);
    });
  }
}

TEST_CASE("attention with cuDNN in one pass and without in the other") {
  const EnableAgain guard;
  manual_seed(32);
  for (const bool first : {true, false})
    for (const Case& c : kCases) {
      cuda::enable_cudnn(first);
      compare(Inputs(c, kHalf), c.causal, [&] { cuda::enable_cudnn(!first); });
    }
}

TEST_CASE("attention by cuDNN gives the gradients that are asked for") {
  manual_seed(33);
  const Inputs in(kCases[0], kHalf);
  const TensorOptions there = TensorOptions(kCUDA).dtype(kHalf);
  const variable_list all = results(in, there, false);
  const variable_list fixed = {in.query.to(there), in.key.to(there), in.value.to(there)};
  for (std::size_t i = 0; i < 3; ++i) {
    variable_list inputs = fixed;
    inputs[i] = fixed[i].clone().requires_grad_();
    const Tensor y = scaled_dot_product_attention(inputs[0], inputs[1], inputs[2]);
    CHECK(allclose(autograd::grad({y}, {inputs[i]}, {in.grad.to(there)})[0].cpu(), all[i].cpu(), 1e-2, 1e-2));
  }
}

TEST_CASE("what cuDNN has no attention for is computed by the same kernels with and without cuDNN") {
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
  const Inputs half(c, kHalf), single(c, kFloat), odd({2, 2, 70, 64, 36, 36, false, false}, kHalf);
  const TensorOptions there = TensorOptions(kCUDA).dtype(kHalf);
  const Tensor bias = randn({c.queries, c.keys}, there), allowed = bias.gt(-1);
  CHECK(is_same([&] {
    return results(
        half, there, false, [] {}, bias);
  }));
  CHECK(is_same([&] {
    return results(
        half, there, false, [] {}, allowed);
  }));
  CHECK(is_same([&] {
    return results(
        half, there, true, [] {}, {}, 0.25);
  }));
  CHECK(is_same([&] { return results(single, TensorOptions(kCUDA).dtype(kFloat), false); }));
  CHECK(is_same([&] { return results(odd, there, false); }));
  // Also where a sample stands for many, and with scores upside down.
  const Tensor one = half.key.slice(0, 0, 1).to(there).expand({2, 4, 64, 64}), query = half.query.to(there);
  CHECK(is_same([&] { return variable_list{scaled_dot_product_attention(query, one, one)}; }));
  CHECK(is_same([&] {
    return variable_list{scaled_dot_product_attention(query, query, query, {}, 0, false, -0.125)};
  }));
  // Else the stand-in is asked, which rounds elsewhere.
  const char* const stands_in = std::getenv("EBB_EMU_DNN");
  if (!stands_in) return;
  CHECK(is_same([&] { return results(half, there, false); }) != cuda::cudnn_is_available());
  CHECK(is_same([&] { return variable_list{scaled_dot_product_attention(query, query, query)}; }) !=
        cuda::cudnn_is_available());
}

TEST_CASE("gradients of attention repeat bit for bit where the program asks, with and without cuDNN") {
  const Deterministic deterministic;
  manual_seed(36);
  const Inputs in(kCases[1], kBFloat16);
  either_way([&] {
    const TensorOptions there = TensorOptions(kCUDA).dtype(kBFloat16);
    const variable_list once = results(in, there, true), again = results(in, there, true);
    for (std::size_t i = 0; i < once.size(); ++i) CHECK(equal(once[i], again[i]));
  });
  if (!std::getenv("EBB_EMU_DNN")) return;
  // They are those of ebb's kernels: with the same forward pass, the same without cuDNN.
  const EnableAgain guard;
  const TensorOptions there = TensorOptions(kCUDA).dtype(kBFloat16);
  const variable_list on = results(in, there, true),
                      off = results(in, there, true, [] { cuda::enable_cudnn(false); });
  for (std::size_t i = 0; i < on.size(); ++i) CHECK(equal(on[i], off[i]));
}
