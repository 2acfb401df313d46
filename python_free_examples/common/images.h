// Images to learn from.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <string>

namespace example {

/// Images in the files of MNIST: where Debian's package dataset-fashion-mnist puts Fashion-MNIST, and the
/// digits in this repository.
inline constexpr const char* kFashionMnist = "/usr/share/datasets/fashion-mnist";
inline constexpr const char* kDigits = EBB_EXAMPLES_DATA "/digits";

/// Grey images, kFloat [n, 1, rows, columns] in [0, 1], and their labels, kLong [n].
struct Images {
  std::string title;
  ebb::Tensor train, train_labels, test, test_labels;
  std::int64_t rows() const { return train.size(2); }
  std::int64_t columns() const { return train.size(3); }
};

/// The images of `folder`, in the files of MNIST. Where it is empty: Fashion-MNIST, if Debian's package
/// dataset-fashion-mnist is installed and not the `brief` form is asked for; else the 1,797 digits of this
/// repository. Throws ebb::Error where rows or columns are no multiple of 4.
Images load_images(const std::string& folder, bool brief);

}  // namespace example
