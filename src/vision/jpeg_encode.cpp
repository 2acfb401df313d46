// encode_jpeg: writes JPEG with libjpeg.
#include <ebb/ebb.h>

#include "vision/codecs.h"
#include "vision/jpeg_errors.h"

#include <cstdlib>
#include <cstring>

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
  EBB_CHECK(quality >= 1 && quality <= 100, "encode_jpeg: quality goes from 1 to 100, not ", quality, ".");
  const Variable samples = codecs::interleaved("encode_jpeg", image, 1, 3, 2);
  EBB_CHECK(samples.size(0) <= JPEG_MAX_DIMENSION && samples.size(1) <= JPEG_MAX_DIMENSION,
            "encode_jpeg: JPEG has at most ", std::int64_t{JPEG_MAX_DIMENSION},
            " pixels a side, the image is of shape ", image.sizes(), ". Write it as PNG.");
  return Encoder().encode(samples, quality);
}

}  // namespace ebb::vision
