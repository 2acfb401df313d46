// One epoch of a data loader: 2048 samples of 3 x 32 x 32 in shuffled and collated batches of 64.
#include "bench.h"

namespace {

using torch::Tensor;
namespace data = torch::data;

struct Images : data::datasets::Dataset<Images> {
  data::Example<> get(std::size_t index) override {
    const int64_t at = static_cast<int64_t>(index);
    return {images.select(0, at).sub(0.5), labels.select(0, at)};  // normalized, as by a transform
  }
  torch::optional<std::size_t> size() const override { return 2048; }

  Tensor images = torch::rand({2048, 3, 32, 32}), labels = torch::arange(2048);
};

void epoch(benchmark::State& state, std::size_t workers) {
  auto loader = data::make_data_loader<data::samplers::RandomSampler>(
      Images().map(data::transforms::Stack<>()), data::DataLoaderOptions(64).workers(workers));
  // The transform reads and writes each sample once, and the collation reads and writes it again.
  bench::measure(
      state, 2048, "us/sample",
      [&] {
        for (auto& batch : *loader) benchmark::DoNotOptimize(batch.data.data_ptr());
      },
      bench::bytes(4.0 * 4 * 3 * 32 * 32 * 2048));
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t workers : {0, 1})
    bench::add("loading.workers" + std::to_string(workers), [=](benchmark::State& state) {
      epoch(state, workers);
    })->UseRealTime();
  return bench::run(argc, argv);
}
