// Attention over long sequences, fused and composed of matrix products and softmax: time and peak memory.
#include "bench.h"

#include <cmath>

namespace {

using torch::Tensor;

Tensor fused(const Tensor& q, const Tensor& k, const Tensor& v) {
#if defined(EBB_FIDELITY_TORCH) && TORCH_VERSION_MAJOR < 2  // private, and composed of other ops
  return std::get<0>(torch::_scaled_dot_product_attention(q, k, v));
#else
  return torch::scaled_dot_product_attention(q, k, v);
#endif
}
Tensor composed(const Tensor& q, const Tensor& k, const Tensor& v) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  return torch::matmul(torch::softmax(torch::matmul(q * scale, k.transpose(-2, -1)), -1), v);
}

using Attention = Tensor (*)(const Tensor&, const Tensor&, const Tensor&);

void add(const std::string& name, Attention attention, int64_t steps, bool train) {
  const std::string pass = train ? "train" : "forward";
  bench::add("attention/" + name + "/" + std::to_string(steps) + "/" + pass, [=](benchmark::State& state) {
    const torch::Tensor q = torch::randn({1, 8, steps, 64}), k = torch::randn_like(q),
                        v = torch::randn_like(q), g = torch::randn_like(q);
    for (const Tensor& x : {q, k, v}) x.requires_grad_(train);
    const auto call = [&] {
      const Tensor y = attention(q, k, v);
      if (!train) return;
      y.backward(g);
      for (const Tensor& x : {q, k, v}) x.mutable_grad() = Tensor();
    };
#ifndef EBB_FIDELITY_TORCH
    ebb::reset_peak();
    const std::size_t before = ebb::memory_stats().current;
    call();
    state.counters["peak_MiB"] = static_cast<double>(ebb::memory_stats().peak - before) / (1 << 20);
#endif
    // Each head computes two products of [steps, steps, 64], and four more for the gradients.
    const double length = static_cast<double>(steps);
    bench::measure(state, 1, "ms", call, bench::flops((train ? 6 : 2) * 8 * 2 * length * length * 64));
  });
}

}  // namespace

int main(int argc, char** argv) {
  for (const int64_t steps : {512, 4096})
    for (const bool train : {false, true}) {
      add("fused", fused, steps, train);
      add("composed", composed, steps, train);
    }
  return bench::run(argc, argv);
}
