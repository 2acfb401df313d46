// Reads the lists.
#include "mutants.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace fs = std::filesystem;

namespace mutate {
namespace {

std::vector<std::string> entries(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 2) {
    end = text.find(", ", at);
    found.push_back(text.substr(at, end - at));
  }
  return found;
}

void add_line(std::string& text, bool first, const std::string& line) {
  if (!first) text += '\n';
  if (line.size() > 2) text += line.substr(2);
}

}  // namespace

std::string Mutant::id() const {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const std::string* part : {&file, &before, &after})
    for (const char c : *part + '\0') hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += digits[hash >> shift & 15];
  return text;
}

std::vector<Mutant> parse(const std::string& text, const std::string& name) {
  std::vector<Mutant> found;
  Mutant head;
  char last = ' ';  // how the line before began
  int number = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::string place = name + ":" + std::to_string(++number);
    const char kind = line.empty() ? ' ' : line[0];
    const auto complain = [&](const char* what) { throw std::runtime_error(place + ": " + what); };
    if (kind != '-' && kind != '+' && last == '-') complain("a - without its +");
    if (kind == '-') {
      if (head.file.empty()) complain("a mutant before the first file");
      if (last != '-') {
        found.push_back(head);
        found.back().place = place;
      }
      add_line(found.back().before, last != '-', line);
    } else if (kind == '+') {
      if (last != '-' && last != '+') complain("a + without its -");
      add_line(found.back().after, last != '+', line);
    } else if (kind != ' ' && kind != '#') {
      const std::size_t colon = line.find(": ");
      if (colon == std::string::npos) complain("neither a mutant, a comment nor 'file: tests'");
      head.file = line.substr(0, colon);
      head.programs = entries(line.substr(colon + 2));
    }
    last = kind;
  }
  if (last == '-') throw std::runtime_error(name + ": ends after a -");
  return found;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Mutant> read_lists(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".mutants") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Mutant> all;
  for (const fs::path& path : paths)
    for (Mutant& mutant : parse(read_file(path), path.filename().string())) all.push_back(std::move(mutant));
  return all;
}

}  // namespace mutate
