// Square matrix products in float, TF32 and bfloat16: microseconds and TFLOP/s.
//   gemm [LARGEST]      sizes 512, 1024, ... up to LARGEST
#include "device.h"

namespace {

void measure(const std::string& name, torch::ScalarType dtype, int64_t n) {
  const auto options = bench::on_device(dtype);
  const torch::Tensor a = torch::randn({n, n}, options), b = torch::randn({n, n}, options);
  const double seconds = bench::device_seconds([&] { torch::matmul(a, b); });
  const std::string full = "gemm." + name + "." + std::to_string(n);
  bench::report(full, seconds * 1e6, "us");
  bench::report(full + ".rate", 2e-12 * static_cast<double>(n) * static_cast<double>(n * n) / seconds,
                "TFLOP/s");
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t largest = bench::size_argument(argc, argv, 8192);
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  for (int64_t n = std::min<int64_t>(512, largest); n <= largest; n *= 2) {
    bench::allow_tf32(false);
    measure("f32", torch::kFloat, n);
    bench::allow_tf32(true);
    measure("tf32", torch::kFloat, n);
    bench::allow_tf32(false);
    measure("bf16", torch::kBFloat16, n);
  }
}
