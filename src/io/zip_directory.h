// The directory of a zip archive: its entries and their positions.
#pragma once

#include "io/bytes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ebb::io {

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

/// Whether, by the directory, another entry or the directory itself begins before the end of this entry. Such
/// entries are refused, because overlapping entries of a small file can unpack to any size.
bool overlaps_what_follows(const ZipEntry& entry);

/// Returns the position of an entry's packed bytes. Only the name and the lengths of its own header are read:
/// other fields may be 0 if the writer could not seek back. Throws if the name differs from the directory's,
/// or if the bytes exceed entry.limit.
std::uint64_t zip_data_position(const Bytes& bytes, const ZipEntry& entry);

/// Throws ebb::Error "zip: the archive is not sound: <why>".
[[noreturn]] void unsound_zip(const std::string& why);

}  // namespace ebb::io
