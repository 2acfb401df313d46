// The cost of a training step as one of its sizes grows: batch, width, depth, the length of the graph, the
// number of parameters. Each point has its time and the memory that one call adds to the process.
#include "bench.h"

#include <malloc.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace {

using torch::Tensor;

double memory_line(const char* key) {  // in MiB
  std::ifstream status("/proc/self/status");
  const std::string prefix = std::string(key) + ":";
  for (std::string line; std::getline(status, line);)
    if (line.rfind(prefix, 0) == 0) return std::atof(line.c_str() + prefix.size()) / 1024;
  return 0;
}

// Returns cached memory to the system and resets the recorded peak.
void forget_memory() {
#ifndef EBB_FIDELITY_TORCH
  torch::empty_cache();
#endif
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
}

// Adds a point of the curve `axis`. `prepare` returns the call to measure, with its data and parameters.
template <class Prepare>
void add(const std::string& axis, int64_t size, Prepare prepare) {
  const std::string name = axis + "." + std::to_string(size);
  bench::add("growth.time." + name, [=](benchmark::State& state) {
    auto call = prepare(size);
    bench::measure(state, 1, "ms", call);
  });
  bench::add("growth.memory." + name,
             [=](benchmark::State& state) {
               forget_memory();
               const double before = memory_line("VmRSS");
               for (auto _ : state) {
                 auto call = prepare(size);
                 call();
               }
               state.counters["value"] = std::max(0.0, memory_line("VmHWM") - before);
               state.SetLabel("MiB");
             })
      ->Iterations(1)
      ->Repetitions(1);
}

// A training step with SGD of `depth` layers with ReLU, of the same width.
auto network_step(int64_t batch, int64_t width, int64_t depth) {
  torch::nn::Sequential net;
  for (int64_t i = 0; i < depth; ++i) {
    net->push_back(torch::nn::Linear(width, width));
    net->push_back(torch::nn::ReLU());
  }
  const auto optimizer =
      std::make_shared<torch::optim::SGD>(net->parameters(), torch::optim::SGDOptions(1e-3));
  const Tensor x = torch::randn({batch, width});
  return [=]() mutable {
    optimizer->zero_grad();
    net->forward(x).square().mean().backward();
    optimizer->step();
  };
}

// A chain of `length` nodes that is built, differentiated and freed.
auto chain(int64_t length) {
  const Tensor x = torch::ones({1}).requires_grad_();
  return [=] {
    Tensor y = x;
    for (int64_t i = 0; i < length; ++i) y = y * 1.0000001;
    y.backward();
    x.mutable_grad().reset();
  };
}

// A step of Adam over tensors of 1,000 elements.
auto adam_step(int64_t elements) {
  std::vector<Tensor> parameters;
  for (int64_t i = 0; i < elements / 1000; ++i) {
    parameters.push_back(torch::zeros({1000}).requires_grad_());
    parameters.back().mutable_grad() = torch::full({1000}, 0.5);
  }
  const auto optimizer = std::make_shared<torch::optim::Adam>(parameters, torch::optim::AdamOptions(1e-3));
  return [=] { optimizer->step(); };
}

}  // namespace

int main(int argc, char** argv) {
  for (int64_t batch = 1; batch <= 4096; batch *= 4)
    add("batch", batch, [](int64_t n) { return network_step(n, 256, 3); });
  for (int64_t width = 16; width <= 2048; width *= 2)
    add("width", width, [](int64_t n) { return network_step(32, n, 3); });
  for (int64_t depth = 1; depth <= 1024; depth *= 4)
    add("depth", depth, [](int64_t n) { return network_step(32, 64, n); });
  for (int64_t length = 100; length <= 1000000; length *= 10) add("graph", length, chain);
  for (int64_t elements = 1000; elements <= 10000000; elements *= 10) add("parameters", elements, adam_step);
  return bench::run(argc, argv);
}
