// What the readers and writers of image files share.
#pragma once

#include <ebb/vision/image_io.h>

#include <string>
#include <string_view>

namespace ebb::vision::codecs {

/// A file's bytes, what to make of them, and how errors begin: `read_image: "cat.png"`.
struct Input {
  std::string_view bytes;
  ImageReadMode mode;
  bool apply_exif_orientation;
  std::string what;
};

bool is_jpeg(std::string_view bytes);
bool is_png(std::string_view bytes);
Variable decode_jpeg(const Input& input);
Variable decode_png(const Input& input);

/// Throws for images larger than any that is read.
void check_size(const Input& input, std::int64_t height, std::int64_t width);

/// The orientation, 1 to 8, that the TIFF block of EXIF data names; 1 where it names none or is damaged.
int exif_orientation(std::string_view tiff);
/// The image [C, H, W] turned upright.
Variable upright(const Variable& image, int orientation);

/// The image [C, H, W] with its samples together, [H, W, C], on the CPU. Throws unless it is of bytes and has
/// one of the numbers of channels from `least` to `most`, in steps of `step`.
Variable interleaved(const char* what, const Variable& image, std::int64_t least, std::int64_t most,
                     std::int64_t step);
/// Spreads a row of `channels` samples a pixel over the planes of an image of `pixels` pixels each.
void spread_row(const unsigned char* row, std::int64_t width, std::int64_t channels, std::int64_t pixels,
                unsigned char* planes);

}  // namespace ebb::vision::codecs
