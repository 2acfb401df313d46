// Files of many small tensors written and read: microseconds a tensor, the same for any number of them where
// nothing is quadratic.
#include "bench.h"

#include <filesystem>
#include <memory>

int main() {
  bench::set_threads();
  const std::string path = (std::filesystem::temp_directory_path() / "bench_safetensors.bin").string();
  for (const int thousands : {1, 4, 16, 64}) {
    const int count = 1000 * thousands;
    const std::string suffix = "_" + std::to_string(thousands) + "k";
    const auto report = [&](const char* name, double seconds) {
      bench::report(name + suffix, seconds / count * 1e6, "us/tensor");
    };
    std::vector<torch::Tensor> tensors, read;
    auto module = std::make_shared<torch::nn::Module>("Many");
    for (int i = 0; i < count; ++i) {
      tensors.push_back(torch::rand({8}));
      module->register_parameter("layer" + std::to_string(i), torch::rand({8}));
    }
    report("tensors_write", bench::median_seconds([&] { torch::save(tensors, path); }, 0.5, 3));
    report("tensors_read", bench::median_seconds([&] { torch::load(read, path); }, 0.5, 3));
    report("module_write", bench::median_seconds([&] { torch::save(module, path); }, 0.5, 3));
    report("module_read", bench::median_seconds([&] { torch::load(module, path); }, 0.5, 3));
  }
  std::filesystem::remove(path);
}
