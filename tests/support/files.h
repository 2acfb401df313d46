// Folders and files of test programs, which run beside each other, and files as a system shows them.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace support {

/// An empty folder that no other process uses. The destructor removes it with all that it holds.
class Folder {
 public:
  /// Throws std::filesystem::filesystem_error if the system's folder for temporary files takes no more.
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// The path of a file in it.
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// The names of all that lies in it, without what lies deeper.
  std::set<std::string> names() const;

 private:
  std::filesystem::path path_;
};

/// The folder of this program, removed when it ends; or the folder that EBB_TEST_FOLDER names, which stays.
const std::filesystem::path& own_folder();

/// The path of a file in own_folder().
inline std::string temporary(const std::string& name) { return (own_folder() / name).string(); }

/// The paths of all that lies in a folder, without what lies deeper; none if there is no such folder.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);

/// All bytes of a file; throws std::runtime_error if it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Writes a file, and the folders above it that are missing.
void write_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace support

// Files as a system shows them to a process, for tests of what reads those.

/// A folder that stands for "/", removed at the end.
class FakeRoot {
 public:
  void write(const std::string& file, const std::string& text) const {
    support::write_file(folder_.path().string() + file, text);
  }
  std::string path() const { return folder_.path().string(); }

 private:
  support::Folder folder_;
};
