// Folders and files of test programs, which run in parallel, file trees as a system provides them, and the
// path of the sources.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace support {

/// An empty folder that no other process uses. The destructor removes it and its content.
class Folder {
 public:
  /// Throws std::filesystem::filesystem_error if the system's folder for temporary files is full or not
  /// writable.
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Returns the path of a file in the folder.
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// Returns the names of the direct entries of the folder.
  std::set<std::string> names() const;

 private:
  std::filesystem::path path_;
};

/// Returns the folder of this program, which is removed at its end, or the folder in EBB_TEST_FOLDER, which
/// stays.
const std::filesystem::path& own_folder();

/// Returns the path of a file in own_folder().
inline std::string temporary(const std::string& name) { return (own_folder() / name).string(); }

/// Returns the paths of the direct entries of a folder, or none if the folder does not exist.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);

/// Returns the bytes of a file; throws std::runtime_error if it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Writes a file, and creates missing parent folders.
void write_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace support

// File trees as a system provides them, for tests of code that reads them.

/// A folder that takes the role of "/", and that is removed at the end.
class FakeRoot {
 public:
  void write(const std::string& file, const std::string& text) const {
    support::write_file(folder_.path().string() + file, text);
  }
  std::string path() const { return folder_.path().string(); }

 private:
  support::Folder folder_;
};

/// Returns the root of the source tree, without a trailing slash.
std::string source_dir();
