// Optimizers and gradient clipping on a device: multi-tensor kernels agree with a loop on the CPU.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <cmath>
#include <functional>
#include <limits>

using namespace ebb;
using namespace ebb::optim;

namespace {

using Params = std::vector<Tensor>;
using Make = std::function<std::unique_ptr<Optimizer>(const Params&)>;

double tolerance(DType dtype) {
  return dtype == kDouble ? 1e-12 : dtype == kFloat ? 2e-6 : dtype == kHalf ? 4e-3 : 3e-2;
}

/// Values for parameters of many sizes, more than one launch can take; equal on both devices.
Params values(DType dtype) {
  manual_seed(5);
  Params out;
  for (const std::int64_t size : {0, 1, 2, 7, 8, 1000, 4096, 4097, 20001})
    out.push_back(randn({size}, dtype));
  for (int i = 0; i < 200; ++i) out.push_back(randn({i % 5 + 1, 3}, dtype));
  return out;
}

/// Leaves on the device: one is misaligned to 16 bytes, one transposed, one channels-last, and one has gaps.
Params leaves(DType dtype, Device device) {
  Params out;
  for (const Tensor& value : values(dtype)) out.push_back(value.to(device).requires_grad_());
  const Tensor odd = randn({1025}, dtype).to(device), square = randn({30, 20}, dtype).to(device);
  out.push_back(odd.slice(0, 1).detach().requires_grad_());
  out.push_back(square.t().detach().requires_grad_());
  const Tensor weight = randn({6, 3, 5, 5}, dtype).to(device), wide = randn({9, 14}, dtype).to(device);
  out.push_back(weight.contiguous(MemoryFormat::ChannelsLast).detach().requires_grad_());
  out.push_back(wide.slice(1, 0, 14, 2).detach().requires_grad_());
  return out;
}

Params stepped(const Make& make, DType dtype, Device device, int steps) {
  Params params = leaves(dtype, device);
  const auto optimizer = make(params);
  for (int step = 0; step < steps; ++step) {
    manual_seed(static_cast<std::uint64_t>(11 + step));
    for (std::size_t i = 0; i < params.size(); ++i) {
      const Tensor grad = randn(params[i].sizes(), dtype).to(device);
      if (step == 0 && i % 7 == 3) continue;  // these start one step later than the others
      params[i].mutable_grad() = i % 11 == 5 && params[i].dim() == 2 ? grad.t().contiguous().t() : grad;
      if (params[i].dim() == 4 && step > 0)
        params[i].mutable_grad() = grad.contiguous(MemoryFormat::ChannelsLast);
    }
    optimizer->step();
  }
  return params;
}

void check_equal(const Params& got, const Params& expected, double tolerance) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("tensor " << i << " of size " << got[i].numel());
    const Tensor a = got[i].detach().cpu().to(kDouble), b = expected[i].detach().cpu().to(kDouble);
    CHECK(allclose(a, b, tolerance, tolerance, /*equal_nan=*/true));
  }
}

const std::vector<std::pair<const char*, Make>>& kinds() {
  static const std::vector<std::pair<const char*, Make>> all = {
      {"SGD", [](const Params& p) { return std::make_unique<SGD>(p, SGDOptions(0.1).weight_decay(0.01)); }},
      {"SGD with momentum",
       [](const Params& p) {
         return std::make_unique<SGD>(p, SGDOptions(0.1).momentum(0.9).dampening(0.1));
       }},
      {"SGD, Nesterov",
       [](const Params& p) {
         return std::make_unique<SGD>(p, SGDOptions(0.1).momentum(0.9).nesterov(true));
       }},
      {"Adam",
       [](const Params& p) { return std::make_unique<Adam>(p, AdamOptions(0.01).weight_decay(0.1)); }},
      {"Adam, amsgrad",
       [](const Params& p) { return std::make_unique<Adam>(p, AdamOptions(0.01).amsgrad(true)); }},
      {"AdamW", [](const Params& p) { return std::make_unique<AdamW>(p, AdamWOptions(0.01)); }},
      {"AdamW, master weights",
       [](const Params& p) { return std::make_unique<AdamW>(p, AdamWOptions(0.01).master_weights(true)); }},
      {"Adam, amsgrad and master weights",
       [](const Params& p) {
         return std::make_unique<Adam>(p, AdamOptions(0.01).amsgrad(true).master_weights(true));
       }},
      {"NAdam", [](const Params& p) { return std::make_unique<NAdam>(p, NAdamOptions(0.01)); }},
      {"RAdam", [](const Params& p) { return std::make_unique<RAdam>(p, RAdamOptions(0.01)); }},
      {"Adamax", [](const Params& p) { return std::make_unique<Adamax>(p, AdamaxOptions(0.01)); }},
      {"Adadelta",
       [](const Params& p) { return std::make_unique<Adadelta>(p, AdadeltaOptions(1).eps(1e-2)); }},
      {"ASGD", [](const Params& p) { return std::make_unique<ASGD>(p, ASGDOptions(0.01).t0(1)); }},
      {"Rprop", [](const Params& p) { return std::make_unique<Rprop>(p, RpropOptions(0.01)); }},
      {"Lion", [](const Params& p) { return std::make_unique<Lion>(p, LionOptions(0.01)); }},
      {"RMSprop", [](const Params& p) { return std::make_unique<RMSprop>(p, RMSpropOptions(0.01)); }},
      {"RMSprop with momentum",
       [](const Params& p) { return std::make_unique<RMSprop>(p, RMSpropOptions(0.01).momentum(0.5)); }},
      {"RMSprop, centered",
       [](const Params& p) { return std::make_unique<RMSprop>(p, RMSpropOptions(0.01).centered(true)); }},
      {"RMSprop, both",
       [](const Params& p) {
         return std::make_unique<RMSprop>(p, RMSpropOptions(0.01).momentum(0.5).centered(true));
       }},
      {"Adagrad",
       [](const Params& p) { return std::make_unique<Adagrad>(p, AdagradOptions(0.05).lr_decay(0.1)); }},
  };
  return all;
}

}  // namespace

TEST_CASE("optimizers on a device agree with the CPU for all kinds of tensors") {
  for (const auto& [name, make] : kinds())
    for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
      INFO(name << ", " << dtype);
      check_equal(stepped(make, dtype, Device::CUDA, 3), stepped(make, dtype, Device::CPU, 3),
                  tolerance(dtype));
    }
}

TEST_CASE("a parameter that is listed twice is updated twice on a device") {
  const auto updated = [](const Make& make, Device device) {
    const Tensor p = ones({3000}, kDouble).to(device).requires_grad_(),
                 q = ones({5}).to(device).requires_grad_();
    const auto optimizer = make({p, q, p});
    for (int i = 0; i < 3; ++i) {
      p.mutable_grad() = full({3000}, 0.5, p.options().requires_grad(false));
      optimizer->step();
    }
    return p;
  };
  for (const auto& [name, make] : kinds()) {
    INFO(name);
    check_equal({updated(make, Device::CUDA)}, {updated(make, Device::CPU)}, 1e-12);
  }
}

TEST_CASE("the norm of many gradients on a device agrees with the CPU") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    Params on_cpu = values(dtype), on_cuda;
    on_cpu.push_back(randn({12, 9}, dtype).t());                  // dense, transposed
    on_cpu.push_back(randn({40, 10}, dtype).slice(1, 0, 10, 3));  // with gaps
    on_cpu.push_back(randn({1030}, dtype).slice(0, 3));           // misaligned to 16 bytes
    for (const Tensor& t : on_cpu) on_cuda.push_back(t.to(Device::CUDA));
    on_cuda.back() = randn({1033}, dtype).to(Device::CUDA).slice(0, 6);
    on_cpu.back() = on_cuda.back().cpu();
    for (const double p : {1.0, 2.0, 3.5, kInf, 0.0}) {
      INFO(dtype << ", order " << p);
      double expected = static_cast<double>(on_cpu.size());
      if (p != 0) {
        Params flat;
        for (const Tensor& t : on_cpu) flat.push_back(t.to(kDouble).flatten());
        expected = cat(flat).norm(p).item<double>();
      }
      const Tensor a = nn::utils::get_total_norm(on_cpu, p), b = nn::utils::get_total_norm(on_cuda, p);
      CHECK(a.dtype() == (dtype == kDouble ? kDouble : kFloat));
      CHECK(b.dtype() == a.dtype());
      CHECK(b.is_cuda());
      CHECK(a.item<double>() == Approx(expected).epsilon(1e-6));
      CHECK(b.item<double>() == Approx(expected).epsilon(1e-6));
    }
  }
}

TEST_CASE("gradient clipping on a device agrees with the CPU") {
  const auto clipped = [](Device device, double largest, double spoiled) {
    Params params;
    manual_seed(3);
    for (const DType dtype : {kFloat, kDouble, kHalf}) {
      for (const std::int64_t size : {0, 1, 9, 5000}) {
        params.push_back(zeros({size}, dtype).to(device).requires_grad_());
        params.back().mutable_grad() = randn({size}, dtype).to(device);
      }
      params.push_back(zeros({6, 5}, dtype).to(device).requires_grad_());
      params.back().mutable_grad() = randn({6, 10}, dtype).to(device).slice(1, 0, 10, 2);
    }
    params.push_back(zeros({3}).to(device).requires_grad_());  // without a gradient
    if (spoiled != 0) params[2].mutable_grad()[0] = spoiled;
    const std::int64_t version = params[1].grad().version();
    const double norm = nn::utils::clip_grad_norm_(params, largest);
    CHECK(params[1].grad().version() > version);
    Params grads;
    for (const Tensor& p : params)
      if (p.grad().defined()) grads.push_back(p.grad());
    return std::pair(norm, grads);
  };
  for (const double spoiled : {0.0, std::numeric_limits<double>::quiet_NaN()})
    for (const double largest : {1.0, 1e6}) {
      const auto [norm, grads] = clipped(Device::CPU, largest, spoiled);
      const auto [device_norm, device_grads] = clipped(Device::CUDA, largest, spoiled);
      if (spoiled == 0) CHECK(device_norm == Approx(norm));
      CHECK(std::isnan(device_norm) == (spoiled != 0));
      check_equal(device_grads, grads, 1e-6);
    }
  const auto clamped = [](Device device) {
    Tensor p = zeros({4}).to(device).requires_grad_(), q = zeros({2, 2}).to(device).requires_grad_();
    p.mutable_grad() = tensor({-3.0F, NAN, 0.25F, 7.0F}).to(device);
    q.mutable_grad() = tensor({-3.0F, 2.0F, 0.25F, 7.0F}).to(device).view({2, 2}).t();
    nn::utils::clip_grad_value_({p, q}, 0.5);
    return Params{p.grad(), q.grad()};
  };
  check_equal(clamped(Device::CUDA), clamped(Device::CPU), 0);
}

TEST_CASE("zero_grad clears many gradients on a device") {
  Params params = leaves(kFloat, Device::CUDA);
  for (Tensor& p : params) p.mutable_grad() = ones(p.sizes(), TensorOptions(Device::CUDA));
  const Tensor holes = ones({4, 6}, TensorOptions(Device::CUDA));
  params.push_back(zeros({4, 3}, TensorOptions(Device::CUDA)).requires_grad_());
  params.back().mutable_grad() = holes.slice(1, 0, 6, 2);
  SGD(params, SGDOptions(0.1)).zero_grad();
  for (const Tensor& p : params) CHECK(p.grad().abs().sum().item<float>() == 0);
  CHECK(holes.sum().item<float>() == 12);
}
