// PNG with libpng: decode_png reads it, and encode_png writes it.
#include <ebb/ebb.h>

#include "vision/codecs.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace ebb::vision::codecs {
namespace {

/// The error handler of libpng, which must not return. An exception must not pass through libpng's frames, so
/// the handler jumps back into guard(), and guard() throws ebb::Error.
class PngErrors {
 public:
  PngErrors() = default;
  PngErrors(const PngErrors&) = delete;
  PngErrors& operator=(const PngErrors&) = delete;

  /// Calls f, which calls libpng. A jump may end f, so f must not construct objects with destructors. Errors
  /// begin with `problem`.
  template <class F>
  void guard(const std::string& problem, F&& f) {
    if (setjmp(back_) != 0) ebb::detail::fail(problem, ": ", text_, ".");
    f();
  }

  // Handles an error as required by png_create_read_struct and png_create_write_struct.
  static void jump_back(png_structp png, png_const_charp message) {
    auto* const errors = static_cast<PngErrors*>(png_get_error_ptr(png));
    std::size_t n = 0;
    for (; message[n] != '\0' && n + 1 < sizeof errors->text_; ++n) errors->text_[n] = message[n];
    errors->text_[n] = '\0';
    std::longjmp(errors->back_, 1);
  }
  static void ignore(png_structp, png_const_charp) {}

 private:
  std::jmp_buf back_;
  char text_[128] = "";
};

constexpr std::string_view kSignature("\x89PNG\r\n\x1a\n", 8);

class Decoder {
 public:
  explicit Decoder(const Input& input)
      : input_(input), problem_(input.what + " cannot be decoded"), left_(input.bytes) {
    errors_.guard(problem_, [this] {
      files_.png =
          png_create_read_struct(PNG_LIBPNG_VER_STRING, &errors_, PngErrors::jump_back, PngErrors::ignore);
      if (files_.png) files_.info = png_create_info_struct(files_.png);
    });
    EBB_CHECK(files_.info, problem_, ": libpng could not be started.");
    errors_.guard(problem_, [this] {
      png_set_read_fn(files_.png, this, take);
      // Unused text and palette chunks are skipped, because each could unpack to megabytes.
      png_set_keep_unknown_chunks(files_.png, PNG_HANDLE_CHUNK_NEVER,
                                  reinterpret_cast<png_const_bytep>("tEXt\0zTXt\0iTXt\0sPLT"), 4);
      png_read_info(files_.png, files_.info);
    });
  }

  /// Returns the image [C, H, W].
  Variable decode() {
    const std::int64_t height = png_get_image_height(files_.png, files_.info),
                       width = png_get_image_width(files_.png, files_.info);
    check_size(input_, height, width);
    // The ratio of DEFLATE is at most 1032.
    EBB_CHECK(height * static_cast<std::int64_t>(png_get_rowbytes(files_.png, files_.info)) / 1032 <=
                  static_cast<std::int64_t>(input_.bytes.size()),
              input_.what, " is cut short or damaged: it claims ", height, " x ", width,
              " pixels, more than its ", static_cast<std::uint64_t>(input_.bytes.size()), " bytes can hold.");
    errors_.guard(problem_, [this] { convert(); });
    const std::int64_t channels = png_get_channels(files_.png, files_.info), row_bytes = width * channels;
    Variable image = empty({channels, height, width}, kByte);
    auto* const planes = image.data_ptr<std::uint8_t>();
    // libpng fills the rows of an interlaced file in several passes, so all rows are stored. For other files,
    // one row is stored at a time.
    const int passes = png_set_interlace_handling(files_.png);
    const std::int64_t stored_rows = passes > 1 ? height : 1;
    std::vector<unsigned char> samples(static_cast<std::size_t>(stored_rows * row_bytes));
    errors_.guard(problem_, [&] {
      for (int pass = 1; pass <= passes; ++pass)
        for (std::int64_t y = 0; y < height; ++y) {
          unsigned char* const row = samples.data() + (stored_rows > 1 ? y : 0) * row_bytes;
          png_read_row(files_.png, row, nullptr);
          if (pass == passes) spread_row(row, width, channels, height * width, planes + y * width);
        }
      png_read_end(files_.png, files_.info);
    });
    return image;
  }

  /// Returns the orientation. Call it after decode(), because the EXIF chunk may follow the pixels.
  int orientation() {
    png_uint_32 size = 0;
    png_bytep tiff = nullptr;
    errors_.guard(problem_, [&] { png_get_eXIf_1(files_.png, files_.info, &size, &tiff); });
    return tiff ? exif_orientation({reinterpret_cast<const char*>(tiff), size}) : 1;
  }

 private:
  struct Files {
    png_structp png = nullptr;
    png_infop info = nullptr;
    ~Files() { png_destroy_read_struct(&png, &info, nullptr); }
  };

  static void take(png_structp png, png_bytep to, std::size_t size) {
    std::string_view& left = static_cast<Decoder*>(png_get_io_ptr(png))->left_;
    if (size > left.size()) png_error(png, "the file is cut short");
    std::memcpy(to, left.data(), size);
    left.remove_prefix(size);
  }

  // Sets libpng's conversions of each row to 8-bit samples and to the requested channels.
  void convert() {
    const png_structp png = files_.png;
    const png_byte type = png_get_color_type(png, files_.info);
    const bool unchanged = input_.mode == ImageReadMode::unchanged;
    const bool wants_alpha =
        input_.mode == ImageReadMode::gray_alpha || input_.mode == ImageReadMode::rgb_alpha;
    const bool wants_gray = input_.mode == ImageReadMode::gray || input_.mode == ImageReadMode::gray_alpha;
    const bool transparent_color = png_get_valid(png, files_.info, PNG_INFO_tRNS) != 0;
    const bool has_color = (type & PNG_COLOR_MASK_COLOR) != 0;
    const bool has_alpha = (type & PNG_COLOR_MASK_ALPHA) != 0 || transparent_color;

    png_set_scale_16(png);
    if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
    if (type == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png);
    if (transparent_color) png_set_tRNS_to_alpha(png);
    if (!unchanged) {
      if (has_alpha && !wants_alpha) png_set_strip_alpha(png);
      if (has_color && wants_gray) png_set_rgb_to_gray(png, PNG_ERROR_ACTION_NONE, 0.2989, 0.587);
      if (!has_color && !wants_gray) png_set_gray_to_rgb(png);
      if (!has_alpha && wants_alpha) png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
    }
    png_set_interlace_handling(png);
    png_read_update_info(png, files_.info);
  }

  const Input& input_;
  std::string problem_;
  std::string_view left_;
  PngErrors errors_;
  Files files_;
};

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with(kSignature); }

Variable decode_png(const Input& input) {
  Decoder decoder(input);
  const Variable image = decoder.decode();
  return input.apply_exif_orientation ? upright(image, decoder.orientation()) : image;
}

}  // namespace ebb::vision::codecs

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

  // Appends encoded bytes. libpng calls this function, so exceptions must not leave it.
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
            "encode_png: compression_level must be in the range 0 to 9, got ", compression_level, ".");
  return Encoder().encode(codecs::interleaved("encode_png", image, 1, 4, 1), compression_level);
}

}  // namespace ebb::vision
