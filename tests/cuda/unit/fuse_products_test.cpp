// Gradients that products add to on a device, in one call where there were two.
#include <ebb/ebb.h>

#include "cuda/unit/either_way.h"
#include "cuda/unit/fused.h"
#include "support/catch.h"

using namespace ebb;
using namespace ebb::fused;

namespace {

// A 16-bit sum of a product and a gradient is rounded once where the two calls round twice; gradients of
// biases are sums in another order.
bool close(const Tensor& a, const Tensor& b) {
  const double tolerance = a.dtype() == kHalf ? 2e-3 : a.dtype() == kFloat ? 1e-5 : 1e-13;
  return allclose(a.cpu(), b.cpu(), tolerance, tolerance);
}

// Gradients of a few steps that add to those of the step before, eager or compiled.
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

TEST_CASE("gradients on a device are added to by the products that make them") {
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
  // Both weights'.
  CHECK(run(dtype, true, off).report.operations == fused.report.operations + 2);
  CHECK(fused.report.fused > 0);
}

TEST_CASE("additions on a device are no part of products where algorithms are to be deterministic") {
  const testing::Deterministic scope;
  const Steps eager = run(kHalf, false), replayed = run(kHalf, true);
  REQUIRE(replayed.report.replays >= 2);
  for (std::size_t i = 0; i < eager.results.size(); ++i)
    CHECK(equal(replayed.results[i].cpu(), eager.results[i].cpu()));
}

TEST_CASE("gradients on a device that are set to zero first are written by their products") {
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
