// encode_png: writes PNG with libpng.
#include <ebb/ebb.h>

#include "vision/codecs.h"
#include "vision/png_errors.h"

#include <cstring>
#include <new>

namespace ebb::vision {
namespace {

constexpr int kColorTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                               PNG_COLOR_TYPE_RGB_ALPHA};

class Encoder {
 public:
  Encoder() {
    errors_.guard("encode_png", [this] {
      files_.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &errors_, codecs::PngErrors::jump_back,
                                           codecs::PngErrors::ignore);
      if (files_.png) files_.info = png_create_info_struct(files_.png);
    });
    EBB_CHECK(files_.info, "encode_png: libpng could not be started.");
  }

  /// Encodes samples [H, W, C].
  Variable encode(const Variable& samples, int compression_level) {
    const std::int64_t height = samples.size(0), width = samples.size(1), channels = samples.size(2);
    auto* const data = samples.data_ptr<std::uint8_t>();
    errors_.guard("encode_png", [&] {
      png_set_write_fn(files_.png, this, append, nullptr);
      png_set_compression_level(files_.png, compression_level);
      png_set_IHDR(files_.png, files_.info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height),
                   8, kColorTypes[channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                   PNG_FILTER_TYPE_DEFAULT);
      png_write_info(files_.png, files_.info);
      for (std::int64_t y = 0; y < height; ++y) png_write_row(files_.png, data + y * width * channels);
      png_write_end(files_.png, files_.info);
    });
    Variable bytes = empty({static_cast<std::int64_t>(bytes_.size())}, kByte);
    std::memcpy(bytes.data_ptr(), bytes_.data(), bytes_.size());
    return bytes;
  }

 private:
  struct Files {
    png_structp png = nullptr;
    png_infop info = nullptr;
    ~Files() { png_destroy_write_struct(&png, &info); }
  };

  // libpng calls this function, so exceptions must not leave it.
  static void append(png_structp png, png_bytep from, std::size_t size) {
    bool appended = true;
    try {
      static_cast<Encoder*>(png_get_io_ptr(png))->bytes_.append(reinterpret_cast<const char*>(from), size);
    } catch (const std::bad_alloc&) {
      appended = false;
    }
    if (!appended) png_error(png, "out of memory");
  }

  codecs::PngErrors errors_;
  std::string bytes_;
  Files files_;
};

}  // namespace

Variable encode_png(const Variable& image, int compression_level) {
  EBB_CHECK(compression_level >= 0 && compression_level <= 9,
            "encode_png: compression_level goes from 0 to 9, not ", compression_level, ".");
  return Encoder().encode(codecs::interleaved("encode_png", image, 1, 4, 1), compression_level);
}

}  // namespace ebb::vision
