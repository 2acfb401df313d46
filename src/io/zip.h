// Zip archives (PKWARE's APPNOTE 6.3, with zip64). minizip writes them; it does not read sizes and positions
// above 4 GiB.
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

/// Memory for a run of an entry's bytes.
struct Part {
  void* to;
  std::uint64_t size;
};

/// An archive that is read entry by entry. Errors, all ebb::Error: no archive, a directory that does not
/// parse, names that come twice, entries that lie past the end, that overlap others or are called otherwise
/// in their own headers, encrypted ones, sums (CRC-32) that do not match.
class ZipReader {
 public:
  explicit ZipReader(std::shared_ptr<const Bytes> bytes);
  ~ZipReader();
  ZipReader(ZipReader&&) noexcept;

  /// In the order of the directory.
  const std::vector<std::string>& names() const;
  bool contains(const std::string& name) const;
  /// When it is uncompressed.
  std::uint64_t size(const std::string& name) const;
  /// At most `limit` bytes, and beyond 1 MiB at most 64 times what the entry is packed into, or it is an
  /// error.
  std::string read(const std::string& name, std::uint64_t limit = 1 << 30) const;
  /// The first bytes, unchecked.
  void read_start(const std::string& name, void* to, std::uint64_t size) const;
  /// The first bytes, one part after the other; all are checked against the sum, without more memory.
  void read_into(const std::string& name, const std::vector<Part>& parts) const;

 private:
  struct Archive;
  std::unique_ptr<Archive> archive_;
};

/// Writes an archive of stored entries whose data begin at multiples of 64 bytes.
class ZipWriter {
 public:
  /// Puts bytes at a position of the file: what lies before the end is written again.
  using Put = std::function<void(std::uint64_t position, const void* bytes, std::size_t size)>;

  explicit ZipWriter(Put put);
  ~ZipWriter();
  /// An entry of these bytes, one after the other.
  void add(const std::string& name, const std::vector<std::string_view>& parts);
  void finish();

 private:
  struct Archive;
  std::unique_ptr<Archive> archive_;
};

}  // namespace ebb::io
