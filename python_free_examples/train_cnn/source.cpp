// find_source: chooses the images of the training.
#include "source.h"

#include <ebb/data.h>

#include "common/images.h"

namespace {

std::vector<std::string> numbered() { return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}; }

}  // namespace

Source find_source(const std::string& folder, bool small) {
  if (!folder.empty()) return {folder, folder, numbered(), 8, 1e-3, 0};
  if (!small && ebb::data::datasets::MNIST::present(example::kFashionMnist))
    return {example::kFashionMnist,
            "Fashion-MNIST",
            {"T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Boot"},
            8,
            1e-3,
            0.9};
  return {example::kDigits, "UCI handwritten digits", numbered(), small ? 12 : 30, 3e-3, small ? 0.93 : 0.96};
}
