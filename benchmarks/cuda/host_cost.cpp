// Host time per op: chains of small ops, forward and backward, timed until the last launch is queued. On the
// emulated runtime, EBB_EMU_NULL_LAUNCH=1 skips the kernels, so that only the time of ebb's host code is
// measured.
#include "device.h"

namespace {

constexpr int kOps = 240;  // forward and backward together fit into a device's launch queue

// Returns the median host seconds of `call`. Synchronizes before each call, outside of the timed interval.
template <class F>
double host_seconds(F&& call) {
  for (int i = 0; i < 20; ++i) call();
  std::vector<double> seconds;
  for (const double end = bench::now() + bench::budget(); bench::now() < end || seconds.size() < 5;) {
    torch::cuda::synchronize();
    const double start = bench::now();
    call();
    seconds.push_back(bench::now() - start);
  }
  torch::cuda::synchronize();
  return bench::median(std::move(seconds));
}

template <class Step>
void measure(const std::string& name, int64_t elements, int ops_a_step, Step step) {
  torch::Tensor x = torch::full({elements}, 0.5, bench::on_device());
  const auto chain = [&] {
    torch::Tensor y = x;
    for (int i = 0; i < kOps; i += ops_a_step) y = step(y);
    return y;
  };
  const std::string full = "host_cost." + name + "." + std::to_string(elements);
  const auto report = [&](const char* what, double seconds) {
    bench::report(full + what, seconds / kOps * 1e6, "us/op");
  };
  {
    torch::NoGradGuard no_grad;
    report(".no_grad", host_seconds([&] { chain(); }));
  }
  x.requires_grad_();
  report(".forward", host_seconds([&] { chain(); }));
  const torch::Tensor seed = torch::ones({elements}, bench::on_device());
  report(".forward_backward", host_seconds([&] {
           chain().backward(seed);
           x.mutable_grad().reset();
         }));
#ifndef EBB_FIDELITY_TORCH
  torch::cuda::Graph graph;
  graph.capture([&] {
    chain().backward(seed);
    x.mutable_grad().reset();
  });
  report(".graph", host_seconds([&] { graph.replay(); }));
#endif
}

}  // namespace

int main() {
  for (const int64_t elements : {1, 4096}) {
    const torch::Tensor c = torch::full({elements}, 0.99, bench::on_device());
    measure("mul_add_tanh", elements, 4, [&](const torch::Tensor& y) { return torch::tanh(y * c + c) * y; });
    measure("sin", elements, 1, [](const torch::Tensor& y) { return torch::sin(y); });
    measure("mul_scalar", elements, 1, [](const torch::Tensor& y) { return y * 1.0001; });
  }
}
