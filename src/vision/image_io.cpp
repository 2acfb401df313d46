// read_file, read_image, decode_image, write_jpeg and write_png: image files on disk and in memory.
#include <ebb/ebb.h>
#include <ebb/vision/image_io.h>

#include "io/atomic_file.h"
#include "vision/codecs.h"

#include <filesystem>

namespace ebb::vision {

std::string read_file(const char* what, const std::string& path,
                      const std::function<void(std::uint64_t)>& check) {
  std::error_code unknown;  // ignored, because read_text() reports unreadable files
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  if (!unknown) check(size);
  try {
    return data::read_text(path);
  } catch (const Error& e) {
    ebb::detail::fail(what, ": ", e.what());
  }
}

namespace codecs {

void check_size(const Input& input, std::int64_t height, std::int64_t width) {
  EBB_CHECK(height > 0 && width > 0, input.what, " holds an image without pixels, ", height, " x ", width,
            ".");
  EBB_CHECK(height <= kMaxImagePixels / width, input.what, " claims an image of ", height, " x ", width,
            " pixels, more than the ", kMaxImagePixels, " that are read. Scale it down first.");
}

Variable interleaved(const char* what, const Variable& image, std::int64_t least, std::int64_t most,
                     std::int64_t step) {
  const std::int64_t channels = image.defined() && image.dim() == 3 ? image.size(0) : -1;
  EBB_CHECK(channels >= least && channels <= most && (channels - least) % step == 0 && image.numel() > 0,
            what, ": expected an image [channels, height, width] of ", least, step == 1 ? " to " : " or ",
            most, " channels, got ", image, ".");
  EBB_CHECK(image.dtype() == kByte, what, ": expected an image of bytes, got ", image,
            ". Convert first: transforms::functional::to_dtype(image, kByte, true).");
  return image.detach().to(Device::CPU).permute({1, 2, 0}).contiguous();
}

void spread_row(const unsigned char* row, std::int64_t width, std::int64_t channels, std::int64_t pixels,
                unsigned char* planes) {
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t x = 0; x < width; ++x) planes[c * pixels + x] = row[x * channels + c];
}

}  // namespace codecs

namespace {

using codecs::Input;

// Returns the first bytes in hexadecimal, for errors about files of other formats.
std::string beginning(std::string_view bytes) {
  std::string text;
  for (const char c : bytes.substr(0, 8)) {
    text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    text += "0123456789abcdef"[c & 15];
  }
  return bytes.empty() ? "it is empty" : "it begins with 0x" + text;
}

Variable decode(const Input& input) {
  if (codecs::is_jpeg(input.bytes)) return codecs::decode_jpeg(input);
  if (codecs::is_png(input.bytes)) return codecs::decode_png(input);
  ebb::detail::fail(input.what, " is neither a JPEG nor a PNG file: ", beginning(input.bytes), ".");
}

std::string_view bytes_of(const char* what, const Variable& bytes) {
  EBB_CHECK(bytes.defined() && bytes.dtype() == kByte && bytes.dim() == 1 && bytes.is_cpu() &&
                bytes.is_contiguous(),
            what, ": expected the bytes of a file, Byte [n] on the CPU and contiguous, got ", bytes, ".");
  return {static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()};
}

void write(const Variable& bytes, const std::string& path) {
  io::AtomicFile file(path);
  file.write(bytes.data_ptr(), bytes.nbytes());
  file.commit();
}

}  // namespace

Variable read_image(const std::string& path, ImageReadMode mode, bool apply_exif_orientation) {
  const std::string bytes = read_file("read_image", path, [&](std::uint64_t size) {
    EBB_CHECK(size <= static_cast<std::uint64_t>(kMaxImageBytes), "read_image: \"", path, "\" of ", size,
              " bytes is larger than the limit of ", kMaxImageBytes, " bytes.");
  });
  return decode({bytes, mode, apply_exif_orientation, "read_image: \"" + path + "\""});
}

Variable decode_image(std::string_view bytes, ImageReadMode mode, bool apply_exif_orientation) {
  return decode({bytes, mode, apply_exif_orientation, "decode_image: the data"});
}
Variable decode_image(const Variable& bytes, ImageReadMode mode, bool apply_exif_orientation) {
  return decode_image(bytes_of("decode_image", bytes), mode, apply_exif_orientation);
}

Variable decode_jpeg(std::string_view bytes, ImageReadMode mode, bool apply_exif_orientation) {
  EBB_CHECK(codecs::is_jpeg(bytes), "decode_jpeg: the data is not a JPEG file: ", beginning(bytes), ".");
  return codecs::decode_jpeg({bytes, mode, apply_exif_orientation, "decode_jpeg: the data"});
}
Variable decode_jpeg(const Variable& bytes, ImageReadMode mode, bool apply_exif_orientation) {
  return decode_jpeg(bytes_of("decode_jpeg", bytes), mode, apply_exif_orientation);
}

Variable decode_png(std::string_view bytes, ImageReadMode mode, bool apply_exif_orientation) {
  EBB_CHECK(codecs::is_png(bytes), "decode_png: the data is not a PNG file: ", beginning(bytes), ".");
  return codecs::decode_png({bytes, mode, apply_exif_orientation, "decode_png: the data"});
}
Variable decode_png(const Variable& bytes, ImageReadMode mode, bool apply_exif_orientation) {
  return decode_png(bytes_of("decode_png", bytes), mode, apply_exif_orientation);
}

void write_jpeg(const Variable& image, const std::string& path, int quality) {
  write(encode_jpeg(image, quality), path);
}
void write_png(const Variable& image, const std::string& path, int compression_level) {
  write(encode_png(image, compression_level), path);
}

}  // namespace ebb::vision
