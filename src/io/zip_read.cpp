// Reading zip archives.
#include <ebb/core/error.h>

#include <minizip/unzip.h>

#include <algorithm>
#include <unordered_map>

#include "io/zip.h"

namespace ebb::io {
namespace {

template <class... Parts>
[[noreturn]] void unsound(const Parts&... parts) {
  ebb::detail::fail("zip: the archive is not sound: ", parts..., ". Fetch or write it again.");
}

// What minizip reads from: it seeks, then reads.
struct Cursor {
  const Bytes* bytes;
  std::uint64_t at = 0;
};

void* open_bytes(void* opaque, const void*, int) { return opaque; }
uLong read_bytes(void* opaque, void*, void* to, uLong size) {
  Cursor& cursor = *static_cast<Cursor*>(opaque);
  const std::uint64_t n =
      std::min<std::uint64_t>(size, cursor.bytes->size() - std::min(cursor.at, cursor.bytes->size()));
  cursor.bytes->read(cursor.at, to, n);
  cursor.at += n;
  return static_cast<uLong>(n);
}
uLong write_bytes(void*, void*, const void*, uLong) { return 0; }
ZPOS64_T tell_bytes(void* opaque, void*) { return static_cast<Cursor*>(opaque)->at; }
long seek_bytes(void* opaque, void*, ZPOS64_T offset, int origin) {
  Cursor& cursor = *static_cast<Cursor*>(opaque);
  const std::uint64_t from = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                             : origin == ZLIB_FILEFUNC_SEEK_CUR ? cursor.at
                                                                : cursor.bytes->size();
  cursor.at = from + offset;
  return cursor.at <= cursor.bytes->size() ? 0 : -1;
}
int close_bytes(void*, void*) { return 0; }
int error_of_bytes(void*, void*) { return 0; }

struct Entry {
  unz64_file_pos position;
  std::uint64_t size, packed;
  std::uint32_t sum;
  bool stored;
};

}  // namespace

struct ZipReader::Archive {
  std::shared_ptr<const Bytes> bytes;
  Cursor cursor;
  unzFile file = nullptr;
  std::vector<std::string> names;
  std::unordered_map<std::string, Entry> entries;

  explicit Archive(std::shared_ptr<const Bytes> from) : bytes(std::move(from)), cursor{bytes.get()} {
    zlib_filefunc64_def functions{open_bytes, read_bytes,  write_bytes,    tell_bytes,
                                  seek_bytes, close_bytes, error_of_bytes, &cursor};
    file = unzOpen2_64("", &functions);
    if (!file) unsound("it has no directory at its end, as a file that was cut short");
    try {
      look();
    } catch (...) {
      unzClose(file);
      throw;
    }
  }
  ~Archive() { unzClose(file); }

  void look() {
    for (int status = unzGoToFirstFile(file); status != UNZ_END_OF_LIST_OF_FILE;
         status = unzGoToNextFile(file)) {
      unz_file_info64 info;
      std::string name(65536, '\0');
      if (status != UNZ_OK ||
          unzGetCurrentFileInfo64(file, &info, name.data(), name.size(), nullptr, 0, nullptr, 0) != UNZ_OK)
        unsound("its directory does not parse");
      name.resize(info.size_filename);
      Entry entry{{},
                  info.uncompressed_size,
                  info.compressed_size,
                  static_cast<std::uint32_t>(info.crc),
                  info.compression_method == 0};
      if (info.flag & 1)
        ebb::detail::fail("zip: entry \"", name, "\" is encrypted. Write it without a password.");
      if (info.compression_method != 0 && info.compression_method != Z_DEFLATED)
        ebb::detail::fail("zip: entry \"", name, "\" is compressed by method ",
                          std::uint64_t{info.compression_method},
                          "; stored and deflated entries can be read.");
      // Deflate makes at most about 1,032 bytes of one.
      if (entry.packed > bytes->size() ||
          (entry.stored ? entry.size != entry.packed : entry.size / 1040 > entry.packed))
        unsound("entry \"", name, "\" cannot have ", entry.size, " bytes");
      if (unzGetFilePos64(file, &entry.position) != UNZ_OK) unsound("its directory does not parse");
      if (!entries.emplace(name, entry).second) unsound("it has two entries \"", name, "\"");
      names.push_back(std::move(name));
    }
  }

  const Entry& at(const std::string& name) const {
    const auto found = entries.find(name);
    if (found == entries.end()) unsound("it has no entry \"", name, "\"");
    return found->second;
  }

  void read_into(const std::string& name, void* to) {
    const Entry& entry = at(name);
    unz64_file_pos position = entry.position;
    if (unzGoToFilePos64(file, &position) != UNZ_OK || unzOpenCurrentFile(file) != UNZ_OK)
      unsound("entry \"", name, "\" cannot be opened");
    std::uint64_t done = 0;
    bool whole = true;
    if (entry.stored) {  // straight to where it goes
      const std::uint64_t begin = unzGetCurrentFileZStreamPos64(file);
      whole = begin <= bytes->size() && entry.size <= bytes->size() - begin;
      if (whole) bytes->read(begin, to, entry.size);
    } else {
      while (done < entry.size) {
        const auto block = static_cast<unsigned>(std::min<std::uint64_t>(entry.size - done, 1 << 30));
        const int n = unzReadCurrentFile(file, static_cast<char*>(to) + done, block);
        if (n <= 0) break;
        done += static_cast<std::uint64_t>(n);
      }
      whole = done == entry.size;
    }
    unzCloseCurrentFile(file);
    if (!whole) unsound("entry \"", name, "\" is cut short or does not unpack");
    const std::uint32_t sum =
        static_cast<std::uint32_t>(crc32_z(0, static_cast<const Bytef*>(to), entry.size));
    if (entry.size > 0 && sum != entry.sum)
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
  archive_->read_into(name, bytes.data());
  return bytes;
}

void ZipReader::read_into(const std::string& name, void* to) const { archive_->read_into(name, to); }

}  // namespace ebb::io
