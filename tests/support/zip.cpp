// Zip archives as APPNOTE 6.3 defines them: entries, central directory, end records.
#include "support/zip.h"

#include <utility>

namespace support {
namespace {

// Computes CRC-32 (ISO 3309) bit by bit, because archives of tests are small.
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

// Writes the fields that local headers and the directory share, from the flags to the lengths of name and
// extra field.
void put_entry(std::string& to, const ZipEntry& entry, const std::string& name, std::uint32_t packed,
               std::uint32_t size, std::size_t extra) {
  little(to, entry.flags, 2);
  little(to, entry.method, 2);
  little(to, 0, 2);     // time
  little(to, 0x21, 2);  // date: 1 January 1980
  little(to, entry.sum, 4);
  little(to, packed, 4);
  little(to, size, 4);
  little(to, name.size(), 2);
  little(to, extra, 2);
}

constexpr std::uint32_t kFull = 0xffffffff;  // the value is in the zip64 field

}  // namespace

ZipEntry::ZipEntry(std::string name_, std::string bytes_)
    : name(std::move(name_)),
      bytes(std::move(bytes_)),
      sum(sum_of(bytes)),
      size(static_cast<std::uint32_t>(bytes.size())),
      packed(size) {}

std::string zip(const std::vector<ZipEntry>& entries, bool zip64) {
  std::string file, directory;
  std::vector<std::size_t> places;
  for (const ZipEntry& entry : entries) {
    places.push_back(file.size());
    const std::size_t place = entry.like ? places[*entry.like] : file.size();
    std::string extra;
    if (zip64) {
      extra = std::string("\x99\x99\2\0ab", 6) + std::string("\1\0\x18\0", 4);  // another field precedes it
      little(extra, entry.size, 8);
      little(extra, entry.packed, 8);
      little(extra, place, 8);
    }
    directory += "PK\1\2";
    little(directory, 20, 2);  // version made by
    little(directory, 20, 2);  // version needed: 2.0
    put_entry(directory, entry, entry.name, zip64 ? kFull : entry.packed, zip64 ? kFull : entry.size,
              extra.size());
    directory.append(10, '\0');  // no comment, first disk, no attributes
    little(directory, zip64 ? kFull : place, 4);
    directory += entry.name + extra;
    if (entry.like) continue;
    file += "PK\3\4";
    little(file, 20, 2);
    const std::string& own_name = entry.own_name.empty() ? entry.name : entry.own_name;
    put_entry(file, entry, own_name, zip64 ? 0 : entry.packed, zip64 ? 0 : entry.size, 0);
    file += own_name + entry.bytes;
  }
  const std::size_t start = file.size();
  file += directory;
  if (zip64) {
    const std::size_t record = file.size();
    file += "PK\6\6";
    little(file, 44, 8);  // the number of following bytes
    little(file, 45, 2);
    little(file, 45, 2);
    little(file, 0, 8);
    little(file, entries.size(), 8);
    little(file, entries.size(), 8);
    little(file, directory.size(), 8);
    little(file, start, 8);
    file += "PK\6\7";
    little(file, 0, 4);
    little(file, record, 8);
    little(file, 1, 4);
  }
  file += "PK\5\6";
  little(file, 0, 4);
  little(file, zip64 ? 0xffff : entries.size(), 2);
  little(file, zip64 ? 0xffff : entries.size(), 2);
  little(file, zip64 ? kFull : directory.size(), 4);
  little(file, zip64 ? kFull : start, 4);
  little(file, 0, 2);
  return file;
}

}  // namespace support
