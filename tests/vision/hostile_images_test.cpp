// Files that are not images, and images built to take a lot of memory.
#include <ebb/vision.h>

#include "goldens.h"
#include "png_bytes.h"
#include "support/child.h"
#include "support/files.h"

#include <sys/stat.h>

#include <filesystem>

using namespace ebb;
using namespace ebb::vision;
using support::Contains;

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

TEST_CASE("decoding takes the memory of the pixels once or twice if interlaced") {
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
