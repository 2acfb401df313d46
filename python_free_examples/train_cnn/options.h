// The command line of train_cnn.
#pragma once

#include <ebb/ebb.h>

#include <cstdint>
#include <optional>
#include <string>

struct Options {
  std::string
      data;  ///< folder of IDX files; empty: Fashion-MNIST if installed, else the digits of this repository
  int epochs = 0;  ///< 0: 8, or 30 on the digits
  std::int64_t batch = 64;
  double lr = 0;  ///< 0: 0.001, or 0.003 on the digits, which are few
  std::uint64_t seed = 1;
  ebb::Device device = ebb::Device::CPU;
  int threads = 0;  ///< 0: ebb's default
  std::string save = "train_cnn.safetensors";
};

/// Parses the arguments; prints help or the mistake and returns nothing when the program should end with
/// `exit_code`.
std::optional<Options> parse_options(int argc, char** argv, int& exit_code);

/// Where the images come from, and what they are called.
struct Source {
  std::string folder, title;
  std::vector<std::string> classes;
  int epochs;
  double lr;
};
Source find_source(const Options& options);
