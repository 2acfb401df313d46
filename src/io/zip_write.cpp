// Writing zip archives.
#include <ebb/core/error.h>

#include <minizip/zip.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "io/zip.h"

namespace ebb::io {
namespace {

constexpr std::uint64_t kAlignment = 64;
// Of a local header without its name: 30 bytes, and 20 of zip64's extra field.
constexpr std::uint64_t kHeader = 30, kZip64 = 20;

}  // namespace

struct ZipWriter::Archive {
  Put put;
  std::uint64_t at = 0, end = 0;
  std::exception_ptr failure;  // minizip is C: nothing is thrown through it
  zipFile file = nullptr;

  static Archive& of(void* opaque) { return *static_cast<Archive*>(opaque); }
  static void* open(void* opaque, const void*, int) { return opaque; }
  static uLong read(void*, void*, void*, uLong) { return 0; }
  static uLong write(void* opaque, void*, const void* bytes, uLong size) {
    Archive& self = of(opaque);
    try {
      self.put(self.at, bytes, size);
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
  for (const std::string_view part : parts) size += part.size();
  EBB_CHECK(name.size() < 60000, "zip: a name of ", std::uint64_t{name.size()}, " bytes is too long.");
  const bool large = size >= 0xffffffffU;
  // An extra field of zeros ("FB", as PyTorch's own) moves the data to the next multiple.
  const std::uint64_t before = self.end + kHeader + name.size() + (large ? kZip64 : 0) + 4;
  const std::uint64_t padding = (kAlignment - before % kAlignment) % kAlignment;
  std::string extra = {'F', 'B', static_cast<char>(padding), '\0'};
  extra.append(padding, '\0');
  zip_fileinfo info{};
  info.tmz_date.tm_year = 1980;  // the same bytes whenever they are written
  info.tmz_date.tm_mday = 1;
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

void ZipWriter::finish() { archive_->check(zipClose(std::exchange(archive_->file, nullptr), nullptr)); }

}  // namespace ebb::io
