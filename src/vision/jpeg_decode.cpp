// decode_jpeg: reads JPEG with libjpeg.
#include <ebb/ebb.h>

#include "vision/codecs.h"
#include "vision/jpeg_errors.h"

#include <vector>

namespace ebb::vision::codecs {
namespace {

// A limit of the scans of a progressive file, because even an empty scan takes the time of the whole image.
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

  // Throws if the file is too short for its size, before the image is allocated. Without arithmetic coding
  // every 8 x 8 block of the finest component takes at least one bit.
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

// Converts inverted CMYK, as Adobe writes it: 255 means no ink. So red = C * K / 255, and green and blue
// likewise.
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
