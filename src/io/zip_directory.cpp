// read_zip_directory: parses the directory of a zip archive.
#include <ebb/core/error.h>

#include "io/zip.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace ebb::io {

namespace {

constexpr std::uint32_t kEntry = 0x02014b50, kHeader = 0x04034b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                        kLocator64 = 0x07064b50;
constexpr std::uint64_t kEntrySize = 46, kHeaderSize = 30, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20,
                        kLongestComment = 65535;
constexpr std::uint64_t kFull32 = 0xffffffff;  // this value means: see the zip64 field
constexpr std::uint16_t kExtra64 = 1;

constexpr const char* kNoDirectory = "it has no directory at its end, like a truncated file";
constexpr const char* kNoParse = "its directory does not parse";

// Reads a little-endian number.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || size > bytes.size() - at) unsound_zip(kNoParse);
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

std::string part(const Bytes& bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || size > bytes.size() - at) unsound_zip(kNoParse);
  std::string out(size, '\0');
  bytes.read(at, out.data(), size);
  return out;
}

struct Directory {
  std::uint64_t begin, size, count;
  std::uint64_t archive = 0;  // the position of the archive, to which other positions are relative
};

// Sets the limit of each entry to the beginning of the next entry, or for the last one to the beginning of
// the directory.
void set_limits(std::vector<ZipEntry>& entries, std::uint64_t directory) {
  std::vector<ZipEntry*> in_order;
  in_order.reserve(entries.size());
  for (ZipEntry& entry : entries) in_order.push_back(&entry);
  std::sort(in_order.begin(), in_order.end(),
            [](const ZipEntry* a, const ZipEntry* b) { return a->header < b->header; });
  for (std::size_t i = 0; i < in_order.size(); ++i)
    in_order[i]->limit = i + 1 < in_order.size() ? in_order[i + 1]->header : directory;
}

// Returns the position of the zip64 record, if a locator directly precedes the record at `end`.
std::optional<std::uint64_t> zip64_record(const Bytes& bytes, std::uint64_t end) {
  if (end < kLocatorSize + kEnd64Size) return {};
  const std::string locator = part(bytes, end - kLocatorSize, kLocatorSize);
  if (number(locator, 0, 4) != kLocator64) return {};
  // The record is at the position in the locator. If other bytes precede the archive, this position is wrong,
  // and the record is directly before the locator.
  for (const std::uint64_t at : {number(locator, 8, 8), end - kLocatorSize - kEnd64Size})
    if (at <= end - kLocatorSize - kEnd64Size && number(part(bytes, at, 4), 0, 4) == kEnd64) return at;
  unsound_zip(kNoParse);
}

Directory find_directory(const Bytes& bytes) {
  if (bytes.size() < kEndSize) unsound_zip(kNoDirectory);
  const std::uint64_t from = bytes.size() - std::min(bytes.size(), kEndSize + kLongestComment);
  const std::string tail = part(bytes, from, bytes.size() - from);
  for (std::size_t at = tail.size() - kEndSize + 1; at-- > 0;) {
    if (number(tail, at, 4) != kEnd || at + kEndSize + number(tail, at + 20, 2) > tail.size()) continue;
    std::uint64_t end = from + at;
    Directory found{number(tail, at + 16, 4), number(tail, at + 12, 4), number(tail, at + 10, 2)};
    if (const auto record = zip64_record(bytes, end)) {
      const std::string wide = part(bytes, *record, kEnd64Size);
      found = {number(wide, 48, 8), number(wide, 40, 8), number(wide, 32, 8)};
      end = *record;
    }
    // The directory ends directly before the record. The stated begin is relative to the archive, before
    // which the file may contain other bytes.
    if (found.size > end || found.begin > end - found.size) unsound_zip(kNoDirectory);
    found.archive = end - found.size - found.begin;
    return found;
  }
  unsound_zip(kNoDirectory);
}

// Reads the zip64 field. It contains the 64-bit values of the entry's size, packed size and header position,
// in this order, but only of those that are kFull32 in the entry.
void read_extra(std::string_view extra, ZipEntry& entry) {
  while (extra.size() >= 4) {
    const std::uint64_t id = number(extra, 0, 2), size = number(extra, 2, 2);
    if (size > extra.size() - 4) unsound_zip(kNoParse);
    std::string_view field = extra.substr(4, size);
    extra.remove_prefix(4 + size);
    if (id != kExtra64) continue;
    for (std::uint64_t* const value : {&entry.size, &entry.packed, &entry.header}) {
      if (*value != kFull32) continue;
      *value = number(field, 0, 8);
      field.remove_prefix(8);
    }
  }
}

}  // namespace

void unsound_zip(const std::string& why) {
  ebb::detail::fail("zip: the archive is not sound: ", why, ". Fetch or write it again.");
}

std::vector<ZipEntry> read_zip_directory(const Bytes& bytes) {
  const Directory directory = find_directory(bytes);
  const std::string text = part(bytes, directory.archive + directory.begin, directory.size);
  std::vector<ZipEntry> entries;
  for (std::string_view rest = text; !rest.empty();) {
    if (number(rest, 0, 4) != kEntry) unsound_zip(kNoParse);
    const std::uint64_t name = number(rest, 28, 2), extra = number(rest, 30, 2),
                        comment = number(rest, 32, 2);
    if (kEntrySize + name + extra + comment > rest.size()) unsound_zip(kNoParse);
    ZipEntry entry;
    entry.flags = static_cast<std::uint16_t>(number(rest, 8, 2));
    entry.method = static_cast<std::uint16_t>(number(rest, 10, 2));
    entry.sum = static_cast<std::uint32_t>(number(rest, 16, 4));
    entry.packed = number(rest, 20, 4);
    entry.size = number(rest, 24, 4);
    entry.header = number(rest, 42, 4);
    entry.name = rest.substr(kEntrySize, name);
    read_extra(rest.substr(kEntrySize + name, extra), entry);
    if (entry.header > bytes.size() - directory.archive) unsound_zip(kNoParse);
    entry.header += directory.archive;
    entries.push_back(std::move(entry));
    rest.remove_prefix(kEntrySize + name + extra + comment);
  }
  // Without zip64 the count has 16 bits.
  if ((entries.size() - directory.count) % 0x10000 != 0) unsound_zip(kNoParse);
  set_limits(entries, directory.archive + directory.begin);
  return entries;
}

bool overlaps_what_follows(const ZipEntry& entry) {
  const std::uint64_t least = kHeaderSize + entry.name.size();
  return entry.header > entry.limit || entry.packed > entry.limit - entry.header ||
         least > entry.limit - entry.header - entry.packed;
}

std::uint64_t zip_data_position(const Bytes& bytes, const ZipEntry& entry) {
  const auto misplaced = [&](const char* how) {
    unsound_zip(ebb::detail::text("entry \"", entry.name, "\" ", how));
  };
  const std::string header = part(bytes, entry.header, kHeaderSize + entry.name.size());
  if (number(header, 0, 4) != kHeader) misplaced("is not where the directory says");
  const std::uint64_t name = number(header, 26, 2), extra = number(header, 28, 2);
  if (name != entry.name.size() || !header.ends_with(entry.name))
    misplaced("has another name in its own header");
  const std::uint64_t begin = entry.header + kHeaderSize + name + extra;
  if (begin > entry.limit || entry.packed > entry.limit - begin) misplaced("overlaps what follows");
  return begin;
}

}  // namespace ebb::io
