// Writing and reading files of many small tensors: microseconds per tensor, which must not increase with the
// number of tensors.
#include "bench.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace {

struct File {
  std::string path = (std::filesystem::temp_directory_path() / "bench_safetensors.bin").string();
  ~File() { std::filesystem::remove(path); }
};

std::vector<torch::Tensor> list_of(int count) {
  std::vector<torch::Tensor> tensors;
  for (int i = 0; i < count; ++i) tensors.push_back(torch::rand({8}));
  return tensors;
}

std::shared_ptr<torch::nn::Module> module_of(int count) {
  auto module = std::make_shared<torch::nn::Module>("Many");
  for (int i = 0; i < count; ++i) module->register_parameter("layer" + std::to_string(i), torch::rand({8}));
  return module;
}

// Times the writing or reading of the object that make() returns.
template <class Make>
void add(const std::string& name, Make make) {
  for (const bool reads : {false, true})
    for (const int thousands : {1, 4, 16, 64}) {
      const std::string full = name + (reads ? "_read_" : "_write_") + std::to_string(thousands) + "k";
      bench::add(full, [=](benchmark::State& state) {
        const int count = 1000 * thousands;
        const File file;
        auto all = make(count);
        torch::save(all, file.path);
        bench::measure(state, count, "us/tensor", [&] {
          if (reads)
            torch::load(all, file.path);
          else
            torch::save(all, file.path);
        });
      });
    }
}

}  // namespace

int main(int argc, char** argv) {
  add("tensors", list_of);
  add("module", module_of);
  return bench::run(argc, argv);
}
