// Images to learn from, and pictures of images.
#include "common/images.h"

#include <ebb/ebb.h>
#include <ebb/vision/grid.h>
#include <ebb/vision/image_io.h>

#include <fmt/format.h>

#include <algorithm>

namespace example {

Images load_images(const std::string& folder, bool brief) {
  using ebb::data::datasets::MNIST;
  const bool fashion = folder.empty() && !brief && MNIST::present(kFashionMnist);
  const std::string source = !folder.empty() ? folder : fashion ? kFashionMnist : kDigits;
  const MNIST train(source), test(source, MNIST::Mode::kTest);
  EBB_CHECK(train.images().size(2) % 4 == 0 && train.images().size(3) % 4 == 0, "load_images: images of ",
            source, " are of shape ", train.images().sizes(),
            ". Rows and columns must be multiples of 4, as the networks halve them twice.");
  Images images{!folder.empty() ? folder
                : fashion       ? "Fashion-MNIST"
                                : "UCI handwritten digits",
                train.images(), train.targets(), test.images(), test.targets()};
  fmt::print("{}: {} training and {} test images of {}x{}\n", images.title, images.train.size(0),
             images.test.size(0), images.rows(), images.columns());
  return images;
}

void save_grid(const ebb::Tensor& images, std::int64_t columns, const std::string& path) {
  const std::int64_t scale = std::max<std::int64_t>(1, 32 / images.size(2));
  const ebb::Tensor large =
      images.detach().to(ebb::kCPU).repeat_interleave(scale, 2).repeat_interleave(scale, 3);
  ebb::vision::write_png((ebb::vision::make_grid(large, columns, 2, 1) * 255).round().to(ebb::kUInt8), path);
  fmt::print("{}\n", path);
}

}  // namespace example
