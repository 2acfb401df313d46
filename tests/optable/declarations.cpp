// Finds the declarations of ops in a header.
#include "optable/declarations.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace optable {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The word that ends before `end`.
std::string word_before(const std::string& text, std::size_t end) {
  std::size_t start = end;
  while (start > 0 && is_word(text[start - 1])) --start;
  return text.substr(start, end - start);
}

// The lines without those of the preprocessor and their continuations.
std::vector<std::string> lines_of(const lint::File& file) {
  std::vector<std::string> lines;
  bool directive = false;
  for (const std::string& line : file.lines) {
    directive = directive || line.starts_with("#");
    if (!directive) lines.push_back(line);
    directive = directive && line.ends_with("\\");
  }
  return lines;
}

// The lines without comments, as one.
std::string text_of(const lint::File& file) {
  std::string text;
  for (const std::string& line : lines_of(file)) text += line.substr(0, line.find("//")) + "\n";
  return text;
}

std::size_t closing(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return std::string::npos;
}

// The function of "{ return f(...", with or without a namespace before it.
std::string call_in_body(const std::string& text, std::size_t after) {
  const std::size_t body = text.find_first_not_of(" \n", after);
  if (body == std::string::npos || text[body] != '{') return "";
  const std::size_t word = text.find_first_not_of(" \n", body + 1);
  if (text.compare(word, 7, "return ") != 0) return "";
  const std::size_t open = text.find_first_of("(;", word);
  return text[open] == '(' ? word_before(text, open) : "";
}

}  // namespace

std::vector<Declaration> declarations(const lint::File& file) {
  const std::string text = text_of(file);
  std::vector<Declaration> found;
  for (const std::string mark : {"EBB_API ", "inline "}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
      if (at > 0 && is_word(text[at - 1])) continue;
      const std::string before = word_before(text, text.find_last_not_of(" \n", at == 0 ? 0 : at - 1) + 1);
      if (before == "class" || before == "struct") continue;
      const std::size_t end = text.find_first_of("(;{=", at);
      if (end == std::string::npos || text[end] != '(') continue;
      const std::string name = word_before(text, end);
      const std::size_t start = end - name.size();
      if (name.empty() || text[start - 1] == ':') continue;  // an operator, the body of a method
      found.push_back({name, call_in_body(text, closing(text, end) + 1), file.path});
    }
  }
  return found;
}

std::vector<std::string> methods(const lint::File& file) {
  std::set<std::string> names;
  for (const std::string& line : lines_of(file)) {
    const std::string type = line.substr(0, line.find('('));
    if (type.size() == line.size()) continue;
    const bool declares =
        type.starts_with("  Variable") || type.starts_with("  std::") || type.starts_with("  bool");
    const std::string name = word_before(type, type.size());
    if (declares && !name.empty() && type.find("operator") == std::string::npos) names.insert(name);
  }
  for (const std::string& name : lint::listed_names(file)) {
    names.insert(name);
    names.insert(name + "_");
  }
  return {names.begin(), names.end()};
}

}  // namespace optable
