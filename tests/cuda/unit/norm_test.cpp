// Norm kernels on a device, compared with the CPU in double, for shapes that select each kernel variant.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <cmath>
#include <functional>

// Norm kernels on a device, compared with the CPU in double, for shapes that select each kernel variant:
// planes that are multiples of a vector or not, channels-last, few or odd numbers of channels, misaligned
// arrays, one row and very many rows.

using namespace ebb;

namespace {

struct Inputs {
  Tensor x, weight, bias;
};

using Norm = std::function<Tensor(const Inputs&)>;

// Copies to the device, `shift` elements after the start of the storage.
Tensor placed(const Tensor& x, std::int64_t shift) {
  if (shift == 0) return x.to(Device::CUDA);
  const Tensor storage = empty({x.numel() + shift}, TensorOptions(x.dtype()).device(Device::CUDA));
  const Tensor out = storage.narrow(0, shift, x.numel()).view(x.sizes());
  out.copy_(x);
  return out;
}

Tensor leaf(const Tensor& x) { return x.defined() ? x.detach().requires_grad_() : x; }

void check_close(const char* what, const Tensor& got, const Tensor& expected, double tolerance) {
  INFO(what);
  REQUIRE(got.defined());
  const Tensor on_host = got.cpu().to(kDouble);
  const double scale = std::max(1.0, expected.abs().max().item<double>());
  CHECK((on_host - expected).abs().max().item<double>() <= tolerance * scale);
}

void check_norm(const Norm& norm, const Tensor& x, std::int64_t affine, DType dtype,
                MemoryFormat format = MemoryFormat::Contiguous, std::int64_t shift = 0) {
  INFO(x.sizes() << " " << dtype << (format == MemoryFormat::Contiguous ? "" : " channels-last") << " shift "
                 << shift);
  Inputs rounded{x.to(dtype), {}, {}};
  if (affine > 0) {
    rounded.weight = rand({affine}, kDouble).add_(0.5).to(dtype);
    rounded.bias = randn({affine}, kDouble).to(dtype);
  }
  const auto each = [](const Inputs& in, const std::function<Tensor(const Tensor&)>& f) {
    return Inputs{leaf(f(in.x)), in.weight.defined() ? leaf(f(in.weight)) : Tensor(),
                  in.bias.defined() ? leaf(f(in.bias)) : Tensor()};
  };
  const Inputs host = each(rounded, [](const Tensor& t) { return t.to(kDouble); });
  Inputs device = each(rounded, [&](const Tensor& t) { return placed(t, shift); });
  if (format != MemoryFormat::Contiguous) device.x = leaf(rounded.x.contiguous(format).to(Device::CUDA));
  const Tensor grad = randn(x.sizes(), kDouble).to(dtype);
  const Tensor expected = norm(host), out = norm(device);
  expected.backward(grad.to(kDouble));
  out.backward(placed(grad, shift));
  const double eps = dtype == kDouble ? 1e-11 : dtype == kFloat ? 1e-5 : dtype == kHalf ? 2e-3 : 1e-2;
  check_close("out", out.detach(), expected.detach(), eps);
  check_close("dx", device.x.grad(), host.x.grad(), eps);
  if (affine > 0) {
    check_close("dweight", device.weight.grad(), host.weight.grad(), eps);
    check_close("dbias", device.bias.grad(), host.bias.grad(), eps);
  }
}

Tensor batch_norm_of(const Inputs& in) {
  return batch_norm(in.x, in.weight, in.bias, {}, {}, true, 0.1, 1e-3, false);
}

}  // namespace

TEST_CASE("batch norm on a device is correct for all plane sizes") {
  manual_seed(11);
  const std::vector<std::vector<std::int64_t>> shapes{
      {5, 8, 7, 7},      // tiles of 8 planes
      {700, 8, 7, 7},    // in pieces
      {5, 3, 7, 7},      // no multiple of a vector
      {40, 2, 14, 14},   // tiles of 2 planes in 16 bits, of 1 in 32
      {6, 3, 14, 14},    // no multiple of a 16-bit vector
      {3, 5, 32, 32},    // planes
      {2, 2, 160, 160},  // planes in pieces
      {3, 2, 27, 27},    // planes of single elements
      {70, 64, 1, 1},   {9000, 64},    {70000, 3},   {3000, 40, 2},
      {33, 7, 3},       {4, 12, 1, 1}, {2, 1, 1, 1}, {1, 24, 15, 15}};
  for (const auto& shape : shapes)
    for (const DType dtype : {kFloat, kBFloat16})
      check_norm(batch_norm_of, randn(shape, kDouble).mul_(2).add_(3), shape[1], dtype);
  for (const DType dtype : {kDouble, kHalf}) {
    check_norm(batch_norm_of, randn({30, 8, 7, 7}, kDouble), 8, dtype);
    check_norm(batch_norm_of, randn({3, 4, 24, 24}, kDouble), 0, dtype);
  }
}

TEST_CASE("batch norm on a device handles channels-last and misaligned arrays") {
  manual_seed(12);
  for (const DType dtype : {kFloat, kBFloat16}) {
    for (const std::int64_t channels : {64, 3, 40, 20, 320})
      check_norm(batch_norm_of, randn({6, channels, 9, 7}, kDouble), channels, dtype,
                 MemoryFormat::ChannelsLast);
    check_norm(batch_norm_of, randn({5, 8, 7, 7}, kDouble), 8, dtype, MemoryFormat::Contiguous, 1);
    check_norm(batch_norm_of, randn({5, 2, 16, 17}, kDouble), 2, dtype, MemoryFormat::Contiguous, 3);
    check_norm(batch_norm_of, randn({90, 16}, kDouble), 16, dtype, MemoryFormat::Contiguous, 1);
  }
}

TEST_CASE("batch norm on a device is bitwise repeatable") {
  manual_seed(13);
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{700, 8, 7, 7}, {9000, 64}, {2, 2, 160, 160}}) {
    const Tensor x = randn(shape, kFloat).to(Device::CUDA);
    const auto [a, mean_a, rstd_a] = native_batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5);
    const auto [b, mean_b, rstd_b] = native_batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5);
    CHECK(equal(mean_a.cpu(), mean_b.cpu()));
    CHECK(equal(rstd_a.cpu(), rstd_b.cpu()));
  }
}

TEST_CASE("layer norm on a device is correct for all row lengths") {
  manual_seed(14);
  const auto layer_norm_over = [](std::int64_t n) {
    return [n](const Inputs& in) { return layer_norm(in.x, {n}, in.weight, in.bias, 1e-3); };
  };
  // Rows and their length: thread groups inside a warp, full warps, more than one row per group, rows too
  // long for registers.
  const std::vector<std::pair<std::int64_t, std::int64_t>> shapes{
      {1, 768},   {1, 1},      {5, 5},      {70000, 3}, {3000, 64},  {700, 256}, {600, 257},
      {540, 768}, {300, 1600}, {300, 1001}, {3, 4096},  {270, 4104}, {3, 8192},  {3, 8200}};
  for (const auto& [rows, n] : shapes)
    for (const DType dtype : {kFloat, kBFloat16})
      check_norm(layer_norm_over(n), randn({rows, n}, kDouble).add_(2), n, dtype);
  for (const DType dtype : {kDouble, kHalf}) {
    check_norm(layer_norm_over(96), randn({300, 96}, kDouble), 96, dtype);
    check_norm(layer_norm_over(4100), randn({3, 4100}, kDouble), 4100, dtype);
    check_norm(layer_norm_over(640), randn({7, 640}, kDouble), 0, dtype);
    check_norm(layer_norm_over(640), randn({7, 640}, kDouble), 640, dtype, MemoryFormat::Contiguous, 1);
  }
}

TEST_CASE("layer norm on a device gives only the requested gradients") {
  manual_seed(15);
  const Tensor x = randn({600, 200}, kDouble), w = rand({200}, kDouble).add_(0.5),
               g = randn({600, 200}, kDouble);
  for (int asked = 1; asked < 8; ++asked) {
    INFO("asked for " << asked);
    std::vector<Tensor> leaves[2];
    for (int on_device = 0; on_device < 2; ++on_device) {
      const Device device = on_device ? Device::CUDA : Device::CPU;
      const std::vector<Tensor> in{x.to(device), w.to(device), w.to(device)};
      for (int i = 0; i < 3; ++i)
        leaves[on_device].push_back(in[i].detach().requires_grad_((asked >> i & 1) != 0));
      const auto& l = leaves[on_device];
      layer_norm(l[0], {200}, l[1], l[2], 1e-5).backward(g.to(device));
    }
    for (int i = 0; i < 3; ++i) {
      REQUIRE(leaves[1][i].grad().defined() == ((asked >> i & 1) != 0));
      if (leaves[1][i].grad().defined())
        check_close("gradient", leaves[1][i].grad(), leaves[0][i].grad(), 1e-11);
    }
  }
}

TEST_CASE("group norm on a device is correct for all plane sizes") {
  manual_seed(16);
  const auto group_norm_of = [](const Inputs& in) { return group_norm(in.x, 4, in.weight, in.bias, 1e-3); };
  for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{
           {5, 8, 7, 7}, {400, 8, 7, 7}, {3, 4, 32, 32}, {300, 64}, {6, 12, 3, 3}, {2, 8, 80, 81}})
    for (const DType dtype : {kFloat, kBFloat16})
      check_norm(group_norm_of, randn(shape, kDouble).add_(1), shape[1], dtype);
}

TEST_CASE("RMS norm on a device is correct for all row lengths") {
  manual_seed(15);
  const auto rms_norm_over = [](std::int64_t n) {
    return [n](const Inputs& in) {
      const Tensor out = rms_norm(in.x, {n}, in.weight, 1e-3);
      return in.bias.defined() ? out + in.bias : out;
    };
  };
  for (const auto& [rows, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 768}, {5, 5}, {7000, 3}, {540, 768}, {300, 1001}, {3, 4096}, {3, 8200}, {2, 20000}})
    for (const DType dtype : {kFloat, kBFloat16})
      check_norm(rms_norm_over(n), randn({rows, n}, kDouble).add_(2), n, dtype);
  for (const DType dtype : {kDouble, kHalf})
    check_norm(rms_norm_over(640), randn({7, 640}, kDouble), 0, dtype, MemoryFormat::Contiguous, 1);
}

TEST_CASE("fused add and norm on a device is correct for all row lengths") {
  manual_seed(17);
  for (const std::int64_t n : {5, 768, 1001, 4096, 8200, 20000})
    for (const DType dtype : {kFloat, kBFloat16}) {
      INFO("rows of " << n << ", " << dtype);
      const Tensor x = randn({3, n}, dtype), r = randn({3, n}, dtype), w = randn({n}, dtype),
                   b = randn({n}, dtype);
      const Tensor gy = randn({3, n}, dtype), gs = randn({3, n}, dtype);
      std::vector<Tensor> results[2];
      for (const bool on_device : {false, true}) {
        const Device device = on_device ? Device::CUDA : Device::CPU;
        const auto there = [&](const Tensor& t) {  // misaligned to 16 bytes if rows are odd
          return cat({t.reshape({-1}).slice(0, 0, n % 2), t.reshape({-1})})
              .to(on_device ? dtype : kDouble)
              .to(device)
              .slice(0, n % 2)
              .view(t.sizes())
              .requires_grad_();
        };
        const std::vector<Tensor> in{there(x), there(r), there(w), there(b)};
        const auto [y, sum] = add_layer_norm(in[0], in[1], {n}, in[2], in[3]);
        const auto [z, sum_too] = add_rms_norm(in[0], in[1], {n}, in[2], 1e-3);
        results[on_device] = {y, sum, z, sum_too};
        const Tensor slope = there(gy).detach(), more = there(gs).detach();
        for (const Tensor& g : autograd::grad({y, sum}, in, {slope, more}, true))
          results[on_device].push_back(g);
        for (const Tensor& g : autograd::grad({z, sum_too}, {in[0], in[1], in[2]}, {slope, more}))
          results[on_device].push_back(g);
      }
      const double tolerance = dtype == kFloat ? 1e-4 : 6e-2;
      for (std::size_t i = 0; i < results[0].size(); ++i) {
        INFO("result " << i);
        check_close("result", results[1][i], results[0][i], tolerance);
      }
    }
}

// Batch norm on a device.

TEST_CASE("batch norm statistics on a device avoid cancellation") {
  manual_seed(4);
  Tensor x = randn({70, 4, 9, 11}, kDouble);
  x.select(1, 0).add_(1e4);                // far from 0
  x.select(1, 1).fill_(3.25);              // constant
  x.select(1, 2).select(0, 0).fill_(1e3);  // first elements differ from the others
  const Tensor single = x.to(kFloat), wide = single.to(kDouble);
  const Tensor mean = wide.mean({0, 2, 3}), var = wide.var({0, 2, 3}, false);
  for (const auto format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
    const Tensor on_device = single.contiguous(format).to(Device::CUDA);
    const auto [out, saved_mean, rstd] = native_batch_norm(on_device, {}, {}, {}, {}, true, 0.1, 0.5);
    CHECK(out.is_contiguous(format));
    CHECK(allclose(saved_mean.cpu().to(kDouble), mean, 1e-6, 1e-6));
    CHECK(allclose(rstd.cpu().to(kDouble), (var + 0.5).rsqrt(), 1e-5, 0));
    CHECK(rstd.cpu()[1].item<float>() == Approx(1 / std::sqrt(0.5F)).epsilon(1e-7));
    CHECK(allclose(out.cpu().to(kDouble)[3],
                   std::get<0>(native_batch_norm(wide, {}, {}, {}, {}, true, 0.1, 0.5))[3], 1e-3, 1e-3));
  }
}

TEST_CASE("the mean of batch norm on an empty tensor is NaN") {
  const Tensor x = empty({0, 3, 2, 2}, Device::CUDA);
  CHECK(std::get<1>(native_batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5)).cpu().isnan().all().item<bool>());
}
