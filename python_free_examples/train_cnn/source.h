// Source: the images of the training and its settings.
#pragma once

#include <string>
#include <vector>

/// A folder of IDX files, its title and class names, and the settings of the training.
struct Source {
  std::string folder, title;
  std::vector<std::string> classes;
  int epochs;
  double lr;
  double stated;  ///< the stated test accuracy
};

/// Returns `folder` if it is not empty. Otherwise returns Fashion-MNIST, if Debian's dataset-fashion-mnist is
/// installed and `small` is false, or the 1,797 digits.
Source find_source(const std::string& folder, bool small);
