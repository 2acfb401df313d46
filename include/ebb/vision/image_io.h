// read_image, write_jpeg, write_png and others: JPEG and PNG files (torchvision.io).
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace ebb::vision {

/// The channels to which an image is converted (torchvision.io.ImageReadMode). `unchanged` keeps the file's
/// channels: 1 for grey, 2 for grey with alpha, 3 for RGB, 4 for RGB with alpha or CMYK. Palettes are
/// resolved, and a transparent colour becomes alpha. If the mode has alpha and the file has none, alpha is
/// 255 (opaque). If the file has alpha and the mode has none, alpha is dropped.
enum class ImageReadMode { unchanged, gray, gray_alpha, rgb, rgb_alpha };

/// The maximum number of pixels of an image, as in Pillow. A larger image is refused before memory is
/// allocated, because a small file may claim any size.
inline constexpr std::int64_t kMaxImagePixels = 178956970;
/// The maximum size of a file for read_image: kMaxImagePixels pixels with four 16-bit samples each.
inline constexpr std::int64_t kMaxImageBytes = 8 * kMaxImagePixels;

/// Reads a JPEG or PNG file, detected by its first bytes, as Byte [channels, height, width]
/// (torchvision.io.read_image). 16-bit samples are rounded to 8 bits. With apply_exif_orientation the image
/// is rotated according to its EXIF data. Throws an error that names the file if it cannot be opened, is not
/// a regular file (a folder, a device, a pipe), has another format, is damaged or truncated, or is larger
/// than kMaxImagePixels or kMaxImageBytes. Never returns a partly decoded image.
EBB_API Variable read_image(const std::string& path, ImageReadMode mode = ImageReadMode::unchanged,
                            bool apply_exif_orientation = false);

/// Decodes a file's bytes in memory, Byte [n] or a string_view (torchvision.io.decode_image).
EBB_API Variable decode_image(const Variable& bytes, ImageReadMode mode = ImageReadMode::unchanged,
                              bool apply_exif_orientation = false);
EBB_API Variable decode_image(std::string_view bytes, ImageReadMode mode = ImageReadMode::unchanged,
                              bool apply_exif_orientation = false);
/// Decode one format, and throw for the other one.
EBB_API Variable decode_jpeg(const Variable& bytes, ImageReadMode mode = ImageReadMode::unchanged,
                             bool apply_exif_orientation = false);
EBB_API Variable decode_jpeg(std::string_view bytes, ImageReadMode mode = ImageReadMode::unchanged,
                             bool apply_exif_orientation = false);
EBB_API Variable decode_png(const Variable& bytes, ImageReadMode mode = ImageReadMode::unchanged,
                            bool apply_exif_orientation = false);
EBB_API Variable decode_png(std::string_view bytes, ImageReadMode mode = ImageReadMode::unchanged,
                            bool apply_exif_orientation = false);

/// Returns the bytes of a JPEG file, Byte [n], for an image Byte [1 or 3, height, width]; quality 1 to 100
/// (torchvision.io.encode_jpeg).
EBB_API Variable encode_jpeg(const Variable& image, int quality = 75);
/// Returns the bytes of a PNG file, Byte [n], for an image Byte [1 to 4, height, width]; compression_level 0
/// to 9 (torchvision.io.encode_png, which takes 1 or 3 channels).
EBB_API Variable encode_png(const Variable& image, int compression_level = 6);
/// Write a file, atomically like safetensors::write. Throw if the file cannot be written.
EBB_API void write_jpeg(const Variable& image, const std::string& path, int quality = 75);
EBB_API void write_png(const Variable& image, const std::string& path, int compression_level = 6);

}  // namespace ebb::vision
