// Zip archives with any content, also with invalid headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace support {

/// An entry that is stored without compression; the directory may contain other values.
struct ZipEntry {
  ZipEntry(std::string name, std::string bytes);

  std::string name, bytes;
  std::uint32_t sum, size, packed;  ///< CRC-32 of the bytes; uncompressed and packed size
  std::string own_name;             ///< the name in the entry's own header; empty: the same
  std::optional<std::size_t> like;  ///< the directory gives the offset of the entry with that number
  std::uint16_t method = 0;         ///< 0 stored, 8 deflated
  std::uint16_t flags = 0;          ///< bit 0: encrypted
};

/// Returns the archive. With zip64, every size and offset is in fields of 8 bytes, and the local headers
/// contain sizes of 0.
std::string zip(const std::vector<ZipEntry>& entries, bool zip64 = false);

}  // namespace support
