#include "io/file.h"

#include <ebb/core/error.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ebb::io {
namespace {

[[noreturn]] void fail(const char* what, const std::string& path) {
  ebb::detail::fail("cannot ", what, " \"", path, "\": ", std::strerror(errno),
                    ". Check the path and its permissions.");
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("open", path);
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    ebb::detail::fail("cannot read \"", path, "\": it is not a regular file.");
  }
  size_ = static_cast<std::size_t>(info.st_size);
  void* p = size_ ? ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0) : nullptr;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  if (p == MAP_FAILED) fail("map", path);
  data_ = static_cast<char*>(p);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(data_, size_);
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), temporary_(path_ + ".XXXXXX") {
  descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail("create a temporary file beside", path_);
  struct stat old {};
  // As open() would have made it; a file that is replaced keeps its permissions.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor_, ::stat(path_.c_str(), &old) == 0 ? old.st_mode & 0777 : 0666 & ~mask);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* bytes, std::size_t size) {
  const char* p = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::write(descriptor_, p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("write", path_);
    p += n;
    size -= static_cast<std::size_t>(n);
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail("flush", path_);
  if (::close(std::exchange(descriptor_, -1)) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    errno = error;
    fail("replace", path_);
  }
  // The rename itself is on disk once the directory is.
  const int directory = ::open(directory_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
}

}  // namespace ebb::io
