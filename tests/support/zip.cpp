// Zip archives, as APPNOTE 6.3 has them: entries, their directory, its end.
#include "support/zip.h"

#include <utility>

namespace support {
namespace {

// CRC-32 (ISO 3309), bit by bit: archives of tests are small.
std::uint32_t sum_of(const std::string& bytes) {
  std::uint32_t sum = 0xffffffff;
  for (const unsigned char byte : bytes) {
    sum ^= byte;
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum;
}

void little(std::string& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i));
}

// What local headers and the directory say alike: from the flags to the lengths of the name and extra field.
void put_entry(std::string& to, const ZipEntry& entry) {
  little(to, entry.flags, 2);
  little(to, entry.method, 2);
  little(to, 0, 2);     // time
  little(to, 0x21, 2);  // date: 1 January 1980
  little(to, entry.sum, 4);
  little(to, entry.packed, 4);
  little(to, entry.size, 4);
  little(to, entry.name.size(), 2);
  little(to, 0, 2);
}

}  // namespace

ZipEntry::ZipEntry(std::string name_, std::string bytes_)
    : name(std::move(name_)),
      bytes(std::move(bytes_)),
      sum(sum_of(bytes)),
      size(static_cast<std::uint32_t>(bytes.size())),
      packed(size) {}

std::string zip(const std::vector<ZipEntry>& entries) {
  std::string file, directory;
  for (const ZipEntry& entry : entries) {
    directory += "PK\1\2";
    little(directory, 20, 2);  // made by and
    little(directory, 20, 2);  // for version 2.0
    put_entry(directory, entry);
    directory.append(10, '\0');  // no comment, the first disk, no attributes
    little(directory, file.size(), 4);
    directory += entry.name;
    file += "PK\3\4";
    little(file, 20, 2);
    put_entry(file, entry);
    file += entry.name + entry.bytes;
  }
  const std::size_t start = file.size();
  file += directory + "PK\5\6";
  little(file, 0, 4);
  little(file, entries.size(), 2);
  little(file, entries.size(), 2);
  little(file, directory.size(), 4);
  little(file, start, 4);
  little(file, 0, 2);
  return file;
}

}  // namespace support
