// The porting guide: include/ebb declares none of the names that docs/porting.md lists as missing.
#include "support/catch.h"
#include "tree.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

using lint::File;

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string word_before(const std::string& text, std::size_t end) {
  while (end > 0 && text[end - 1] == ' ') --end;
  std::size_t start = end;
  while (start > 0 && is_word(text[start - 1])) --start;
  // The definition of a method; its class has declared it.
  return start > 0 && text[start - 1] == ':' ? "" : text.substr(start, end - start);
}

// Removes leading spaces, access labels and template parameters.
std::string plain(std::string head) {
  for (const std::string label : {"public:", "protected:", "private:"})
    if (const std::size_t at = head.find(label); at != head.npos) head.erase(0, at + label.size());
  head.erase(0, head.find_first_not_of(' '));
  while (head.starts_with("template")) {
    std::size_t at = head.find('<');
    for (int depth = 0; at < head.size(); ++at) {
      depth += head[at] == '<' ? 1 : head[at] == '>' ? -1 : 0;
      if (depth == 0) break;
    }
    head.erase(0, head.find_first_not_of(' ', at + 1));
  }
  return head;
}

bool is_type(const std::string& head) {
  return head.starts_with("class ") || head.starts_with("struct ") || head.starts_with("enum ");
}

// The name that a declaration introduces, or "".
std::string name_of(const std::string& head) {
  if (head.find("operator") != head.npos || head.starts_with("friend ")) return "";
  if (is_type(head)) return word_before(head, std::min(head.find_first_of(":<"), head.size()));
  const std::size_t open = head.find('('), equals = head.find('=');
  if (head.starts_with("using ")) return word_before(head, std::min(equals, head.size()));
  // EBB_MODULE(Linear) declares Linear.
  if (head.starts_with("EBB_") && word_before(head, open) == head.substr(0, open))
    return word_before(head, head.find_first_of(",)"));
  return word_before(head, std::min({open, equals, head.size()}));
}

// The header as one line, without comments, preprocessor lines and string literals.
std::string text_of(const File& file) {
  std::string text;
  bool directive = false;
  for (std::string line : file.lines) {
    directive = directive || line.starts_with("#");
    const bool skip = directive;
    directive = directive && line.ends_with("\\");
    if (skip) continue;
    line.erase(std::min(line.find("//"), line.size()));
    bool quoted = false;
    for (const char c : line) {
      quoted = quoted != (c == '"');
      if (!quoted && c != '"') text += c;
    }
    text += ' ';
  }
  return text;
}

// The names that a header declares in namespaces and classes, for example "nn::functional::relu". Methods of
// Variable and of its bases are "Tensor::sum".
std::set<std::string> declared_in(const File& file) {
  struct Scope {
    std::string prefix;
    bool body;  // inside a function body, which declares nothing for the header
  };
  std::set<std::string> found;
  std::vector<Scope> scopes = {{"", false}};
  std::string head;
  int parentheses = 0;
  const auto declare = [&](const std::string& declaration) {
    const std::string name = scopes.back().body ? "" : name_of(declaration);
    if (!name.empty()) found.insert(scopes.back().prefix + name);
    // constexpr DType kDouble = ..., kFloat64 = ...;
    const bool constants = !scopes.back().body && declaration.starts_with("constexpr ");
    for (std::size_t at = declaration.find('='); constants && at != declaration.npos;
         at = declaration.find('=', at + 1))
      found.insert(scopes.back().prefix + word_before(declaration, at));
    return name;
  };
  for (const char c : text_of(file)) {
    parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (parentheses > 0 || (c != '{' && c != '}' && c != ';')) {
      head += c;
      continue;
    }
    const std::string declaration = plain(head);
    head.clear();
    if (c == '}') {
      if (scopes.size() > 1) scopes.pop_back();
    } else if (c == '{' && declaration.starts_with("namespace ")) {
      std::string inner = declaration.substr(10, declaration.find_last_not_of(' ') - 9) + "::";
      if (inner.starts_with("ebb::")) inner.erase(0, 5);
      scopes.push_back({scopes.back().prefix + inner, false});
    } else {
      const std::string name = declare(declaration);
      const bool type = is_type(declaration) && !declaration.starts_with("enum ");
      const bool tensor = name == "Variable" || name.ends_with("Methods");
      if (c == '{') scopes.push_back({tensor ? "Tensor::" : scopes.back().prefix + name + "::", !type});
    }
  }
  return found;
}

// "linalg::{det, inv}" means linalg::det and linalg::inv; "linalg_..." repeats the previous list with the
// prefix: linalg_det and linalg_inv.
std::vector<std::string> expand(const std::string& text, std::vector<std::string>& inside) {
  const bool again = text.ends_with("...");
  const std::size_t open = again ? text.size() - 3 : text.find('{');
  if (open == text.npos) return {text};
  if (!again) inside.clear();
  for (std::size_t at = open; !again && at < text.size() && text[at] != '}';) {
    const std::size_t end = text.find_first_of(",}", at + 1), start = text.find_first_not_of(' ', at + 1);
    inside.push_back(text.substr(start, end - start));
    at = end;
  }
  std::vector<std::string> names;
  for (const std::string& name : inside) names.push_back(text.substr(0, open) + name);
  return names;
}

// The names in backquotes in the first column of the tables below the heading, with their lines.
std::vector<std::pair<std::string, int>> listed() {
  std::vector<std::pair<std::string, int>> names;
  for (const File& file : lint::tree()) {
    if (file.path != "docs/porting.md") continue;
    bool below = false;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (line.starts_with("## ")) below = line == "## What is missing";
      if (!below || !line.starts_with("|")) continue;
      std::vector<std::string> inside;
      const std::string cell = line.substr(1, line.find('|', 1) - 1);
      for (std::size_t open = cell.find('`'); open != cell.npos;) {
        const std::size_t close = cell.find('`', open + 1);
        for (const std::string& name : expand(cell.substr(open + 1, close - open - 1), inside))
          names.emplace_back(name, static_cast<int>(i) + 1);
        open = cell.find('`', close + 1);
      }
    }
  }
  return names;
}

}  // namespace

TEST_CASE("the porting lint finds declarations with their namespaces") {
  const File file{"x.h",
                  {"namespace ebb::ops {",
                   "struct EBB_API SumMethods {",
                   "  Variable sum(int d = {}) const;",
                   "};",
                   "}  // namespace ebb::ops",
                   "namespace ebb {",
                   "constexpr DType kByte = DType::Byte, kU8 = DType::Byte;",
                   "template <class T, class U = A<T>>",
                   "inline Variable one(T x) { return two(x); }",
                   "Variable ops::SumMethods::three() const { return *this; }",
                   "namespace nn {",
                   "class EBB_API FourImpl : public Base<FourImpl> {",
                   " public:",
                   "  void five() { six(); }",
                   "};",
                   "EBB_MODULE(Four);",
                   "using Seven = Eight<int>;",
                   "}  // namespace nn",
                   "/// EBB_API Variable comment(const Variable& x);",
                   "}  // namespace ebb"}};
  CHECK(declared_in(file) == std::set<std::string>{"Tensor::sum", "kByte", "kU8", "nn::Four", "nn::FourImpl",
                                                   "nn::FourImpl::five", "nn::Seven", "one",
                                                   "ops::SumMethods"});
  std::vector<std::string> inside;
  CHECK(expand("fft::{fft, rfft}", inside) == std::vector<std::string>{"fft::fft", "fft::rfft"});
  CHECK(expand("fft_...", inside) == std::vector<std::string>{"fft_fft", "fft_rfft"});
}

TEST_CASE("names that the porting guide lists as missing are not declared") {
  std::set<std::string> declared;
  for (const File& file : lint::tree()) {
    if (!file.in("include/ebb/")) continue;
    declared.merge(declared_in(file));
    // Names that lists of ops declare.
    for (const std::string& name : lint::listed_names(file)) {
      declared.insert(name + "_out");
      if (!file.in("include/ebb/methods/")) continue;
      declared.insert("Tensor::" + name);
      declared.insert("Tensor::" + name + "_");
    }
  }
  for (const std::string name :
       {"relu", "nn::functional::relu", "nn::Linear", "nn::ReLU", "optim::SGD", "linalg::cross",
        "Tensor::sum", "Tensor::tanh_", "mm_out", "Tensor::backward", "data::samplers::RandomSampler",
        "kFloat64", "cuda::Graph"}) {
    INFO(name);
    CHECK(declared.contains(name));
  }

  std::vector<std::string> complaints;
  std::map<std::string, int> seen;
  for (const auto& [name, line] : listed()) {
    const std::string at = "docs/porting.md:" + std::to_string(line) + ": " + name;
    if (declared.contains(name) || declared.contains("Tensor::" + name))
      complaints.push_back(at + " is declared in include/ebb; take it off the list");
    if (const auto [other, first] = seen.emplace(name, line); !first)
      complaints.push_back(at + " stands in line " + std::to_string(other->second) + " already");
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
  CHECK(seen.size() > 150);
}
