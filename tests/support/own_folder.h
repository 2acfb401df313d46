// A folder for the files of a test program, which run beside each other.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace ebb_test {

/// A folder that no other process uses, gone when the program ends; or that which EBB_TEST_FOLDER names,
/// which stays.
inline const std::filesystem::path& own_folder() {
  struct Folder {
    std::filesystem::path path;
    bool stays = false;
    Folder() {
      if (const char* const named = std::getenv("EBB_TEST_FOLDER")) {
        path = named;
        stays = true;
        std::filesystem::create_directories(path);
        return;
      }
      std::string pattern = (std::filesystem::temp_directory_path() / "ebb_test_XXXXXX").string();
      if (!::mkdtemp(pattern.data()))
        throw std::filesystem::filesystem_error("mkdtemp", std::error_code(errno, std::generic_category()));
      path = pattern;
    }
    ~Folder() {
      std::error_code ignored;
      if (!stays) std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return folder.path;
}

/// The path of a file there.
inline std::string temporary(const std::string& name) { return (own_folder() / name).string(); }

}  // namespace ebb_test
