// JPEG with libjpeg: decode_jpeg reads it, and encode_jpeg writes it.
#include <ebb/ebb.h>

#include "vision/codecs.h"

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// clang-format off: jpeglib.h needs FILE and size_t, and jerror.h needs jpeglib.h.
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

namespace ebb::vision::codecs {
namespace {

/// The error manager of libjpeg. After an error libjpeg calls error_exit, which must not return. An exception
/// must not pass through libjpeg's frames, so error_exit jumps back into guard(), and guard() throws
/// ebb::Error.
class JpegErrors {
 public:
  JpegErrors() {
    jpeg_std_error(&manager_.base);
    manager_.base.error_exit = jump_back;
    manager_.base.emit_message = refuse_damage;
  }
  JpegErrors(const JpegErrors&) = delete;
  JpegErrors& operator=(const JpegErrors&) = delete;

  jpeg_error_mgr* manager() { return &manager_.base; }

  /// Calls f, which calls libjpeg. A jump may end f, so f must not construct objects with destructors. Errors
  /// begin with `problem`.
  template <class F>
  void guard(const std::string& problem, F&& f) {
    if (setjmp(manager_.back) != 0) ebb::detail::fail(problem, ": ", manager_.text, ".");
    f();
  }

 private:
  struct Manager {
    jpeg_error_mgr base;  // the first member, so that libjpeg's pointer to it also points to the Manager
    std::jmp_buf back;
    char text[JMSG_LENGTH_MAX];
  };

  static void jump_back(j_common_ptr info) {
    auto* const manager = reinterpret_cast<Manager*>(info->err);
    info->err->format_message(info, manager->text);
    std::longjmp(manager->back, 1);
  }

  // Turns warnings about lost pixels into errors. libjpeg only warns, and fills missing pixels with grey.
  static void refuse_damage(j_common_ptr info, int level) {
    if (level >= 0) return;
    switch (info->err->msg_code) {
      case JWRN_ARITH_BAD_CODE:
      case JWRN_HIT_MARKER:
      case JWRN_HUFF_BAD_CODE:
      case JWRN_JPEG_EOF:
      case JWRN_MUST_RESYNC:
        info->err->error_exit(info);
        break;
      default:
        ++info->err->num_warnings;
    }
  }

  Manager manager_;
};

// A limit for the scans of a progressive file, because even an empty scan takes as much time as the whole
// image.
constexpr int kMaxScans = 500;

void refuse_endless_scans(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMaxScans) {
    info->err->msg_code = JERR_BAD_PROGRESSION;
    info->err->error_exit(info);
  }
}

// The number of channels into which the file is decoded, before the conversion to the requested channels.
int channels_of(J_COLOR_SPACE space) { return space == JCS_GRAYSCALE ? 1 : space == JCS_CMYK ? 4 : 3; }

class Decoder {
 public:
  explicit Decoder(const Input& input) : input_(input), problem_(input.what + " cannot be decoded") {
    info_.err = errors_.manager();
    errors_.guard(problem_, [this] {
      jpeg_create_decompress(&info_);
      progress_.progress_monitor = refuse_endless_scans;
      info_.progress = &progress_;
      jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(input_.bytes.data()), input_.bytes.size());
      jpeg_save_markers(&info_, JPEG_APP0 + 1, 0xffff);
      jpeg_read_header(&info_, TRUE);
    });
    orientation_ = orientation_of_markers();  // libjpeg frees the markers at the end of the image
  }

  /// Returns the image [1, H, W], [3, H, W], or [4, H, W] in CMYK.
  Variable decode() {
    const std::int64_t height = info_.image_height, width = info_.image_width;
    check_size(input_, height, width);
    check_bytes(height, width);
    info_.out_color_space = space();
    const std::int64_t channels = channels_of(info_.out_color_space);
    const Variable image = empty({channels, height, width}, kByte);
    std::vector<unsigned char> line(static_cast<std::size_t>(width * channels));
    auto* const planes = image.data_ptr<std::uint8_t>();
    errors_.guard(problem_, [&] {
      jpeg_start_decompress(&info_);
      for (std::int64_t y = 0; y < height; ++y) {
        JSAMPROW row = line.data();
        jpeg_read_scanlines(&info_, &row, 1);
        spread_row(row, width, channels, height * width, planes + y * width);
      }
      jpeg_finish_decompress(&info_);
    });
    return image;
  }

  int orientation() const { return orientation_; }
  bool is_cmyk() const { return info_.out_color_space == JCS_CMYK; }

 private:
  int orientation_of_markers() const {
    for (const jpeg_marker_struct* marker = info_.marker_list; marker; marker = marker->next) {
      const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
      if (const std::string_view head("Exif\0\0", 6); data.starts_with(head))
        return exif_orientation(data.substr(head.size()));
    }
    return 1;
  }

  // Throws, before the image is allocated, if the file is too short for the image's size. Without arithmetic
  // coding, every 8 x 8 block of the finest component takes at least one bit, so H W pixels take at least H W
  // / 512 bytes.
  void check_bytes(std::int64_t height, std::int64_t width) const {
    EBB_CHECK(info_.arith_code || height * width / 512 <= static_cast<std::int64_t>(input_.bytes.size()),
              input_.what, " is cut short or damaged: it claims ", height, " x ", width,
              " pixels, more than its ", static_cast<std::uint64_t>(input_.bytes.size()), " bytes can hold.");
  }

  J_COLOR_SPACE space() const {
    if (info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK) return JCS_CMYK;
    if (input_.mode == ImageReadMode::unchanged) return info_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    const bool gray = input_.mode == ImageReadMode::gray || input_.mode == ImageReadMode::gray_alpha;
    return gray ? JCS_GRAYSCALE : JCS_RGB;
  }

  struct Info : jpeg_decompress_struct {
    Info() : jpeg_decompress_struct{} {}
    ~Info() { jpeg_destroy_decompress(this); }
  };

  const Input& input_;
  std::string problem_;
  JpegErrors errors_;
  jpeg_progress_mgr progress_{};
  Info info_;
  int orientation_ = 1;
};

// Converts inverted CMYK, as Adobe writes it: 255 means no ink. Therefore red = C * K / 255, and green and
// blue are computed in the same way.
Variable rgb_of_cmyk(const Variable& image) {
  const Variable wide = image.to(kFloat);
  return wide.narrow(0, 0, 3).mul(wide.narrow(0, 3, 1)).div_(255).round_().to(kByte);
}

// Converts RGB to gray (ITU-R BT.601) with the 16-bit coefficients of libjpeg.
Variable gray_of_rgb(const Variable& image) {
  const Variable wide = image.to(kInt);
  return wide[0]
      .mul(19595)
      .add(wide[1].mul(38470))
      .add(wide[2].mul(7471))
      .add(32768)
      .bitwise_right_shift(16)
      .to(kByte)
      .unsqueeze(0);
}

}  // namespace

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }

Variable decode_jpeg(const Input& input) {
  Decoder decoder(input);
  Variable image = decoder.decode();
  const ImageReadMode mode = input.mode;
  if (decoder.is_cmyk() && mode != ImageReadMode::unchanged) {
    image = rgb_of_cmyk(image);
    if (mode == ImageReadMode::gray || mode == ImageReadMode::gray_alpha) image = gray_of_rgb(image);
  }
  if (mode == ImageReadMode::gray_alpha || mode == ImageReadMode::rgb_alpha)
    image = cat({image, full({1, image.size(1), image.size(2)}, 255, kByte)});
  return input.apply_exif_orientation ? upright(image, decoder.orientation()) : image;
}

}  // namespace ebb::vision::codecs

namespace ebb::vision {
namespace {

class Encoder {
 public:
  Encoder() {
    info_.err = errors_.manager();
    errors_.guard("encode_jpeg", [this] {
      jpeg_create_compress(&info_);
      jpeg_mem_dest(&info_, &out_.bytes, &out_.size);
    });
  }
  /// Encodes samples [H, W, C].
  Variable encode(const Variable& samples, int quality) {
    const std::int64_t height = samples.size(0), width = samples.size(1), channels = samples.size(2);
    info_.image_height = static_cast<JDIMENSION>(height);
    info_.image_width = static_cast<JDIMENSION>(width);
    info_.input_components = static_cast<int>(channels);
    info_.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    auto* const data = samples.data_ptr<std::uint8_t>();
    errors_.guard("encode_jpeg", [&] {
      jpeg_set_defaults(&info_);
      jpeg_set_quality(&info_, quality, TRUE);
      jpeg_start_compress(&info_, TRUE);
      for (std::int64_t y = 0; y < height; ++y) {
        JSAMPROW row = data + y * width * channels;
        jpeg_write_scanlines(&info_, &row, 1);
      }
      jpeg_finish_compress(&info_);
    });
    Variable bytes = empty({static_cast<std::int64_t>(out_.size)}, kByte);
    std::memcpy(bytes.data_ptr(), out_.bytes, out_.size);
    return bytes;
  }

 private:
  struct Info : jpeg_compress_struct {
    Info() : jpeg_compress_struct{} {}
    ~Info() { jpeg_destroy_compress(this); }
  };
  struct Out {
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    ~Out() { std::free(bytes); }  // libjpeg allocates it with malloc
  };

  codecs::JpegErrors errors_;
  Out out_;
  Info info_;
};

}  // namespace

Variable encode_jpeg(const Variable& image, int quality) {
  EBB_CHECK(quality >= 1 && quality <= 100, "encode_jpeg: quality must be in the range 1 to 100, got ",
            quality, ".");
  const Variable samples = codecs::interleaved("encode_jpeg", image, 1, 3, 2);
  EBB_CHECK(samples.size(0) <= JPEG_MAX_DIMENSION && samples.size(1) <= JPEG_MAX_DIMENSION,
            "encode_jpeg: JPEG has at most ", std::int64_t{JPEG_MAX_DIMENSION},
            " pixels per side, got an image of shape ", image.sizes(), ". Write it as PNG.");
  return Encoder().encode(samples, quality);
}

}  // namespace ebb::vision
