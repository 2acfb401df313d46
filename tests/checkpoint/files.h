// Files that the checkpoint tests write.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace checkpoint_test {

/// The path of a file in a temporary folder, which is deleted with this object.
class File {
 public:
  File() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ebb_checkpoint_XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw std::filesystem::filesystem_error("mkdtemp", std::error_code(errno, std::generic_category()));
    folder_ = pattern;
  }
  ~File() { std::filesystem::remove_all(folder_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return (folder_ / "run.ckpt").string(); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace checkpoint_test
