// Bytes to be read by position: a file's, or some in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "io/input_file.h"

namespace ebb::io {

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

}  // namespace ebb::io
