// Common declarations of the readers and writers of image files, and read_file.
#pragma once

#include <ebb/vision/image_io.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ebb::vision {

/// Reads a regular file. check(size) may refuse it because of its size before it is read. If the path is no
/// regular file (a folder, a device, a pipe) or the file cannot be read, throws an error that begins with
/// `what`.
std::string read_file(const char* what, const std::string& path,
                      const std::function<void(std::uint64_t)>& check);

}  // namespace ebb::vision

namespace ebb::vision::codecs {

/// The bytes of a file, the options, and the prefix of errors: `read_image: "cat.png"`.
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

/// Throws if the image has no pixels or more than kMaxImagePixels.
void check_size(const Input& input, std::int64_t height, std::int64_t width);

/// Returns the orientation, 1 to 8, in the TIFF block of EXIF data. Returns 1 if there is none or the block
/// is damaged.
int exif_orientation(std::string_view tiff);
/// Returns the image [C, H, W] rotated and flipped to orientation 1.
Variable upright(const Variable& image, int orientation);

/// Converts the image [C, H, W] to [H, W, C] on the CPU. Throws unless its dtype is Byte and its number of
/// channels is `least`, least + step, ..., or `most`.
Variable interleaved(const char* what, const Variable& image, std::int64_t least, std::int64_t most,
                     std::int64_t step);
/// Distributes a row of interleaved samples to the planes of an image. Each plane has `pixels` pixels.
void spread_row(const unsigned char* row, std::int64_t width, std::int64_t channels, std::int64_t pixels,
                unsigned char* planes);

}  // namespace ebb::vision::codecs
