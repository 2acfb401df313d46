// Reading and writing image files; files that are not images, images built to take a lot of memory, and other
// refused files.
#include <ebb/vision.h>

#include "goldens.h"
#include "support/child.h"
#include "support/files.h"

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

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

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

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

TEST_CASE("the error for a file that is not an image contains the path") {
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

namespace {

std::string chunk(const std::string& name, const std::string& data) {
  return big_endian(static_cast<std::uint32_t>(data.size())) + name + data + big_endian(crc_of(name + data));
}

// A zlib stream that repeats one byte: in the fixed Huffman code, 13 bits repeat it 258 times.
std::string packed(std::uint64_t bytes, unsigned char what) {
  std::string out = "\x78\x01";
  unsigned bits = 0;
  int count = 0;
  const auto put = [&](unsigned value, int n, bool high_first) {
    for (int i = 0; i < n; ++i) {
      bits |= ((value >> (high_first ? n - 1 - i : i)) & 1) << count;
      if (++count == 8) out += static_cast<char>(bits), bits = 0, count = 0;
    }
  };
  put(1, 1, false);
  put(1, 2, false);
  const std::size_t repeats = (bytes - 1) / 258;
  for (std::size_t i = 0; i < bytes - 258 * repeats; ++i) put(0x30u + what, 8, true);
  for (std::size_t i = 0; i < repeats; ++i) put(0xc5, 8, true), put(0, 5, true);
  put(0, 7, true);
  if (count > 0) out += static_cast<char>(bits);
  // The Adler-32 checksum.
  const std::uint64_t a = 1 + what * bytes, b = bytes + what * (bytes * (bytes + 1) / 2);
  return out + big_endian(static_cast<std::uint32_t>(b % 65521 << 16 | a % 65521));
}

// A PNG file with these chunks before the pixels, which have the size in the header.
std::string png(const std::string& header, const std::string& chunks, std::size_t bytes) {
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunks + chunk("IDAT", packed(bytes, 0)) +
         chunk("IEND", "");
}
std::string gray_header(std::uint32_t width, std::uint32_t height, char interlace) {
  return big_endian(width) + big_endian(height) + std::string("\x08\0\0\0", 4) + interlace;
}

}  // namespace

TEST_CASE("image readers refuse paths that are not regular files") {
  const FakeRoot root;
  const std::string at = root.path();
  REQUIRE(::mkfifo((at + "/pipe.png").c_str(), 0600) == 0);
  std::filesystem::create_symlink("/dev/zero", at + "/link.png");
  std::filesystem::create_symlink("loop.png", at + "/loop.png");
  for (const std::string& path : {std::string("/dev/zero"), std::string("/dev/urandom"), at + "/pipe.png",
                                  at + "/link.png", at + "/loop.png", at, std::string("/proc/self/status")})
    for (const bool cifar : {false, true}) {
      INFO(path << " as CIFAR: " << cifar);
      CHECK(support::takes_at_most(32 << 20, [&] {
        try {
          if (cifar)
            datasets::read_cifar(path, {10});
          else
            read_image(path);
        } catch (const Error& e) {
          return std::string(e.what()).starts_with(cifar ? "read_cifar: " : "read_image: ") &&
                 std::string(e.what()).find(path) != std::string::npos;
        }
        return false;
      }));
    }
  root.write("/a.png", support::bytes_of(golden("file.png_rgb")));
  CHECK(read_image(at + "/a.png").size(0) == 3);
  CHECK_THROWS_WITH(read_image(at + std::string("/a.png\0.txt", 11)), Contains("NUL"));
}

TEST_CASE("a file that is larger than any image is refused before it is read") {
  const FakeRoot root;
  root.write("/a.png", "\x89PNG\r\n\x1a\n");
  std::filesystem::resize_file(root.path() + "/a.png", std::uintmax_t{1} << 40);
  CHECK(support::takes_at_most(32 << 20, [&] {
    try {
      read_image(root.path() + "/a.png");
    } catch (const Error& e) {
      return std::string(e.what()).find("larger than the limit") != std::string::npos;
    }
    return false;
  }));
  CHECK_THROWS_WITH(datasets::read_cifar(root.path() + "/a.png", {10}),
                    Contains("not a multiple of the record size"));
}

TEST_CASE("text chunks of a PNG file are not decompressed") {
  std::string texts;
  const std::string text = packed(4'000'000, 'a');
  for (int i = 0; i < 100; ++i) {
    texts += chunk("zTXt", "a" + std::string(2, '\0') + text);
    texts += chunk("iTXt", "a" + std::string("\0\1\0\0\0", 5) + text);
  }
  const std::string file = png(gray_header(5, 3, 0), texts, 3 * 6);
  CHECK(support::takes_at_most(16 << 20, [&] { return decode_image(file).numel() == 15; }));
}

TEST_CASE("decoding a PNG file needs the memory of its pixels once, and twice if it is interlaced") {
  const std::string file = png(gray_header(4000, 8000, 0), "", 8000 * 4001);
  CHECK(support::takes_at_most(40 << 20, [&] { return decode_image(file).numel() == 32'000'000; }));
  const std::string interlaced = png(gray_header(4000, 8000, 1), "", 32'015'000);
  CHECK(support::takes_at_most(72 << 20, [&] { return decode_image(interlaced).numel() == 32'000'000; }));
}

TEST_CASE("an interlaced PNG file is decoded correctly") {
  constexpr int width = 11, height = 13;
  const Variable image = arange(width * height).mul(37).to(kByte).view({1, height, width});
  // The seven passes of the format: the start and the steps of each.
  constexpr int passes[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  std::string rows;
  for (const auto& [left, top, right, down] : passes)
    for (int y = top; y < height; y += down) {
      rows += '\0';
      for (int x = left; x < width; x += right) rows += static_cast<char>(image[0][y][x].item<int>());
    }
  std::uint32_t a = 1, b = 0;
  for (const unsigned char c : rows) a = (a + c) % 65521, b = (b + a) % 65521;
  std::string stream = "\x78\x01\x01";
  for (const std::size_t n : {rows.size(), ~rows.size()})
    stream += {static_cast<char>(n), static_cast<char>(n >> 8)};
  stream += rows + big_endian(b << 16 | a);
  const std::string file = "\x89PNG\r\n\x1a\n" + chunk("IHDR", gray_header(width, height, 1)) +
                           chunk("IDAT", stream) + chunk("IEND", "");
  CHECK(equal(decode_image(file), image));
  CHECK(equal(decode_image(file, ImageReadMode::rgb), image.expand({3, height, width})));
}
