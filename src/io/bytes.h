// Bytes to be read by position, a file's or some in memory, and errors that say in which file they happened.
#pragma once

#include <ebb/core/error.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

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

/// Where the bytes of a file are. Positions past the end are the caller's mistake.
class Bytes {
 public:
  virtual ~Bytes() = default;
  virtual std::uint64_t size() const = 0;
  virtual void read(std::uint64_t offset, void* to, std::size_t size) const = 0;
  /// Of the file, or empty.
  virtual std::string path() const { return {}; }
};

class BytesOnDisk final : public Bytes {
 public:
  explicit BytesOnDisk(const std::string& path) : file_(path) {}
  std::uint64_t size() const override { return file_.size(); }
  void read(std::uint64_t offset, void* to, std::size_t size) const override { file_.read(offset, to, size); }
  std::string path() const override { return file_.path(); }

 private:
  InputFile file_;
};

class BytesInMemory final : public Bytes {
 public:
  explicit BytesInMemory(std::string_view borrowed) : bytes_(borrowed) {}
  explicit BytesInMemory(std::string&& owned) : owned_(std::move(owned)), bytes_(owned_) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, void* to, std::size_t size) const override;

 private:
  std::string owned_;
  std::string_view bytes_;
};

/// The bytes that are left of a stream. check(start) sees how it begins, all of it or 64 KiB, and throws for
/// what is none of a reader's: of an endless stream no more is read.
std::string rest_of(std::istream& stream, const std::function<void(std::string_view start)>& check);

/// Calls `body`, and adds the path to the message of an exception unless it has the path already.
template <class Body>
auto located(const std::string& path, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const Error& e) {
    const std::string what = e.what();
    if (path.empty() || what.find(path) != std::string::npos) throw;
    throw Error(what + (what.find('\n') == what.npos ? " " : "\n") + "File: \"" + path + "\".");
  }
}

}  // namespace ebb::io
