// Cutting text into pieces.
#include "text.h"

#include <stdexcept>

namespace ebb::ptx {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
bool opens(char c) { return c == '{' || c == '[' || c == '('; }
bool closes(char c) { return c == '}' || c == ']' || c == ')'; }

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (opens(text[n])) ++depth;
    if (closes(text[n])) --depth;
    if (text[n] == separator && depth == 0) {
      pieces.push_back(trimmed(text.substr(start, n - start)));
      start = n + 1;
    }
  }
  if (const auto rest = trimmed(text.substr(start)); !rest.empty()) pieces.push_back(rest);
  return pieces;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (std::size_t at = text.find_first_not_of(kSpace); at != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    pieces.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kSpace, end);
  }
  return pieces;
}

std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t n = open; n < text.size(); ++n) {
    if (opens(text[n])) ++depth;
    if (closes(text[n]) && --depth == 0) return n;
  }
  throw std::runtime_error("PTX: a bracket is not closed: " + std::string(text.substr(open, 60)));
}

std::string_view inside(std::string_view text) {
  const std::size_t open = text.find_first_of("{[(");
  if (open == text.npos) return text;
  return trimmed(text.substr(open + 1, closing(text, open) - open - 1));
}

std::string without_comments(std::string text) {
  for (std::size_t at = text.find('/'); at != text.npos; at = text.find('/', at + 1)) {
    if (text.compare(at, 2, "//") == 0) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      for (; at < end; ++at) text[at] = ' ';
    } else if (text.compare(at, 2, "/*") == 0) {
      const std::size_t end = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
      for (; at < end; ++at) text[at] = ' ';
    }
  }
  return text;
}

}  // namespace ebb::ptx
