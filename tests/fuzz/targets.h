// What is fuzzed: everything of ebb that reads bytes from outside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

/// Reads `bytes` and looks at all that was read. Returns whether they were accepted; a refusal is an
/// ebb::Error, and any other exception passes through.
bool read_safetensors(std::string_view bytes);
bool read_idx(std::string_view bytes);
bool read_gzipped_idx(std::string_view bytes);  ///< compresses them first, so that damage lies within

bool read_csv(std::string_view bytes);
bool read_vocabulary(std::string_view bytes);

// Of ebb::vision.
bool read_jpeg(std::string_view bytes);
bool read_png(std::string_view bytes);  ///< with sound check sums, so that damage comes further than to them
bool read_cifar(std::string_view bytes);

struct Target {
  const char* name;
  bool (*read)(std::string_view bytes);
  std::vector<std::string> (*seeds)();
};

// Sound inputs of every kind, to begin with.
std::vector<std::string> safetensors_seeds();
std::vector<std::string> idx_seeds();
std::vector<std::string> csv_seeds();
std::vector<std::string> vocabulary_seeds();
std::vector<std::string> jpeg_seeds();
std::vector<std::string> png_seeds();
std::vector<std::string> cifar_seeds();

inline const Target kTargets[] = {{"safetensors", read_safetensors, safetensors_seeds},
                                  {"idx", read_idx, idx_seeds},
                                  {"gzipped_idx", read_gzipped_idx, idx_seeds},
                                  {"csv", read_csv, csv_seeds},
                                  {"vocabulary", read_vocabulary, vocabulary_seeds}};
inline const Target kVisionTargets[] = {
    {"jpeg", read_jpeg, jpeg_seeds}, {"png", read_png, png_seeds}, {"cifar", read_cifar, cifar_seeds}};

std::string gzip(std::string_view bytes);

}  // namespace fuzz
