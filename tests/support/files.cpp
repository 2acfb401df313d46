// Folders and files of test programs.
#include "support/files.h"

#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace support {

namespace fs = std::filesystem;

namespace {

fs::path new_folder() {
  std::string pattern = (fs::temp_directory_path() / "ebb_test_XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    throw fs::filesystem_error("mkdtemp", std::error_code(errno, std::generic_category()));
  return pattern;
}

}  // namespace

Folder::Folder() : path_(new_folder()) {}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::set<std::string> Folder::names() const {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) names.insert(entry.path().filename().string());
  return names;
}

const fs::path& own_folder() {
  if (const char* const named = std::getenv("EBB_TEST_FOLDER")) {
    static const fs::path folder = named;
    fs::create_directories(folder);
    return folder;
  }
  static const Folder folder;
  return folder.path();
}

std::vector<fs::path> files_in(const fs::path& folder) {
  if (!fs::exists(folder)) return {};
  return {fs::directory_iterator(folder), fs::directory_iterator()};
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& bytes) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace support
