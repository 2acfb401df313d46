// A file to read from, by RAII.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ebb::io {

/// A regular file, read by position. It is not mapped: a mapping of a file that another process cuts short
/// kills whoever touches it, and a read that finds too few bytes is an error. Folders, devices, pipes and
/// files of /proc without a size are refused: a reader of them may never come to an end.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  /// When it was opened.
  std::uint64_t size() const { return size_; }
  /// Reads exactly that many bytes; threads may read at once.
  void read(std::uint64_t offset, void* bytes, std::size_t size) const;

 private:
  std::string path_;
  std::uint64_t size_ = 0;
  int descriptor_ = -1;
};

/// Throws what errno says of a path: `cannot open "x": ...`.
[[noreturn]] void fail_of_errno(const char* what, const std::string& path);

}  // namespace ebb::io
