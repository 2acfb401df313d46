// A chain of 100,000 nodes built, backed through and freed.
#include "bench.h"

int main() {
  bench::set_threads();
  torch::Tensor x = torch::ones({1}).requires_grad_();
  const double seconds = bench::median_seconds([&] {
    torch::Tensor y = x;
    for (int i = 0; i < 100000; ++i) y = y + 1;
    y.backward();
    x.mutable_grad().reset();
  });
  bench::report("long_chain.100000", seconds * 1e3, "ms");
}
