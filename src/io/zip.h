// ZipReader, ZipWriter and the directory of zip archives (PKWARE's APPNOTE 6.3, with zip64). minizip is used
// only to write, because it does not read sizes and positions above 4 GiB.
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
/// parse, or a name occurs twice. Throws if an entry exceeds the file, overlaps another, has another name in
/// its own header or is encrypted. Throws if a CRC-32 does not match.
class ZipReader {
 public:
  explicit ZipReader(std::shared_ptr<const Bytes> bytes);
  ~ZipReader();
  ZipReader(ZipReader&&) noexcept;

  /// Returns the names in the order of the directory.
  const std::vector<std::string>& names() const;
  bool contains(const std::string& name) const;
  /// Returns the uncompressed size.
  std::uint64_t size(const std::string& name) const;
  /// Reads an entry. Throws if it has more than `limit` bytes. Also throws if it has more than 1 MiB and more
  /// than 64 times its packed size.
  std::string read(const std::string& name, std::uint64_t limit = 1 << 30) const;
  /// Reads the first bytes without a check of the CRC-32.
  void read_start(const std::string& name, void* to, std::uint64_t size) const;
  /// Reads the first bytes into the parts, one after the other. Checks the CRC-32 of the whole entry, without
  /// additional memory.
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

struct ZipEntry {
  std::string name;
  std::uint64_t size = 0, packed = 0;  // the sizes before and after compression
  std::uint64_t header = 0;            // the position of the entry's own header
  std::uint64_t limit = 0;             // the position of the next entry's header, or of the directory
  std::uint32_t sum = 0;               // the CRC-32 of the uncompressed bytes
  std::uint16_t method = 0, flags = 0;
};

/// Returns the entries in the order of the directory at the end of the archive (APPNOTE 6.3, sections 4.3.12
/// to 4.3.16). Other bytes may precede the archive. Sizes, positions and counts that do not fit their fields
/// are read from the zip64 fields. Throws ebb::Error if the directory does not parse.
std::vector<ZipEntry> read_zip_directory(const Bytes& bytes);

/// Returns whether another entry, or the directory itself, begins before the end of this entry, according to
/// the directory. Such entries are refused, because overlapping entries of a small file can unpack to any
/// size.
bool overlaps_what_follows(const ZipEntry& entry);

/// Returns the position of an entry's packed bytes. Only the name and the lengths of its own header are read,
/// because other fields may be 0 if the writer could not seek back. Throws if the name differs from the name
/// in the directory, or if the bytes exceed entry.limit.
std::uint64_t zip_data_position(const Bytes& bytes, const ZipEntry& entry);

/// Throws ebb::Error "zip: the archive is not sound: <why>".
[[noreturn]] void unsound_zip(const std::string& why);

}  // namespace ebb::io
