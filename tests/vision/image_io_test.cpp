// Reading and writing image files, and refused files.
#include <ebb/vision.h>

#include "goldens.h"
#include "png_bytes.h"
#include "support/files.h"

#include <filesystem>
#include <fstream>

using namespace ebb;
using namespace ebb::vision;
using support::Contains;

namespace {

constexpr std::pair<ImageReadMode, const char*> kModes[] = {{ImageReadMode::unchanged, "unchanged"},
                                                            {ImageReadMode::gray, "gray"},
                                                            {ImageReadMode::gray_alpha, "gray_alpha"},
                                                            {ImageReadMode::rgb, "rgb"},
                                                            {ImageReadMode::rgb_alpha, "rgb_alpha"}};

std::string file(const std::string& name) { return support::bytes_of(golden("file." + name)); }

// The PNG file with another size in its header.
std::string resized_png(std::string png, std::uint32_t width, std::uint32_t height) {
  png.replace(16, 8, big_endian(width) + big_endian(height));
  png.replace(29, 4, big_endian(crc_of(std::string_view(png).substr(12, 17))));
  return png;
}

}  // namespace

TEST_CASE("JPEG and PNG files are decoded as torchvision decodes them") {
  for (const std::string name : {"jpeg_rgb", "jpeg_gray_progressive", "jpeg_cmyk", "png_rgb", "png_rgba",
                                 "png_gray_alpha", "png_bilevel"})
    for (const auto& [mode, mode_name] : kModes) {
      INFO(name << " as " << mode_name);
      // torchvision decodes JPEG without alpha, and gives one-bit files an alpha of 1.
      const bool alpha = std::string(mode_name).ends_with("alpha");
      if (alpha && (name.starts_with("jpeg") || name == "png_bilevel")) continue;
      check_close(decode_image(golden("file." + name), mode), golden("decoded." + name + "." + mode_name), 0);
    }
}

TEST_CASE("a missing alpha channel is decoded as opaque") {
  for (const std::string name : {"jpeg_rgb", "jpeg_cmyk", "png_rgb", "png_bilevel"}) {
    INFO(name);
    const Variable rgba = decode_image(file(name), ImageReadMode::rgb_alpha);
    CHECK(equal(rgba.narrow(0, 0, 3), decode_image(file(name), ImageReadMode::rgb)));
    CHECK(rgba[3].eq(255).all().item<bool>());
    CHECK(decode_image(file(name), ImageReadMode::gray_alpha)[1].eq(255).all().item<bool>());
  }
}

TEST_CASE("palette PNG files are expanded and 16-bit samples are rounded to 8 bits") {
  for (const std::string name : {"png_palette", "png_16"})
    check_close(decode_png(golden("file." + name)), golden("decoded." + name + ".unchanged"), 0);
}

TEST_CASE("a transparent color becomes alpha if the mode has alpha and is dropped otherwise") {
  std::string png = file("png_rgb");
  const Variable image = decode_png(png);
  std::string block = "tRNS";
  for (std::int64_t c = 0; c < 3; ++c) block += {'\0', static_cast<char>(image[c][2][3].item<int>())};
  png.insert(33, big_endian(6) + block + big_endian(crc_of(block)));  // after the header
  const Variable transparent = image.eq(image.narrow(1, 2, 1).narrow(2, 3, 1)).all(0);
  const Variable rgba = decode_png(png);
  REQUIRE(rgba.size(0) == 4);
  CHECK(equal(rgba.narrow(0, 0, 3), image));
  CHECK(equal(rgba[3].eq(0), transparent));
  CHECK(equal(rgba[3].eq(255), transparent.logical_not()));
  CHECK(equal(decode_png(png, ImageReadMode::rgb), image));
  CHECK(equal(decode_png(png, ImageReadMode::gray_alpha)[1], rgba[3]));
}

TEST_CASE("decode_jpeg applies the EXIF orientation on request") {
  const std::string bytes = file("jpeg_rgb");
  check_close(decode_jpeg(bytes, ImageReadMode::unchanged, true), golden("upright.jpeg_rgb"), 0);
  // The EXIF entry of the orientation: tag, type, count, value.
  const std::string entry("\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06", 10);
  const std::size_t at = bytes.find(entry);
  REQUIRE(at != bytes.npos);
  const Variable image = decode_jpeg(bytes);
  const auto turned = [&](int orientation) {
    std::string other = bytes;
    other[at + 9] = static_cast<char>(orientation);
    return decode_jpeg(other, ImageReadMode::unchanged, true);
  };
  CHECK(equal(turned(1), image));
  CHECK(equal(turned(2), image.flip({2})));
  CHECK(equal(turned(3), image.rot90(2, {1, 2})));
  CHECK(equal(turned(4), image.flip({1})));
  CHECK(equal(turned(5), image.transpose(1, 2)));
  CHECK(equal(turned(6), image.rot90(-1, {1, 2})));
  CHECK(equal(turned(7), image.rot90(2, {1, 2}).transpose(1, 2)));
  CHECK(equal(turned(8), image.rot90(1, {1, 2})));
  CHECK(equal(turned(9), image));
}

TEST_CASE("a round trip of images is exact for PNG and close for JPEG") {
  const FakeRoot root;
  manual_seed(0);
  for (const std::int64_t channels : {1, 2, 3, 4}) {
    const Variable image = randint(256, {channels, 5, 7}, kByte);
    write_png(image, root.path() + "/a.png", 9);
    CHECK(equal(read_image(root.path() + "/a.png"), image));
    CHECK(equal(decode_png(encode_png(image.flip({2}))), image.flip({2})));
  }
  const Variable y = arange(20).unsqueeze(1), x = arange(30);
  const Variable smooth = stack({y * 8 + x, x * 7 + y, y * 3 + x * 5}).to(kByte);
  write_jpeg(smooth, root.path() + "/a.jpg", 95);
  check_close(read_image(root.path() + "/a.jpg"), smooth, 16);
  const Variable gray = smooth.narrow(0, 0, 1);
  check_close(decode_jpeg(encode_jpeg(gray, 100)), gray, 2);
  CHECK(encode_jpeg(smooth, 10).numel() < encode_jpeg(smooth, 90).numel());
}

TEST_CASE("encode_png and encode_jpeg refuse unsupported images") {
  CHECK_THROWS_WITH(encode_png(zeros({3, 4, 4})), Contains("to_dtype"));
  CHECK_THROWS_WITH(encode_png(zeros({5, 4, 4}, kByte)), Contains("1 to 4 channels"));
  CHECK_THROWS_WITH(encode_jpeg(zeros({2, 4, 4}, kByte)), Contains("1 or 3 channels"));
  CHECK_THROWS_WITH(encode_jpeg(zeros({1, 4, 70000}, kByte)), Contains("Write it as PNG"));
  CHECK_THROWS_WITH(encode_jpeg(zeros({1, 0, 4}, kByte)), Contains("encode_jpeg"));
  CHECK_THROWS_WITH(encode_jpeg(zeros({1, 4, 4}, kByte), 0), Contains("1 to 100"));
  CHECK_THROWS_WITH(encode_png(zeros({1, 4, 4}, kByte), 10), Contains("0 to 9"));
  CHECK_THROWS_WITH(write_png(zeros({1, 4, 4}, kByte), "/no/such/folder/a.png"),
                    Contains("/no/such/folder/a.png"));
}

TEST_CASE("files that are not images are refused with their path") {
  const FakeRoot root;
  const std::string path = root.path() + "/x.png";
  const auto reading = [&](const std::string& bytes) {
    root.write("/x.png", bytes);
    return [&] { read_image(path); };
  };
  CHECK_THROWS_WITH(read_image("no/such/file.png"), Contains("no/such/file.png"));
  CHECK_THROWS_WITH(read_image(root.path()), Contains(root.path()) && Contains("directory"));
  CHECK_THROWS_WITH(reading("")(), Contains(path) && Contains("empty"));
  CHECK_THROWS_WITH(reading("GIF89a, say")(), Contains(path) && Contains("0x474946383961"));
  CHECK_THROWS_WITH(reading("\xff\xd8\xff!")(), Contains(path) && Contains("cannot be decoded"));
  CHECK_THROWS_WITH(reading("\x89PNG\r\n\x1a\n")(), Contains(path) && Contains("cut short"));
  CHECK_THROWS_WITH(decode_png(file("jpeg_rgb")), Contains("not a PNG file"));
  CHECK_THROWS_WITH(decode_jpeg(file("png_rgb")), Contains("not a JPEG file"));
  CHECK_THROWS_WITH(decode_image(zeros({4})), Contains("Byte [n]"));
}

TEST_CASE("an image file truncated at any byte is refused") {
  for (const std::string name :
       {"jpeg_rgb", "jpeg_gray_progressive", "jpeg_cmyk", "png_rgb", "png_palette"}) {
    const std::string whole = file(name);
    // The end marker of a JPEG file may be missing, because libjpeg has all data by then.
    for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
      INFO(name << " of " << size << " bytes");
      CHECK_THROWS_WITH(decode_image(whole.substr(0, size)), Contains("decode_image: the data"));
    }
  }
}

TEST_CASE("an image header with impossible sizes is refused before memory is allocated") {
  CHECK_THROWS_WITH(decode_image(resized_png(file("png_rgb"), 1000000, 1000000)), Contains("178956970"));
  CHECK_THROWS_WITH(decode_image(resized_png(file("png_rgb"), 10000, 10000)), Contains("bytes can hold"));
  CHECK_THROWS_WITH(decode_image(resized_png(file("png_rgb"), 0, 7)), Contains("cannot be decoded"));
  std::string jpeg = file("jpeg_gray_progressive");
  const std::size_t at = jpeg.find("\xff\xc2");
  REQUIRE(at != jpeg.npos);
  jpeg.replace(at + 5, 4, "\x27\x10\x27\x10");
  CHECK_THROWS_WITH(decode_image(jpeg), Contains("10000 x 10000") && Contains("bytes can hold"));
  jpeg.replace(at + 5, 4, "\xff\x00\xff\x00", 4);
  CHECK_THROWS_WITH(decode_image(jpeg), Contains("178956970"));
}
