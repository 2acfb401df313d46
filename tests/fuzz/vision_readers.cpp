// Readers of ebb::vision, called with the bytes of a fuzzer, and valid seeds.
#include <ebb/vision.h>

#include "fuzz/targets.h"

#include <zlib.h>

namespace fuzz {
namespace {

// The bytes themselves select the channels of the result.
bool read_image(std::string_view bytes) {
  const auto mode = static_cast<ebb::vision::ImageReadMode>(bytes.size() % 5);
  ebb::Tensor image;
  if (!accepted([&] { image = ebb::vision::decode_image(bytes, mode, true); })) return false;
  look_at(image);
  EBB_CHECK(image.dim() == 3 && image.numel() > 0, "an image has no pixels.");
  return true;
}

// Reads a big-endian size or checksum.
std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// The blocks of a PNG file with correct checksums.
std::string with_sound_sums(std::string bytes) {
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    const std::uint32_t size = number_at(bytes, at);
    if (size > bytes.size() - at - 12) break;
    const auto* const block = reinterpret_cast<const Bytef*>(bytes.data() + at + 4);
    const auto sum = static_cast<std::uint32_t>(crc32(0, block, size + 4));
    for (std::size_t i = 0; i < 4; ++i) bytes[at + 8 + size + i] = static_cast<char>(sum >> (24 - 8 * i));
    at += size + 12;
  }
  return bytes;
}

// The image files among the goldens of ebb::vision whose names begin with `start`.
std::vector<std::string> golden_files(const std::string& start) {
  static const ebb::safetensors::File goldens =
      ebb::safetensors::read(EBB_SOURCE_DIR "/tests/vision/data/goldens.safetensors");
  std::vector<std::string> files;
  for (const auto& [name, tensor] : goldens.tensors)
    if (name.starts_with("file." + start))
      files.emplace_back(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes());
  return files;
}

}  // namespace

bool read_jpeg(std::string_view bytes) { return read_image(bytes); }
bool read_png(std::string_view bytes) { return read_image(with_sound_sums(std::string(bytes))); }

bool read_cifar(std::string_view bytes) {
  const MemoryFile file(bytes);
  ebb::vision::datasets::CIFARRecords records;
  if (!accepted([&] { records = ebb::vision::datasets::read_cifar(file.path(), {20, 100}); })) return false;
  look_at(records.images);
  look_at(records.labels);
  return true;
}

std::vector<std::string> jpeg_seeds() { return golden_files("jpeg"); }
std::vector<std::string> png_seeds() { return golden_files("png"); }
std::vector<std::string> cifar_seeds() {
  return {std::string(3074, '\x07'), std::string(3074, '\0') + "\x13\x63" + std::string(3072, '\xff')};
}

}  // namespace fuzz
