// Image files: JPEG and PNG (torchvision.io).
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace ebb::vision {

/// What channels an image is read into, whatever the file holds (torchvision.io.ImageReadMode). `unchanged`
/// takes the file's own: 1 of grey, 2 of grey with alpha, 3 of RGB, 4 of RGB with alpha or of CMYK; colours
/// of a palette are looked up, and a transparent colour becomes alpha. Where alpha is asked for and the file
/// has none, it is opaque, 255; where it is not asked for it is dropped.
enum class ImageReadMode { unchanged, gray, gray_alpha, rgb, rgb_alpha };

/// The largest number of pixels of an image that is read, that of Pillow: what claims more is refused before
/// memory is asked for, since a small file may claim any size.
inline constexpr std::int64_t kMaxImagePixels = 178956970;
/// The largest file that read_image reads: of so many pixels, four samples of 16 bits each.
inline constexpr std::int64_t kMaxImageBytes = 8 * kMaxImagePixels;

/// Reads a JPEG or PNG file, told apart by their first bytes: Byte [channels, height, width]
/// (torchvision.io.read_image). 16 bits a sample are rounded to 8. With apply_exif_orientation the image is
/// turned as the camera was held. Throws, naming the file, for what cannot be opened, is no regular file (a
/// folder, a device, a pipe), is of another format, damaged, cut short or larger than kMaxImagePixels or
/// kMaxImageBytes; no partly decoded image is returned.
EBB_API Variable read_image(const std::string& path, ImageReadMode mode = ImageReadMode::unchanged,
                            bool apply_exif_orientation = false);

/// The same of a file's bytes in memory, Byte [n] or as they are (torchvision.io.decode_image).
EBB_API Variable decode_image(const Variable& bytes, ImageReadMode mode = ImageReadMode::unchanged,
                              bool apply_exif_orientation = false);
EBB_API Variable decode_image(std::string_view bytes, ImageReadMode mode = ImageReadMode::unchanged,
                              bool apply_exif_orientation = false);
/// The same of one format; the other is an error.
EBB_API Variable decode_jpeg(const Variable& bytes, ImageReadMode mode = ImageReadMode::unchanged,
                             bool apply_exif_orientation = false);
EBB_API Variable decode_jpeg(std::string_view bytes, ImageReadMode mode = ImageReadMode::unchanged,
                             bool apply_exif_orientation = false);
EBB_API Variable decode_png(const Variable& bytes, ImageReadMode mode = ImageReadMode::unchanged,
                            bool apply_exif_orientation = false);
EBB_API Variable decode_png(std::string_view bytes, ImageReadMode mode = ImageReadMode::unchanged,
                            bool apply_exif_orientation = false);

/// The bytes of a JPEG file, Byte [n], of an image Byte [1 or 3, height, width]; quality 1 to 100
/// (torchvision.io.encode_jpeg).
EBB_API Variable encode_jpeg(const Variable& image, int quality = 75);
/// The bytes of a PNG file, Byte [n], of an image Byte [1 to 4, height, width]; compression_level 0 to 9
/// (torchvision.io.encode_png, which takes 1 or 3 channels).
EBB_API Variable encode_png(const Variable& image, int compression_level = 6);
/// The same into a file, atomic as safetensors::write. Throws where it cannot be written.
EBB_API void write_jpeg(const Variable& image, const std::string& path, int quality = 75);
EBB_API void write_png(const Variable& image, const std::string& path, int compression_level = 6);

}  // namespace ebb::vision
