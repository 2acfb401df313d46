// Zip archives made by hand, and so as wrong as a test wants them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace support {

/// An entry, stored as it is; what the directory says of it may be changed.
struct ZipEntry {
  ZipEntry(std::string name, std::string bytes);

  std::string name, bytes;
  std::uint32_t sum, size, packed;  ///< CRC-32 of the bytes; how many they are, unpacked and packed
  std::string own_name;             ///< in the entry's own header; empty: the same
  std::optional<std::size_t> like;  ///< the directory says that it is where the entry of that number is
  std::uint16_t method = 0;         ///< 0 stored, 8 deflated
  std::uint16_t flags = 0;          ///< bit 0: encrypted
};

/// With zip64, every size and position stands in the fields of 8 bytes, and entries' own headers say 0 of
/// sizes.
std::string zip(const std::vector<ZipEntry>& entries, bool zip64 = false);

}  // namespace support
