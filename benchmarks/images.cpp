// Loading of images: decoding of JPEG files (only ebb, because libtorch has no decoder), and augmentation.
#include "bench.h"

#ifndef EBB_FIDELITY_TORCH
#include <ebb/vision/datasets.h>
#include <ebb/vision/transforms.h>

#include <unistd.h>

#include <filesystem>
#endif

namespace {

using torch::Tensor;
namespace data = torch::data;
namespace F = torch::nn::functional;

template <class Dataset>
void epoch(benchmark::State& state, Dataset dataset, std::size_t batch) {
  const double count = static_cast<double>(dataset.size().value());
  auto loader = data::make_data_loader<data::samplers::RandomSampler>(
      std::move(dataset).map(data::transforms::Stack<>()), data::DataLoaderOptions(batch));
  bench::measure(state, count, "us/sample", [&] {
    for (auto& each : *loader) benchmark::DoNotOptimize(each.data.data_ptr());
  });
}

// Images of CIFAR, augmented as is usual: padded by 4, cropped at a random place, flipped at random, and
// normalized.
struct Augmented : data::datasets::Dataset<Augmented> {
  data::Example<> get(std::size_t index) override {
    const Tensor place = torch::randint(9, {3}, torch::kLong);
    const auto* at = place.template data_ptr<int64_t>();
    Tensor x = F::pad(images.select(0, static_cast<int64_t>(index)), F::PadFuncOptions({4, 4, 4, 4}));
    x = x.narrow(1, at[0], 32).narrow(2, at[1], 32);
    if (at[2] % 2 == 1) x = x.flip(2);
    return {x.to(torch::kFloat).div(255).sub(mean).div(deviation),
            labels.select(0, static_cast<int64_t>(index))};
  }
  torch::optional<std::size_t> size() const override { return 512; }

  Tensor images = torch::randint(256, {512, 3, 32, 32}, torch::kByte), labels = torch::arange(512);
  Tensor mean = torch::full({3, 1, 1}, 0.45), deviation = torch::full({3, 1, 1}, 0.25);
};

#ifndef EBB_FIDELITY_TORCH
constexpr int64_t kFiles = 32, kHeight = 375, kWidth = 500;

// Writes a folder of two classes of JPEG files, and removes it at the end. The images are smooth, with some
// noise, like photographs.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("bench_images." + std::to_string(getpid()))) {
    torch::manual_seed(1);
    for (int64_t i = 0; i < kFiles; ++i) {
      const auto at = path_ / (i % 2 == 1 ? "cat" : "dog");
      std::filesystem::create_directories(at);
      const Tensor coarse = torch::rand({1, 3, 12, 16}) * 215 + 20;
      const Tensor smooth = F::interpolate(coarse, F::InterpolateFuncOptions()
                                                       .size(std::vector<int64_t>{kHeight, kWidth})
                                                       .mode(torch::kBilinear)
                                                       .align_corners(false));
      const Tensor noisy = smooth[0] + torch::randn({3, kHeight, kWidth}) * 6;
      ebb::vision::write_jpeg(noisy.clamp(0, 255).to(torch::kByte),
                              (at / (std::to_string(i) + ".jpg")).string(), 90);
    }
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

void decode(benchmark::State& state) {
  const Folder folder;
  const ebb::vision::datasets::ImageFolder files(folder.path());
  bench::measure(state, kFiles, "us/image", [&] {
    for (const auto& [path, label] : files.samples())
      benchmark::DoNotOptimize(ebb::vision::read_image(path).data_ptr());
  });
}

// An epoch as for ImageNet: decoding, a random crop that is resized to 224 x 224, a flip, and normalization.
void folder_epoch(benchmark::State& state) {
  namespace transforms = ebb::vision::transforms;
  const Folder folder;
  const transforms::Compose augment(transforms::RandomResizedCrop(224), transforms::RandomHorizontalFlip(),
                                    transforms::ToDtype(ebb::kFloat, true),
                                    transforms::Normalize({0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}));
  epoch(state, ebb::vision::datasets::ImageFolder(folder.path(), augment), 16);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  bench::add("images.augment.cifar", [](benchmark::State& state) { epoch(state, Augmented(), 64); });
#ifndef EBB_FIDELITY_TORCH
  bench::add("images.decode", decode);
  bench::add("images.folder", folder_epoch);
#endif
  return bench::run(argc, argv);
}
