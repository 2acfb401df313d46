// Where the images come from.
#pragma once

#include <string>
#include <vector>

/// A folder of IDX files, what it holds, the names of its classes, and how to train on it.
struct Source {
  std::string folder, title;
  std::vector<std::string> classes;
  int epochs;
  double lr;
  double stated;  ///< the test accuracy that this reaches
};

/// Fashion-MNIST where Debian's dataset-fashion-mnist is installed, else (or with `small`) 1,797 real digits,
/// or the images of a folder of one's own.
Source find_source(const std::string& folder, bool small);
