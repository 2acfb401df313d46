// Parts of compiled functions: the access index, the work of preparing a tape, the signatures of slots, and
// emitted::Plan.
#include <ebb/io/safetensors.h>
#include <ebb/ops/creation.h>

#include "../twins.h"
#include "compile/emitted.h"
#include "compile/fuse.h"
#include "compile/record.h"
#include "kernel/call/slot.h"
#include "support/catch.h"
#include "support/files.h"

#include <algorithm>
#include <random>

using namespace twins;
using detail::compile::AccessIndex;
using detail::compile::Tape;
using support::Contains;

// The access index after each pass, and after random reorderings.

namespace {

/// Records a training step with matmuls before additions, pooling and reductions.
std::unique_ptr<Tape> tape_of_step(nn::Sequential& net, const Tensor& x) {
  detail::compile::Recording recording({x});
  Tensor loss;
  {
    const detail::RecorderScope scope(&recording);
    net->zero_grad();
    const Tensor y = net(x);
    loss = (y * y + y).mean() + net(x * 2).sum();
    loss.backward();
    loss = loss.detach();
  }
  const std::vector<Tensor> results = {loss};
  std::unique_ptr<Tape> tape = recording.finish(results);
  INFO(recording.reason());
  REQUIRE(tape);
  return tape;
}

}  // namespace

TEST_CASE("each pass updates the access index to equal a newly built index of the tape") {
  nn::Sequential net(nn::Linear(64, 64), nn::Tanh(), nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 8));
  const Tensor x = randn({600, 64});
  static_cast<void>(tape_of_step(net, x));  // the first step creates the gradients
  const std::unique_ptr<Tape> tape = tape_of_step(net, x);
  const std::size_t calls = tape->calls.size();
  AccessIndex accesses(*tape);
  detail::compile::fuse_matmul_add(*tape, accesses, false);
  CHECK(tape->calls.size() < calls);
  CHECK(accesses == AccessIndex(*tape));
  detail::compile::sink_producers(*tape, accesses);
  CHECK(accesses == AccessIndex(*tape));
  detail::compile::hoist_scalars(*tape, accesses);
  CHECK(accesses == AccessIndex(*tape));
  detail::compile::hoist_reductions(*tape, accesses);
  CHECK(accesses == AccessIndex(*tape));
}

TEST_CASE("after calls are reordered and dropped, the access index equals a newly built index of the tape") {
  nn::Sequential net(nn::Linear(8, 8), nn::Tanh(), nn::Linear(8, 2));
  const std::unique_ptr<Tape> tape = tape_of_step(net, randn({4, 8}));
  AccessIndex accesses(*tape);
  std::mt19937 random(7);  // NOLINT: a fixed seed repeats the orders
  while (tape->calls.size() > 1) {
    std::vector<std::size_t> order(tape->calls.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    order.pop_back();
    reorder(*tape, accesses, order);
    REQUIRE(accesses == AccessIndex(*tape));
  }
}

// The work of preparing a tape grows linearly with the number of calls.

namespace {

/// Returns the number of comparisons that the preparation of the function's tape needs.
template <class F>
std::uint64_t comparisons(F&& body) {
  auto f = compile(body);
  const std::uint64_t before = detail::compile::comparisons;
  for (int i = 0; i < 3; ++i) f();
  REQUIRE(f.report().replays >= 1);
  return detail::compile::comparisons - before;
}

}  // namespace

TEST_CASE("the number of comparisons for preparing a tape grows linearly with the number of calls") {
  const std::pair<const char*, std::function<void(int)>> functions[] = {
      {"a chain of new tensors",
       [](int n) {
         Tensor x = ones({8});
         for (int i = 0; i < n; ++i) x = x * 1.5;
       }},
      {"one tensor that is written again and again",
       [](int n) {
         Tensor x = ones({8});
         for (int i = 0; i < n; ++i) x.add_(1);
       }},
      {"views of one tensor",
       [](int n) {
         const Tensor x = ones({n, 8});
         for (int i = 0; i < n; ++i) x[i].mul_(2);
       }},
      {"products, whose results live to the end",
       [](int n) {
         const Tensor a = ones({4, 4});
         std::vector<Tensor> all;
         for (int i = 0; i < n; ++i) all.push_back(a.matmul(a));
       }},
      {"random draws",
       [](int n) {
         const Tensor x = ones({8});
         for (int i = 0; i < n; ++i) dropout(x, 0.5, true);
       }},
  };
  for (const auto& [name, body] : functions) {
    INFO(name);
    const std::uint64_t few = comparisons([&f = body] { f(3000); });
    const std::uint64_t many = comparisons([&f = body] { f(30000); });
    CHECK(many <= 15 * few + 100000);
  }
}

// The argument types of a slot decide whether a tape can record its calls.

namespace {

void scale(NdArray& x, const float* by) {
  for (std::int64_t i = 0; i < x.numel(); ++i) x.address_as<float>()[i] *= *by;
}
using Scale = KernelSlot<void(NdArray&, const float*)>;
constinit Scale scale_slot("scale", [] {
  std::array<Scale::Function, detail::kCpuLevels> all{};
  all.fill(scale);
  return all;
}());

}  // namespace

TEST_CASE("a kernel that takes a pointer, which a tape cannot copy, keeps its function eager") {
  STATIC_REQUIRE(!detail::Signature<NdArray&, const float*>::can_be_kept);
  float by = 2;
  Warnings warnings;
  auto f = compile([&](const Tensor& x) {
    const Tensor y = x + 1;
    NdArray array = y.array();
    scale_slot(kCPU, array, &by);
    return y;
  });
  for (int i = 0; i < 5; ++i) {
    by = static_cast<float>(i);
    CHECK(same_bits(f(ones({3})), full({3}, 2.0 * i)));
  }
  CHECK(f.report().replays == 0);
  CHECK_THAT(f.report().reason, Contains("scale takes an argument that a tape cannot keep"));
}

// emitted::Plan checks the mark of its file of weights.

namespace {

struct OfOneWeight : emitted::Plan {
  explicit OfOneWeight(const std::string& path) : Plan("OfOneWeight", path, 7, 0, {}) { weight("w0", 8); }
  void run() override {}
  std::vector<Variable> results() override { return {}; }
};

}  // namespace

TEST_CASE(
    "an emitted plan accepts weights with its own mark or without a mark, and throws for another mark") {
  const std::string path = support::temporary("weights.safetensors");
  const safetensors::NamedTensors weights = {{"w0", ones({2})}};
  safetensors::write(path, weights, {{"emitted_as", "7"}});
  CHECK_NOTHROW(OfOneWeight(path));
  safetensors::write(path, weights);
  CHECK_NOTHROW(OfOneWeight(path));
  safetensors::write(path, weights, {{"emitted_as", "8"}});
  CHECK_THROWS_WITH(OfOneWeight(path), support::Contains("was emitted with another source"));
}
