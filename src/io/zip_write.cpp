// ZipWriter: writes zip archives with minizip.
#include <ebb/core/error.h>

#include "io/zip.h"

#include <minizip/zip.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace ebb::io {
namespace {

constexpr std::uint64_t kAlignment = 64;
// The size of a local header without its name, and of the extra field of zip64.
constexpr std::uint64_t kLocalHeader = 30, kZip64 = 20;
// The number of bytes that minizip stores for an entry until it writes the directory. They contain the
// entry's header in the directory, with space for zip64 fields, but without the name.
constexpr std::size_t kCentralHeader = 46 + 32;
// The size of the record at the end, and its size with zip64's locator before it.
constexpr std::size_t kLastRecord = 22, kTail = kLastRecord + 20;

void little(std::string& out, std::uint64_t value, int bytes) {
  for (; bytes > 0; --bytes, value >>= 8) out += static_cast<char>(value);
}

}  // namespace

struct ZipWriter::Archive {
  Put put;
  std::uint64_t at = 0, end = 0, entries = 0;
  std::string tail;            // the last kTail bytes that were written
  std::exception_ptr failure;  // stored, because exceptions must not pass through minizip's C code
  zipFile file = nullptr;

  static Archive& of(void* opaque) { return *static_cast<Archive*>(opaque); }
  static void* open(void* opaque, const void*, int) { return opaque; }
  static uLong read(void*, void*, void*, uLong) { return 0; }
  static uLong write(void* opaque, void*, const void* bytes, uLong size) {
    Archive& self = of(opaque);
    try {
      self.put(self.at, bytes, size);
      const std::size_t kept = std::min<std::size_t>(size, kTail);
      self.tail.append(static_cast<const char*>(bytes) + (size - kept), kept);
      if (self.tail.size() > kTail) self.tail.erase(0, self.tail.size() - kTail);
    } catch (...) {
      self.failure = std::current_exception();
      return 0;
    }
    self.at += size;
    self.end = std::max(self.end, self.at);
    return size;
  }
  static ZPOS64_T tell(void* opaque, void*) { return of(opaque).at; }
  static long seek(void* opaque, void*, ZPOS64_T offset, int origin) {
    Archive& self = of(opaque);
    self.at = offset + (origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                        : origin == ZLIB_FILEFUNC_SEEK_CUR ? self.at
                                                           : self.end);
    return 0;
  }
  static int close(void*, void*) { return 0; }
  static int error(void*, void*) { return 0; }

  // Adds the zip64 records if there are more than 65,535 entries. The count in the end record has 16 bits,
  // and minizip writes no zip64 records below 4 GiB. Without them, PyTorch would not find the other entries.
  void count_in_64_bits() {
    if (entries <= 0xffff || tail.starts_with("PK\6\7")) return;
    const std::string last = tail.substr(tail.size() - kLastRecord);
    const auto field = [&](std::size_t from) {
      std::uint64_t value = 0;
      for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(last[from + i]);
      return value;
    };
    std::string records = "PK\6\6";
    little(records, 44, 8);  // the size of the rest of the record
    little(records, 45, 2), little(records, 45, 2), little(records, 0, 8);
    little(records, entries, 8), little(records, entries, 8);
    little(records, field(12), 8), little(records, field(16), 8);
    records += "PK\6\7";
    little(records, 0, 4), little(records, end - kLastRecord, 8), little(records, 1, 4);
    records += last;
    put(end - kLastRecord, records.data(), records.size());
  }

  void check(int status) {
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
    EBB_CHECK(status == ZIP_OK, "zip: the archive cannot be written (minizip's status ", status, ").");
  }
};

ZipWriter::ZipWriter(Put put) : archive_(std::make_unique<Archive>()) {
  archive_->put = std::move(put);
  zlib_filefunc64_def functions{Archive::open, Archive::read,  Archive::write, Archive::tell,
                                Archive::seek, Archive::close, Archive::error, archive_.get()};
  archive_->file = zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &functions);
  archive_->check(archive_->file ? ZIP_OK : ZIP_INTERNALERROR);
}

ZipWriter::~ZipWriter() {
  if (archive_->file) zipClose(archive_->file, nullptr);
}

void ZipWriter::add(const std::string& name, const std::vector<std::string_view>& parts) {
  Archive& self = *archive_;
  std::uint64_t size = 0;
  ++self.entries;
  for (const std::string_view part : parts) size += part.size();
  EBB_CHECK(name.size() < 60000, "zip: a name of ", std::uint64_t{name.size()}, " bytes is too long.");
  const bool large = size >= 0xffffffffU;
  // An extra field of zeros ("FB", as in PyTorch) aligns the data.
  const std::uint64_t before = self.end + kLocalHeader + name.size() + (large ? kZip64 : 0) + 4;
  const std::uint64_t padding = (kAlignment - before % kAlignment) % kAlignment;
  std::string extra = {'F', 'B', static_cast<char>(padding), '\0'};
  extra.append(padding, '\0');
  zip_fileinfo info{};
  info.tmz_date.tm_year = 1980;  // a fixed date, so that equal contents give equal files
  info.tmz_date.tm_mday = 1;
  // Allocates and frees a block of the size of minizip's copy of the entry's header. minizip writes to that
  // copy before it checks that the allocation succeeded. The allocation here throws if memory is short. If it
  // succeeds, the allocator can reuse the freed block for the copy.
  ::operator delete(::operator new(kCentralHeader + name.size()));
  self.check(zipOpenNewFileInZip64(self.file, name.c_str(), &info, extra.data(),
                                   static_cast<uInt>(extra.size()), nullptr, 0, nullptr, 0, 0, large));
  for (std::string_view part : parts)
    while (!part.empty()) {
      const std::size_t block = std::min<std::size_t>(part.size(), 1 << 30);
      self.check(zipWriteInFileInZip(self.file, part.data(), static_cast<unsigned>(block)));
      part.remove_prefix(block);
    }
  self.check(zipCloseFileInZip(self.file));
}

void ZipWriter::finish() {
  archive_->check(zipClose(std::exchange(archive_->file, nullptr), nullptr));
  archive_->count_in_64_bits();
}

}  // namespace ebb::io
