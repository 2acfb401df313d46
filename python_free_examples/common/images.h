// load_images: the training and test images of the examples.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <string>

namespace example {

/// Folders of images in the format of MNIST: Fashion-MNIST of Debian's package dataset-fashion-mnist, and the
/// digits in this repository.
inline constexpr const char* kFashionMnist = "/usr/share/datasets/fashion-mnist";
inline constexpr const char* kDigits = EBB_EXAMPLES_DATA "/digits";

/// Grey images, kFloat [n, 1, rows, columns] with values in [0, 1], and their labels, kLong [n].
struct Images {
  std::string title;
  ebb::Tensor train, train_labels, test, test_labels;
  std::int64_t rows() const { return train.size(2); }
  std::int64_t columns() const { return train.size(3); }
};

/// Loads the images of `folder`, which has the format of MNIST. If `folder` is empty, loads Fashion-MNIST, if
/// Debian's package dataset-fashion-mnist is installed and `brief` is false, and otherwise the 1,797 digits
/// of this repository. Throws ebb::Error if rows or columns are not multiples of 4.
Images load_images(const std::string& folder, bool brief);

}  // namespace example
