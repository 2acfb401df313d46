// load_images: the training and test images of the examples.
#include "common/images.h"

#include <ebb/ebb.h>

#include <fmt/format.h>

namespace example {

Images load_images(const std::string& folder, bool brief) {
  using ebb::data::datasets::MNIST;
  const bool fashion = folder.empty() && !brief && MNIST::present(kFashionMnist);
  const std::string source = !folder.empty() ? folder : fashion ? kFashionMnist : kDigits;
  const MNIST train(source), test(source, MNIST::Mode::kTest);
  EBB_CHECK(train.images().size(2) % 4 == 0 && train.images().size(3) % 4 == 0, "load_images: images of ",
            source, " are of shape ", train.images().sizes(),
            ". Rows and columns must be multiples of 4, because the networks halve them twice.");
  Images images{!folder.empty() ? folder
                : fashion       ? "Fashion-MNIST"
                                : "UCI handwritten digits",
                train.images(), train.targets(), test.images(), test.targets()};
  fmt::print("{}: {} training and {} test images of {}x{}\n", images.title, images.train.size(0),
             images.test.size(0), images.rows(), images.columns());
  return images;
}

}  // namespace example
