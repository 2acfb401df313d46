// c10::make_tempfile and make_tempdir: temporary files and folders.
#pragma once

#include <ebb/core/environment.h>

#include <c10/util/Exception.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace c10 {

/// An open file with mode 0600. The destructor closes and removes it.
struct TempFile {
  TempFile() = default;
  TempFile(std::string name_, int fd_) : fd(fd_), name(std::move(name_)) {}
  TempFile(TempFile&& other) noexcept
      : fd(std::exchange(other.fd, -1)), name(std::exchange(other.name, {})) {}
  TempFile& operator=(TempFile&& other) noexcept {
    std::swap(fd, other.fd);
    std::swap(name, other.name);
    return *this;
  }
  ~TempFile() {
    if (fd < 0) return;
    unlink(name.c_str());
    close(fd);
  }

  int fd = -1;
  std::string name;
};

/// A folder. The destructor removes it if it is empty.
struct TempDir {
  TempDir() = default;
  explicit TempDir(std::string name_) : name(std::move(name_)) {}
  TempDir(TempDir&& other) noexcept : name(std::exchange(other.name, {})) {}
  TempDir& operator=(TempDir&& other) noexcept {
    std::swap(name, other.name);
    return *this;
  }
  ~TempDir() {
    if (!name.empty()) rmdir(name.c_str());
  }

  std::string name;
};

namespace detail {

/// Returns a name pattern for mkostemp, in the folder for temporary files that the environment names.
inline std::string temporary_pattern(const std::string& prefix) {
  for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
    if (const char* folder = ebb::detail::environment(variable))
      return std::string(folder) + '/' + prefix + "XXXXXX";
  return "/tmp/" + prefix + "XXXXXX";
}

}  // namespace detail

inline std::optional<TempFile> try_make_tempfile(const std::string& name_prefix = "torch-file-") {
  std::string name = detail::temporary_pattern(name_prefix);
  const int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  return TempFile(std::move(name), fd);
}
inline TempFile make_tempfile(const std::string& name_prefix = "torch-file-") {
  std::optional<TempFile> file = try_make_tempfile(name_prefix);
  TORCH_CHECK(file.has_value(), "Error generating temporary file: ", std::strerror(errno));
  return std::move(*file);
}
inline std::optional<TempDir> try_make_tempdir(const std::string& name_prefix = "torch-dir-") {
  std::string name = detail::temporary_pattern(name_prefix);
  if (!mkdtemp(name.data())) return std::nullopt;
  return TempDir(std::move(name));
}
inline TempDir make_tempdir(const std::string& name_prefix = "torch-dir-") {
  std::optional<TempDir> folder = try_make_tempdir(name_prefix);
  TORCH_CHECK(folder.has_value(), "Error generating temporary directory: ", std::strerror(errno));
  return std::move(*folder);
}

}  // namespace c10
