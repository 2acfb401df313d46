// Files, by RAII: mappings to read, and writes that happen wholly or not at all.
#pragma once

#include <cstddef>
#include <string>

namespace ebb::io {

/// A file mapped privately: pages are read when touched, and writes to them stay in memory.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A file that takes its name only when commit() has put all of it on disk. Without commit() it is removed.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, std::size_t size);
  void commit();

 private:
  std::string path_, temporary_;
  int descriptor_ = -1;
};

}  // namespace ebb::io
