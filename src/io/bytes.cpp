// InputFile, Bytes and rest_of: bytes of files, of memory and of streams.
#include "io/bytes.h"

#include <ebb/core/error.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <istream>

namespace ebb::io {

void fail_of_errno(const char* what, const std::string& path) {
  const int error = errno;
  ebb::detail::fail("cannot ", what, " \"", path, "\": ", std::strerror(error), ".",
                    error == ENOSPC || error == EDQUOT ? " Make room, or choose another place."
                                                       : " Check the path and its permissions.");
}

InputFile::InputFile(const std::string& path) : path_(path) {
  // A path must not contain a NUL, because the system would use only the part before it.
  EBB_CHECK(path.find('\0') == path.npos, "cannot open \"", path.c_str(),
            "\": the path continues after a NUL, which a path cannot contain. Check the path.");
  // O_NONBLOCK is needed, because open() of a pipe without a writer would block.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail_of_errno("open", path);
  struct stat info{};
  if (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor_);
    ebb::detail::fail("cannot read \"", path, "\": it is ",
                      S_ISDIR(info.st_mode) ? "a directory, not a regular file. Name a file in it."
                                            : "not a regular file. Load from a stream instead.");
  }
  size_ = static_cast<std::uint64_t>(info.st_size);
  // Some files have the size 0, although they have contents: the system generates the contents when they are
  // read.
  char first = 0;
  if (size_ == 0 && ::pread(descriptor_, &first, 1, 0) > 0) {
    ::close(descriptor_);
    ebb::detail::fail("cannot read \"", path,
                      "\": it has no size, like the files of /proc. Copy it, and read the copy.");
  }
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(std::uint64_t offset, void* bytes, std::size_t size) const {
  char* p = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::pread(descriptor_, p, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_of_errno("read", path_);
    EBB_CHECK(n > 0, "cannot read \"", path_, "\": the file became shorter while it was read. It had ", size_,
              " bytes; fetch or write it again.");
    p += n;
    offset += static_cast<std::uint64_t>(n);
    size -= static_cast<std::size_t>(n);
  }
}

void BytesInMemory::read(std::uint64_t offset, void* to, std::size_t size) const {
  if (size > 0) std::memcpy(to, bytes_.data() + offset, size);
}

std::string rest_of(std::istream& stream, const std::function<void(std::string_view)>& check) {
  EBB_CHECK(!stream.fail(), "cannot load: the stream cannot be read. Was its file opened?");
  std::string bytes;
  std::array<char, 1 << 16> block;
  while (const std::streamsize n = stream.rdbuf()->sgetn(block.data(), block.size())) {
    const bool first = bytes.empty();
    bytes.append(block.data(), static_cast<std::size_t>(n));
    if (first) check(bytes);
  }
  return bytes;
}

}  // namespace ebb::io
