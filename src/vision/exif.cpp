// exif_orientation and upright: the orientation of a photo in EXIF data (TIFF 6.0, tag 0x0112).
#include <ebb/ebb.h>

#include "vision/codecs.h"

namespace ebb::vision::codecs {
namespace {

// Reads integers of a TIFF block in its byte order. An integer beyond the end of the block is read as 0,
// which is the tag of no entry.
struct Tiff {
  std::string_view bytes;
  bool big_endian;

  std::uint32_t at(std::size_t offset, std::size_t width) const {
    if (offset > bytes.size() || width > bytes.size() - offset) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width; ++i)
      value = value << 8 | static_cast<unsigned char>(bytes[offset + (big_endian ? i : width - 1 - i)]);
    return value;
  }
};

constexpr std::uint32_t kOrientationTag = 0x0112, kShortType = 3;

}  // namespace

int exif_orientation(std::string_view tiff) {
  if (!tiff.starts_with("II") && !tiff.starts_with("MM")) return 1;
  const Tiff block{tiff, tiff[0] == 'M'};
  if (block.at(2, 2) != 42) return 1;
  const std::size_t directory = block.at(4, 4);
  const std::size_t entries = block.at(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + 12 * i;
    if (block.at(entry, 2) != kOrientationTag || block.at(entry + 2, 2) != kShortType) continue;
    const std::uint32_t orientation = block.at(entry + 8, 2);
    return orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : 1;
  }
  return 1;
}

Variable upright(const Variable& image, int orientation) {
  switch (orientation) {
    case 2:
      return image.flip({-1}).contiguous();
    case 3:
      return image.flip({-2, -1}).contiguous();
    case 4:
      return image.flip({-2}).contiguous();
    case 5:
      return image.transpose(-2, -1).contiguous();
    case 6:
      return image.transpose(-2, -1).flip({-1}).contiguous();
    case 7:
      return image.transpose(-2, -1).flip({-2, -1}).contiguous();
    case 8:
      return image.transpose(-2, -1).flip({-2}).contiguous();
    default:
      return image;
  }
}

}  // namespace ebb::vision::codecs
