// Runs one workload of device kernels, named by the first argument, or prints the names and their numbers of
// elements. The plugin writes the counts of its kernels; tests/cuda/ptx/profile/run prints them as a table.
#include <ebb/ebb.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace ebb;

// The inputs are computed on the host and copied, so that the device runs only the kernels of the workload.
struct Workload {
  const char* name;
  std::int64_t elements;  // the divisor of the counts
  std::function<void()> run;
};

constexpr std::int64_t kRows = 64, kColumns = 1024, kElements = kRows * kColumns;

Tensor on_device(DType dtype, IntArrayRef sizes = {kRows, kColumns}) {
  return randn(sizes).to(dtype).to(kCUDA);
}

void attention(std::int64_t width, bool backward) {
  const auto input = [&] { return on_device(kBFloat16, {1, 2, 256, width}).requires_grad_(backward); };
  const Tensor query = input(), key = input(), value = input();
  const Tensor y = scaled_dot_product_attention(query, key, value);
  if (backward) y.backward(on_device(kBFloat16, {1, 2, 256, width}));
}

void adam_step() {
  const Tensor parameter = on_device(kFloat).requires_grad_();
  parameter.mutable_grad() = on_device(kFloat);
  optim::Adam({parameter}, optim::AdamOptions(1e-3)).step();
}

std::vector<Workload> workloads() {
  const auto unary = [](DType dtype, Tensor (*op)(const Tensor&)) { return [=] { op(on_device(dtype)); }; };
  return {
      {"add f32", kElements, [] { on_device(kFloat) + on_device(kFloat); }},
      {"add bf16", kElements, [] { on_device(kBFloat16) + on_device(kBFloat16); }},
      {"add a transposed f32", kElements,
       [] { on_device(kFloat) + on_device(kFloat, {kColumns, kRows}).t(); }},
      {"exp bf16", kElements, unary(kBFloat16, [](const Tensor& x) { return exp(x); })},
      {"sum of rows f32", kElements, unary(kFloat, [](const Tensor& x) { return sum(x, {1}); })},
      {"sum of rows bf16", kElements, unary(kBFloat16, [](const Tensor& x) { return sum(x, {1}); })},
      {"sum of columns f32", kElements, unary(kFloat, [](const Tensor& x) { return sum(x, {0}); })},
      {"softmax of rows bf16", kElements, unary(kBFloat16, [](const Tensor& x) { return softmax(x, 1); })},
      {"softmax of columns bf16", kElements, unary(kBFloat16, [](const Tensor& x) { return softmax(x, 0); })},
      {"layer norm bf16", kElements,
       unary(kBFloat16, [](const Tensor& x) { return layer_norm(x, {kColumns}); })},
      {"cumsum bf16", kElements, unary(kBFloat16, [](const Tensor& x) { return cumsum(x, 1); })},
      {"cross entropy bf16", kElements,
       [] {
         nn::functional::cross_entropy(on_device(kBFloat16), randint(0, kColumns, {kRows}, kLong).to(kCUDA));
       }},
      {"topk 8 of rows bf16", kElements, [] { topk(on_device(kBFloat16), 8); }},
      {"sort of rows f32", kElements, [] { sort(on_device(kFloat)); }},
      {"gather f32", kElements,
       [] { gather(on_device(kFloat), 1, randint(0, kColumns, {kRows, kColumns}, kLong).to(kCUDA)); }},
      {"copy of a transposed f32", kElements, [] { on_device(kFloat).t().contiguous(); }},
      {"Adam f32", kElements, adam_step},
      {"max pool 2d f32", kElements, [] { max_pool2d(on_device(kFloat, {4, 16, 32, 32}), 2); }},
      {"attention forward bf16, heads of 64", 2 * 256 * 256, [] { attention(64, false); }},
      {"attention forward bf16, heads of 128", 2 * 256 * 256, [] { attention(128, false); }},
      {"attention forward and backward bf16, heads of 64", 2 * 256 * 256, [] { attention(64, true); }},
  };
}

}  // namespace

int main(int count, char** arguments) {
  manual_seed(1);
  for (const Workload& workload : workloads()) {
    if (count < 2) {
      std::printf("%s\t%ld\n", workload.name, static_cast<long>(workload.elements));
    } else if (std::strcmp(arguments[1], workload.name) == 0) {
      workload.run();
      cuda::synchronize();
      return 0;
    }
  }
  if (count < 2) return 0;
  std::fprintf(stderr, "there is no workload %s\n", arguments[1]);
  return 1;
}
