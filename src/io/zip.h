// ZipReader and ZipWriter: zip archives (PKWARE's APPNOTE 6.3, with zip64). minizip is only used to write,
// because it does not read sizes and positions above 4 GiB.
#pragma once

#include "io/bytes.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::io {

/// The destination of consecutive bytes of an entry.
struct Part {
  void* to;
  std::uint64_t size;
};

/// Reads the entries of an archive. Throws ebb::Error if the file is not an archive, its directory does not
/// parse, a name occurs twice, an entry exceeds the file, overlaps another, has another name in its own
/// header or is encrypted, or a CRC-32 does not match.
class ZipReader {
 public:
  explicit ZipReader(std::shared_ptr<const Bytes> bytes);
  ~ZipReader();
  ZipReader(ZipReader&&) noexcept;

  /// The names in the order of the directory.
  const std::vector<std::string>& names() const;
  bool contains(const std::string& name) const;
  /// The uncompressed size.
  std::uint64_t size(const std::string& name) const;
  /// Reads an entry. Throws if it has more than `limit` bytes, or more than 1 MiB and more than 64 times its
  /// packed size.
  std::string read(const std::string& name, std::uint64_t limit = 1 << 30) const;
  /// Reads the first bytes without a check of the CRC-32.
  void read_start(const std::string& name, void* to, std::uint64_t size) const;
  /// Reads the first bytes into the parts, one after the other. Checks the CRC-32 of the whole entry without
  /// more memory.
  void read_into(const std::string& name, const std::vector<Part>& parts) const;

 private:
  struct Archive;
  std::unique_ptr<Archive> archive_;
};

/// Writes an archive of uncompressed entries whose data begin at multiples of 64 bytes.
class ZipWriter {
 public:
  /// Writes bytes at a position of the file. Earlier positions may be overwritten.
  using Put = std::function<void(std::uint64_t position, const void* bytes, std::size_t size)>;

  explicit ZipWriter(Put put);
  ~ZipWriter();
  /// Adds an entry that consists of the concatenated parts.
  void add(const std::string& name, const std::vector<std::string_view>& parts);
  void finish();

 private:
  struct Archive;
  std::unique_ptr<Archive> archive_;
};

}  // namespace ebb::io
