// Elementwise chains that compile() fuses into kernels, and gradient accumulation in matrix products.
#include <ebb/ebb.h>

#include "cuda/unit/against_cpu.h"
#include "cuda/unit/fused.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/scopes.h"

// Elementwise chains on a device that compile() fuses into kernels: bitwise eager results if the compiler
// contracts no products with sums, as in the emulation.

using namespace ebb;
using namespace ebb::fused;
using support::Environment, support::files_in, support::Folder, support::Warnings;

namespace {

// A chain that no other case uses, so that its kernel is not loaded yet.
template <int kTimes>
Tensors own_chain(const Tensors& x) {
  Tensor y = x[0] * x[1];
  for (int i = 0; i < kTimes; ++i) y = (y + x[2]).abs();
  return {y};
}

}  // namespace

TEST_CASE("elementwise chains on a device run as one kernel") {
  const std::int64_t n = GENERATE(as<std::int64_t>{}, 1, 3, 1030);
  const DType dtype = GENERATE(kFloat, kDouble, kHalf, kBFloat16, kInt);
  INFO(n << " of " << dtype);
  const CompileReport report = require_twin(
      [](const Tensors& x) {
        const Tensor y = (x[0] * x[1] + x[2]).abs() - x[0] * 2;
        const Tensor chosen = where(y > x[1], y, x[2]);
        return Tensors{chosen * y + 1, y.clamp(-2, 2), y == x[2]};
      },
      uniform(n, dtype));
  CHECK(report.captured);
  CHECK(report.fused == report.operations);
  CHECK(report.arena_bytes == 0);  // elided buffers need no memory
}

TEST_CASE("fused chains on a device handle misaligned arrays") {
  const std::int64_t n = GENERATE(as<std::int64_t>{}, 2, 5, 261);
  const DType dtype = GENERATE(kFloat, kHalf);
  INFO(n << " of " << dtype);
  const auto part = [n](const Tensor& x, std::int64_t from) { return x.narrow(0, from, n); };
  SECTION("most arrays have the same misalignment") {
    const CompileReport report = require_twin(
        [&](const Tensors& x) { return Tensors{(part(x[0], 1) * part(x[1], 1) - part(x[2], 1)).abs()}; },
        uniform(n + 4, dtype));
    CHECK(report.fused == 3);
  }
  SECTION("the arrays have different misalignments") {
    const CompileReport report = require_twin(
        [&](const Tensors& x) {
          const Tensor whole = x[0] * 1;
          const Tensor difference = part(x[1], 1) * part(x[2], 3) - part(x[1], 2);
          part(whole, 1).mul_(difference).add_(1);
          return Tensors{whole, difference, difference > part(x[2], 3)};
        },
        uniform(n + 4, dtype));
    CHECK(report.fused == 5);
  }
}

TEST_CASE("fused chains on a device accept scalars and scalar tensors and expanded tensors") {
  const CompileReport report = require_twin(
      [](const Tensors& x) {
        const Tensor number = x[1][0], all = x[2][0].expand(x[0].sizes());
        const Tensor y = (x[0] * number + all) * 1.5 - number;
        return Tensors{where(y > 0, y, 0.25), lerp(y, x[1], 0.3), addcmul(y, all, x[2], 0.5)};
      },
      uniform(77, GENERATE(kFloat, kHalf)));
  CHECK(report.fused >= 6);
}

TEST_CASE("activations and their first and second derivatives are fused on a device") {
  const CompileReport report = require_twin(
      [](const Tensors& numbers) {
        namespace F = nn::functional;
        const Tensor x = numbers[0].detach().requires_grad_();
        const Tensor y = tanh(x * numbers[1]) * exp(-x * x) + F::gelu(x) * F::leaky_relu(x, 0.2);
        const Tensor g = autograd::grad({y}, {x}, {numbers[2]}, true, true)[0];
        const Tensor h = autograd::grad({g}, {x}, {numbers[1]})[0];
        return Tensors{y.detach(), g.detach(), h};
      },
      uniform(300));
  CHECK(report.captured);
  CHECK(report.fused > 20);
}

TEST_CASE("in-place writes keep their order in a fused chain on a device") {
  const CompileReport report = require_twin(
      [](const Tensors& x) {
        Tensor momentum = x[0] * 0.9, weight = x[1] * 1;
        momentum.mul_(0.5).add_(x[2]);
        weight.addcdiv_(momentum, (x[2] * x[2]).sqrt_().add_(1e-3), -0.1);
        momentum.neg_();
        return Tensors{momentum, weight, momentum * weight};
      },
      uniform(130));
  CHECK(report.fused == report.operations);
}

TEST_CASE("calls that access overlapping views on a device are not fused") {
  const CompileReport report = require_twin(
      [](const Tensors& x) {
        const Tensor whole = x[0] * 1, shifted = whole.narrow(0, 1, 64);
        whole.narrow(0, 0, 64).add_(shifted);
        const Tensor y = shifted * 2 + whole.narrow(0, 0, 64);
        return Tensors{whole, y, y.reshape({8, 8}).t() * y.reshape({8, 8})};
      },
      uniform(65));
  CHECK(report.fused < report.operations);
}

TEST_CASE("chains that exceed the argument size of a kernel become several kernels") {
  const CompileReport report = require_twin(
      [](const Tensors& x) {
        Tensors made{x[0]};
        for (int i = 0; i < 100; ++i) made.push_back(made.back() * 0.9 + x[static_cast<std::size_t>(i % 3)]);
        return made;
      },
      uniform(40));
  CHECK(report.fused == report.operations);
}

TEST_CASE("elementwise calls on a device are not fused if fusion is disabled") {
  const auto f = [](const Tensors& x) { return Tensors{(x[0] + x[1]) * x[2]}; };
  SECTION("fusion is enabled") { CHECK(require_twin(f, uniform(10)).fused == 2); }
  SECTION("fusion is disabled by an option") {
    CompileOptions options;
    options.fuse = false;
    CHECK(require_twin(f, uniform(10), options).fused == 0);
    CHECK(require_twin(f, uniform(10, kFloat, 3, kCPU), options).fused == 2);
  }
  SECTION("fusion is disabled by EBB_FUSE=0") {
    const Environment off("EBB_FUSE", "0");
    CHECK(require_twin(f, uniform(10)).fused == 0);
  }
  SECTION("deterministic algorithms are required") {
    const testing::Deterministic scope;
    CHECK(require_twin(f, uniform(10)).fused == 0);
  }
}

// In both cases, a second device of the same kind plays the role of another process: it has no loaded
// kernels.
TEST_CASE("kernels of fused chains are cached in files and read without a compiler") {
  const Folder folder;
  const Environment cache("EBB_KERNEL_CACHE", folder.path().string());
  REQUIRE(require_twin(&own_chain<1>, uniform(10)).fused == 3);
  REQUIRE(files_in(folder.path()).size() == 1);
  REQUIRE(files_in(folder.path())[0].extension() == ".kernel");
  if (is_real_device()) return;
  const Environment none("EBB_EMU_COMPILER", "false");
  const Warnings warnings;
  CHECK(require_twin(&own_chain<1>, uniform(10, kFloat, 3, Device(Device::CUDA, 1))).fused == 3);
  CHECK(warnings.texts.empty());
}

TEST_CASE("a damaged cache file of a fused chain is compiled again") {
  if (is_real_device()) return;
  const Folder folder;
  const Environment cache("EBB_KERNEL_CACHE", folder.path().string());
  REQUIRE(require_twin(&own_chain<2>, uniform(10)).fused == 5);
  REQUIRE(files_in(folder.path()).size() == 1);
  const std::filesystem::path file = files_in(folder.path())[0];
  std::string whole = support::read_file(file), damaged = whole;
  damaged[damaged.size() / 2] ^= 1;
  support::write_file(file, damaged);
  CHECK(require_twin(&own_chain<2>, uniform(10, kFloat, 3, Device(Device::CUDA, 1))).fused == 5);
  CHECK(support::read_file(file) != damaged);
  CHECK(support::read_file(file).size() == whole.size());
}

TEST_CASE("chains are fused without a usable cache folder") {
  const Folder folder;
  support::write_file(folder / "file", "no folder");
  const std::string where = GENERATE(as<std::string>{}, "", "0", "file/below");
  const Environment cache("EBB_KERNEL_CACHE", where.size() < 2 ? where : folder / where);
  CHECK(require_twin(&own_chain<3>, uniform(10)).fused == 7);
  CHECK(files_in(folder.path()).size() == 1);
}

TEST_CASE("calls on a device are not fused if there is no compiler") {
  if (is_real_device()) return;
  const Environment cache("EBB_KERNEL_CACHE", ""), none("EBB_EMU_COMPILER", "false");
  const Warnings warnings;
  CHECK(require_twin(&own_chain<4>, uniform(10)).fused == 0);
  const CompileReport report = require_twin(&own_chain<5>, uniform(10));
  CHECK(report.fused == 0);
  CHECK(report.captured);
  REQUIRE(warnings.texts.size() == 1);
  CHECK_THAT(warnings.texts[0], support::Contains("are not fused: the host's compiler"));
}

// Gradient accumulation in matrix products on a device: one call in place of two.

namespace {

// A 16-bit sum of a product and a gradient is rounded once and not twice; gradients of biases are summed in
// another order.
bool close(const Tensor& a, const Tensor& b) {
  const double tolerance = a.dtype() == kHalf ? 2e-3 : a.dtype() == kFloat ? 1e-5 : 1e-13;
  return allclose(a.cpu(), b.cpu(), tolerance, tolerance);
}

// Gradients that accumulate over a few steps, eager or compiled.
struct Steps {
  Tensors results;
  CompileReport report;
};
Steps run(DType dtype, bool compiled, const CompileOptions& options = {}) {
  manual_seed(5);
  nn::Sequential net(nn::Linear(17, 24), nn::ReLU(), nn::Linear(24, 3));
  net->to(Device::CUDA, dtype);
  const Tensors parameters = net->parameters();
  for (const Tensor& p : parameters) p.mutable_grad() = zeros_like(p);
  const auto body = [&](const Tensor& x) {
    for (const Tensor& p : parameters) p.grad().mul_(0.5);
    const Tensor loss = net(x).square().mean();
    loss.backward();
    return loss;
  };
  auto step = compile(body, options);
  Steps steps;
  for (int t = 0; t < 6; ++t) {
    const Tensor x = randn({40, 17}).to(Device::CUDA, dtype);
    steps.results.push_back((compiled ? step(x) : body(x)).detach().clone());
    for (const Tensor& p : parameters) steps.results.push_back(p.grad().clone());
  }
  if (compiled) steps.report = step.report();
  return steps;
}

}  // namespace

TEST_CASE("a compiled step on a device accumulates gradients inside matmul") {
  const DType dtype = GENERATE(kFloat, kDouble, kHalf);
  INFO(dtype);
  const Steps eager = run(dtype, false), fused = run(dtype, true);
  REQUIRE(fused.report.replays >= 2);
  CHECK(fused.report.captured);
  REQUIRE(fused.results.size() == eager.results.size());
  for (std::size_t i = 0; i < eager.results.size(); ++i) {
    INFO("result " << i);
    CHECK(close(fused.results[i], eager.results[i]));
  }
  CompileOptions off;
  off.fuse = false;
  // For both weights.
  CHECK(run(dtype, true, off).report.operations == fused.report.operations + 2);
  CHECK(fused.report.fused > 0);
}

TEST_CASE("deterministic mode does not fuse gradient accumulation into matmul on a device") {
  const testing::Deterministic scope;
  const Steps eager = run(kHalf, false), replayed = run(kHalf, true);
  REQUIRE(replayed.report.replays >= 2);
  for (std::size_t i = 0; i < eager.results.size(); ++i)
    CHECK(equal(replayed.results[i].cpu(), eager.results[i].cpu()));
}

TEST_CASE("a compiled step on a device fuses the zeroing of gradients into matmul") {
  const auto train = [](bool compiled) {
    manual_seed(6);
    nn::Linear layer(8, 16);
    layer->to(Device::CUDA);
    optim::SGD optimizer(layer->parameters(), optim::SGDOptions(0.1));
    for (const Tensor& p : layer->parameters()) p.mutable_grad() = zeros_like(p);
    const auto body = [&](const Tensor& x) {
      optimizer.zero_grad(false);
      const Tensor loss = layer(x).square().mean();
      loss.backward();
      optimizer.step();
      return loss;
    };
    auto step = compile(body);
    Tensors results;
    for (int t = 0; t < 6; ++t) {
      const Tensor x = randn({30, 8}).to(Device::CUDA);
      results.push_back((compiled ? step(x) : body(x)).detach().clone());
      results.push_back(layer->weight.grad().clone());
    }
    if (compiled) CHECK(step.report().replays >= 2);
    results.push_back(layer->weight.detach());
    return results;
  };
  const Tensors eager = train(false), fused = train(true);
  for (std::size_t i = 0; i < eager.size(); ++i) CHECK(allclose(fused[i].cpu(), eager[i].cpu(), 1e-5, 1e-6));
}
