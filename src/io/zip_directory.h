// The directory of a zip archive: which entries it has, and where.
#pragma once

#include "io/bytes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ebb::io {

struct ZipEntry {
  std::string name;
  std::uint64_t size = 0, packed = 0;  // bytes, before and after compression
  std::uint64_t header = 0;            // position of the entry's own header
  std::uint64_t limit = 0;             // of what follows: another entry's header, or the directory
  std::uint32_t sum = 0;               // CRC-32 of its bytes
  std::uint16_t method = 0, flags = 0;
};

/// The entries in the order of the directory at the end of the archive (APPNOTE 6.3, sections 4.3.12 to
/// 4.3.16), whatever may stand before the archive. Sizes, positions and counts are read in their zip64 form
/// where the others are full. Throws ebb::Error where it does not parse.
std::vector<ZipEntry> read_zip_directory(const Bytes& bytes);

/// Whether another entry, or the directory, begins before the entry can have ended, by what the directory
/// says: entries that share bytes unpack to any number of them.
bool overlaps_what_follows(const ZipEntry& entry);

/// The position of an entry's packed bytes. Of its own header only the name and the lengths count: what else
/// stands there may be 0, where the writer could not go back. Throws where the name is not that of the
/// directory, or the bytes reach further than entry.limit.
std::uint64_t zip_data_position(const Bytes& bytes, const ZipEntry& entry);

/// Throws ebb::Error: "zip: the archive is not sound: <why>".
[[noreturn]] void unsound_zip(const std::string& why);

}  // namespace ebb::io
