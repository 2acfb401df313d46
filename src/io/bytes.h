// InputFile and Bytes: random access to the bytes of a file or of memory. located() adds the file to errors.
#pragma once

#include <ebb/core/error.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace ebb::io {

/// A regular file with reads at any position. It is not memory-mapped, because an access to a mapped file
/// that another process has truncated kills this process. A read beyond the end of a truncated file throws an
/// error instead. Folders, devices, pipes and files of /proc without a size are refused, because a read of
/// them may never end.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  /// Returns the size that the file had when it was opened.
  std::uint64_t size() const { return size_; }
  /// Reads exactly `size` bytes. Thread-safe.
  void read(std::uint64_t offset, void* bytes, std::size_t size) const;

 private:
  std::string path_;
  std::uint64_t size_ = 0;
  int descriptor_ = -1;
};

/// Throws an error with the text of errno: `cannot open "x": ...`.
[[noreturn]] void fail_of_errno(const char* what, const std::string& path);

/// The bytes of a file, on disk or in memory. The caller must not read past the end.
class Bytes {
 public:
  virtual ~Bytes() = default;
  virtual std::uint64_t size() const = 0;
  virtual void read(std::uint64_t offset, void* to, std::size_t size) const = 0;
  /// Returns the path of the file, or an empty string.
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

/// Returns the rest of a stream. check(start) receives the first 64 KiB, or all bytes if there are fewer.
/// `check` throws if the format is wrong, so that an endless stream is not read further.
std::string rest_of(std::istream& stream, const std::function<void(std::string_view start)>& check);

/// Calls `body`. Adds the path to the message of an exception, unless the message contains it already.
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
