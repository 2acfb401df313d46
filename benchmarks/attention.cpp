// Attention over long sequences, fused, with masks, and composed of matrix products and softmax: time and
// peak memory.
#include "bench.h"
#include "transformer.h"

#include <cmath>

namespace {

using torch::Tensor;

Tensor fused(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor&) {
  return bench::attention(q, k, v);
}
Tensor causal(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor&) {
  return bench::attention(q, k, v, true);
}
Tensor masked(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
  return bench::attention(q, k, v, false, mask);
}
Tensor composed(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor&) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  return torch::matmul(torch::softmax(torch::matmul(q * scale, k.transpose(-2, -1)), -1), v);
}

// A mask of a padded sequence, whose last quarter is hidden from all queries.
Tensor padding(int64_t steps) { return torch::arange(steps).lt(steps * 3 / 4).view({1, 1, 1, steps}); }
// A mask of local attention: each query attends to the 128 positions on each side.
Tensor window(int64_t steps) {
  const Tensor at = torch::arange(steps);
  return (at.unsqueeze(1) - at).abs().le(128);
}

struct Kind {
  const char* name;
  Tensor (*attention)(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask);
  Tensor (*mask)(int64_t steps);
  double share;  // of the scores that are needed
};

const Kind kKinds[] = {{"fused", fused, nullptr, 1},
                       {"composed", composed, nullptr, 1},
                       {"causal", causal, nullptr, 0.5},
                       {"padding", masked, padding, 0.75},
                       {"window", masked, window, 1}};

void add(const Kind& kind, int64_t steps, bool train) {
  const std::string pass = train ? "train" : "forward";
  bench::add(std::string("attention/") + kind.name + "/" + std::to_string(steps) + "/" + pass,
             [=](benchmark::State& state) {
               const torch::Tensor q = torch::randn({1, 8, steps, 64}), k = torch::randn_like(q),
                                   v = torch::randn_like(q), g = torch::randn_like(q);
               const Tensor mask = kind.mask ? kind.mask(steps) : Tensor();
               for (const Tensor& x : {q, k, v}) x.requires_grad_(train);
               const auto call = [&] {
                 const Tensor y = kind.attention(q, k, v, mask);
                 if (!train) return;
                 y.backward(g);
                 for (const Tensor& x : {q, k, v}) x.mutable_grad() = Tensor();
               };
#ifndef EBB_FIDELITY_TORCH
               ebb::reset_peak();
               const std::size_t before = ebb::memory_stats().current;
               call();
               state.counters["peak_MiB"] =
                   static_cast<double>(ebb::memory_stats().peak - before) / (1 << 20);
#endif
               // Each head computes two products of [steps, steps, 64], and four more for the gradients.
               const double length = static_cast<double>(steps);
               bench::measure(state, 1, "ms", call,
                              bench::flops(kind.share * (train ? 6 : 2) * 8 * 2 * length * length * 64));
             });
}

}  // namespace

int main(int argc, char** argv) {
  for (const int64_t steps : {512, 1024, 4096})
    for (const bool train : {false, true})
      for (const Kind& kind : kKinds) add(kind, steps, train);
  return bench::run(argc, argv);
}
