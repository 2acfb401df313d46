// Reads the project's text files for the lint tests.
#include "tree.h"

#include "support/files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace fs = std::filesystem;

namespace lint {
namespace {

bool is_text(const fs::path& path) {
  static const std::vector<std::string> extensions = {".h",  ".cpp",  ".cu", ".cuh", ".cmake", ".in",
                                                      ".md", ".json", ".sh", ".py",  ".awk",   ".list"};
  const std::string extension = path.extension().string(), name = path.filename().string();
  if (name == "CMakeLists.txt" || name == ".clang-tidy" || name == ".clang-format" || name == ".gitignore")
    return true;
  if (extension.empty()) {  // scripts such as tests/run
    std::ifstream in(path);
    return in.get() == '#' && in.get() == '!';
  }
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

File read(const fs::path& root, const fs::path& path) {
  File file{fs::relative(path, root).generic_string(), {}};
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

// All files of the project, except build folders and files that Python generates.
std::vector<fs::path> all_files(const fs::path& root) {
  std::vector<fs::path> files;
  for (const char* folder :
       {"include", "src", "tests", "python_free_examples", "benchmarks", "cmake", "docs", ".ci"}) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file() && entry.path().extension() != ".pyc") files.push_back(entry.path());
  }
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.is_regular_file() && entry.path().filename() != ".git") files.push_back(entry.path());
  return files;
}

std::vector<File> read_tree() {
  const fs::path root = source_dir();
  std::vector<File> files;
  for (const fs::path& path : all_files(root))
    if (is_text(path)) files.push_back(read(root, path));
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.path < b.path; });
  return files;
}

}  // namespace

std::string File::name() const { return path.substr(path.find_last_of('/') + 1); }

bool File::in(const std::string& folder) const { return path.starts_with(folder); }

bool File::ends_with(const std::string& suffix) const { return path.ends_with(suffix); }

bool File::is_code() const {
  return ends_with(".h") || ends_with(".cpp") || ends_with(".cu") || ends_with(".cuh");
}

std::string File::comment_sign() const {
  if (is_code()) return "//";
  if (ends_with(".py")) return "\"\"\"";
  const bool has_extension = name().find('.') != std::string::npos;
  for (const char* ending : {".cmake", ".cmake.in", ".sh", ".awk", "CMakeLists.txt"})
    if (ends_with(ending)) return "#";
  return has_extension ? "" : "#";  // a script; tree() contains no other files without a suffix
}

std::vector<Include> File::includes() const {
  std::vector<Include> found;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    if (!line.starts_with("#")) continue;
    line.remove_prefix(std::min(line.size(), line.find_first_not_of("# ")));
    if (!line.starts_with("include")) continue;
    const size_t open = line.find_first_of("<\"");
    if (open == std::string_view::npos) continue;
    const bool quoted = line[open] == '"';
    const size_t close = line.find(quoted ? '"' : '>', open + 1);
    found.push_back({static_cast<int>(i) + 1, std::string(line.substr(open + 1, close - open - 1)), quoted});
  }
  return found;
}

std::string File::at(int line) const { return path + ":" + std::to_string(line); }

const std::vector<File>& tree() {
  static const std::vector<File> files = read_tree();
  return files;
}

std::size_t count_files() { return all_files(source_dir()).size(); }

std::vector<std::string> listed_names(const File& file) {
  std::vector<std::string> names;
  for (const std::string& line : file.lines) {
    if (line.starts_with("//") || line.ends_with("(X) \\")) continue;
    for (std::size_t at = line.find(" X("); at != line.npos; at = line.find(" X(", at + 1))
      names.push_back(line.substr(at + 3, line.find(')', at) - at - 3));
  }
  return names;
}

std::string report(const std::vector<std::string>& complaints) {
  std::string text;
  for (const std::string& complaint : complaints) text += complaint + "\n";
  return text;
}

}  // namespace lint
