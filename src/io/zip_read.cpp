// Reading zip archives.
#include <ebb/core/error.h>

#include <zlib.h>

#include <algorithm>
#include <new>
#include <unordered_map>
#include <utility>

#include "io/zip.h"
#include "io/zip_directory.h"

namespace ebb::io {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;  // of packed bytes that are in memory at once

template <class... Parts>
[[noreturn]] void unsound(const Parts&... parts) {
  unsound_zip(ebb::detail::text(parts...));
}

// Unpacks an entry's first bytes from their position; false where they are cut short or do not unpack.
bool inflate_into(const Bytes& bytes, std::uint64_t at, const ZipEntry& entry, const std::vector<Part>& parts,
                  bool all) {
  struct Stream : z_stream {
    Stream() : z_stream() {}
    ~Stream() { inflateEnd(this); }
  } stream;
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();  // bare deflate, without a header
  std::string chunk(std::min<std::uint64_t>(kChunk, entry.packed), '\0');
  std::uint64_t left = entry.packed, filled = 0;
  Bytef nothing = 0;  // inflate() wants an address for no bytes, too
  auto part = parts.begin();
  int status = Z_OK;
  while (status == Z_OK) {
    for (; part != parts.end() && filled == part->size; ++part) filled = 0;
    if (part == parts.end() && !all) return true;
    if (stream.avail_in == 0 && left > 0) {
      stream.avail_in = static_cast<uInt>(std::min<std::uint64_t>(left, chunk.size()));
      stream.next_in = reinterpret_cast<Bytef*>(chunk.data());
      bytes.read(at, chunk.data(), stream.avail_in);
      at += stream.avail_in;
      left -= stream.avail_in;
    }
    const std::uint64_t room =
        part == parts.end() ? 0 : std::min<std::uint64_t>(part->size - filled, 1 << 30);
    stream.next_out = room > 0 ? static_cast<Bytef*>(part->to) + filled : &nothing;
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    filled += room - stream.avail_out;
  }
  while (part != parts.end() && filled == part->size) ++part, filled = 0;
  return status == Z_STREAM_END && part == parts.end();
}

}  // namespace

struct ZipReader::Archive {
  std::shared_ptr<const Bytes> bytes;
  std::vector<std::string> names;
  std::unordered_map<std::string, ZipEntry> entries;

  explicit Archive(std::shared_ptr<const Bytes> from) : bytes(std::move(from)) {
    for (ZipEntry& entry : read_zip_directory(*bytes)) {
      check(entry);
      names.push_back(entry.name);
      if (!entries.emplace(entry.name, std::move(entry)).second)
        unsound("it has two entries \"", names.back(), "\"");
    }
  }

  void check(const ZipEntry& entry) const {
    if (entry.flags & 1)
      ebb::detail::fail("zip: entry \"", entry.name, "\" is encrypted. Write it without a password.");
    if (entry.method != 0 && entry.method != Z_DEFLATED)
      ebb::detail::fail("zip: entry \"", entry.name, "\" is compressed by method ",
                        std::uint64_t{entry.method}, "; stored and deflated entries can be read.");
    // Deflate makes at most about 1,032 bytes of one.
    if (entry.packed > bytes->size() ||
        (entry.method == 0 ? entry.size != entry.packed : entry.size / 1040 > entry.packed))
      unsound("entry \"", entry.name, "\" cannot have ", entry.size, " bytes");
  }

  const ZipEntry& at(const std::string& name) const {
    const auto found = entries.find(name);
    if (found == entries.end()) unsound("it has no entry \"", name, "\"");
    return found->second;
  }

  void read_into(const std::string& name, const std::vector<Part>& parts) const {
    const ZipEntry& entry = at(name);
    std::uint64_t wanted = 0;
    for (const Part& part : parts) wanted += part.size;
    const bool all = wanted == entry.size;
    std::uint64_t begin = zip_data_position(*bytes, entry);
    bool whole = wanted <= entry.size && begin <= bytes->size() && entry.packed <= bytes->size() - begin;
    if (whole && entry.method == 0)  // straight to where it goes
      for (const Part& part : parts) bytes->read(begin, part.to, part.size), begin += part.size;
    else if (whole)
      whole = inflate_into(*bytes, begin, entry, parts, all);
    if (!whole) unsound("entry \"", name, "\" is cut short or does not unpack");
    uLong sum = 0;
    for (const Part& part : parts)
      if (part.size > 0) sum = crc32_z(sum, static_cast<const Bytef*>(part.to), part.size);
    if (all && sum != entry.sum && entry.size > 0)
      unsound("the bytes of entry \"", name, "\" do not match its CRC-32");
  }
};

ZipReader::ZipReader(std::shared_ptr<const Bytes> bytes)
    : archive_(std::make_unique<Archive>(std::move(bytes))) {}
ZipReader::~ZipReader() = default;
ZipReader::ZipReader(ZipReader&&) noexcept = default;

const std::vector<std::string>& ZipReader::names() const { return archive_->names; }
bool ZipReader::contains(const std::string& name) const { return archive_->entries.contains(name); }
std::uint64_t ZipReader::size(const std::string& name) const { return archive_->at(name).size; }

std::string ZipReader::read(const std::string& name, std::uint64_t limit) const {
  const std::uint64_t n = size(name);
  if (n > limit) unsound("entry \"", name, "\" of ", n, " bytes is larger than any should be");
  std::string bytes(n, '\0');
  archive_->read_into(name, {{bytes.data(), n}});
  return bytes;
}

void ZipReader::read_into(const std::string& name, const std::vector<Part>& parts) const {
  archive_->read_into(name, parts);
}

}  // namespace ebb::io
