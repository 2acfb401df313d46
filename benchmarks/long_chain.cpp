// A chain of 100,000 nodes built, backed through and freed.
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
  return bench::run(argc, argv);
}
