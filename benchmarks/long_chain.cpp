// A graph of 100,000 nodes that is built, differentiated and freed, and a tape of 100,000 calls that is
// prepared.
#include "bench.h"

int main(int argc, char** argv) {
  bench::add("long_chain.100000", [](benchmark::State& state) {
    const torch::Tensor x = torch::ones({1}).requires_grad_();
    bench::measure(state, 1, "ms", [&] {
      torch::Tensor y = x;
      for (int i = 0; i < 100000; ++i) y = y + 1;
      y.backward();
      x.mutable_grad().reset();
    });
  });
#ifndef EBB_FIDELITY_TORCH
  bench::add("prepare.100000", [](benchmark::State& state) {
    double seconds = 0;
    for (auto _ : state) {
      auto chain = ebb::compile([] {
        torch::Tensor y = torch::ones({8});
        for (int i = 0; i < 100000; ++i) y = y * 1.5;
      });
      chain();
      chain();
      seconds += chain.report().prepare_seconds;
    }
    state.counters["value"] = benchmark::Counter(1e3 * seconds, benchmark::Counter::kAvgIterations);
    state.SetLabel("ms");
  });
#endif
  return bench::run(argc, argv);
}
