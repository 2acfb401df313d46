// Every public op has a row, and every row explains the checks that it omits.
#include "lint/tree.h"
#include "optable/table.h"
#include "support/catch.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <vector>

// The functions that a public header declares, found in its text.

namespace optable {

struct Declaration {
  std::string name;
  std::string calls;  // the function whose call an inline function returns; empty without a body
  std::string where;
};

/// Returns functions marked EBB_API or inline at namespace scope, without operators, classes and bodies of
/// methods.
std::vector<Declaration> declarations(const lint::File& file);

/// Returns the methods that a header of include/ebb/methods declares, directly or in a list of names.
std::vector<std::string> methods(const lint::File& file);

// Finds the declarations of ops in a header.

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Returns the word that ends before `end`.
std::string word_before(const std::string& text, std::size_t end) {
  std::size_t start = end;
  while (start > 0 && is_word(text[start - 1])) --start;
  return text.substr(start, end - start);
}

// Returns the lines without preprocessor directives and their continuations.
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

// Returns the lines without comments, joined.
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

// Returns the function of "{ return f(...", with or without a namespace.
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
      if (name.empty() || text[start - 1] == ':') continue;  // skips operators and bodies of methods
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

using optable::Declaration;
using optable::Row;

namespace {

// Public functions that are not ops, and the reasons.
const std::map<std::string, std::string> kNoOps = {
    {"result_type", "a query about dtypes"},
    {"can_cast", "a query about dtypes"},
    {"is_same_size", "a query about shapes"},
    {"createCPUGenerator", "creates a generator"},
    {"getDefaultCPUGenerator", "returns the generator"},
    {"write_out", "a helper of the _out forms"},
    {"spread", "creates options from four arguments"},
    {"eig", "always throws"},
    {"eigvals", "always throws"},
    {"linalg_eig", "always throws"},
    {"linalg_eigvals", "always throws"},
    {"is_neg", "a query about views"},
};

// Methods without a function of that name: each uses ops that have a row.
const std::map<std::string, std::string> kMethods = {
    {"reshape_as", "reshape"},
    {"expand_as", "expand"},
    {"mT", "transpose"},
    {"mH", "transpose"},
    {"adjoint", "transpose"},
    {"swapaxes_", "transpose"},
    {"swapdims_", "transpose"},
    {"resize_as_", "resize_"},
    {"toType", "to"},
    {"pin_memory", "to"},
    {"is_pinned", "to"},
    {"type_as", "to"},
    {"cpu", "to"},
    {"cuda", "to"},
    {"new_empty", "empty"},
    {"new_zeros", "zeros"},
    {"new_empty_strided", "empty_strided"},
    {"new_ones", "ones"},
    {"new_full", "full"},
    {"max", "maximum"},
    {"min", "minimum"},
    {"has_storage", "as_strided"},
    {"is_set_to", "as_strided"},
    {"set_", "as_strided"},
};

// Functions of nn::functional that have options and call an op of another name.
const std::map<std::string, std::string> kOptionForms = {
    {"logsigmoid", "log_sigmoid"},
    {"fold", "col2im"},
    {"unfold", "im2col"},
    {"cross_entropy", "cross_entropy_loss"},
    {"dropout1d", "feature_dropout"},
    {"dropout2d", "feature_dropout"},
    {"dropout3d", "feature_dropout"},
    {"adaptive_max_pool1d_with_indices", "adaptive_max_pool1d"},
    {"adaptive_max_pool2d_with_indices", "adaptive_max_pool2d"},
    {"adaptive_max_pool3d_with_indices", "adaptive_max_pool3d"},
};

std::string base_of(const std::string& row) { return row.substr(0, row.find('.')); }

struct Covered {
  std::set<std::string> names;
  Covered() {
    for (const Row* row : optable::rows()) {
      names.insert(base_of(row->name));
      if (row->in_place_function) names.insert(base_of(row->name) + "_");
    }
  }
  bool operator()(const std::string& name) const { return names.contains(name); }
};

std::vector<Declaration> declared_in(const std::string& folder) {
  std::vector<Declaration> all;
  for (const lint::File& file : lint::tree())
    if (file.in("include/ebb/" + folder) && file.ends_with(".h"))
      for (Declaration& d : optable::declarations(file)) all.push_back(std::move(d));
  return all;
}

void require_none(const std::vector<std::string>& complaints) {
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

}  // namespace

TEST_CASE("the parser of headers finds declarations") {
  const lint::File file{
      "x.h",
      {"/// EBB_API Variable comment(const Variable& x);", "EBB_API Variable one(const Variable& x,",
       "                     int y);", "EBB_API std::tuple<Variable, Variable> two(const Variable& x);",
       "class EBB_API Three {};", "inline Variable& four_(const Variable& x) { return one_(x); }",
       "inline Variable ops::Methods::five() const { return one(*this); }",
       "EBB_API Variable operator-(const Scalar& a, const Variable& b);", "  Variable six(int d) const;"}};
  const std::vector<Declaration> found = optable::declarations(file);
  REQUIRE(found.size() == 3);
  CHECK(found[0].name == "one");
  CHECK(found[1].name == "two");
  CHECK(found[2].name == "four_");
  CHECK(found[2].calls == "one_");
  CHECK(found[0].calls.empty());
  CHECK(optable::methods(file) == std::vector<std::string>{"six"});
  const lint::File list{"y.h",
                        {"// X(comment)", "#define EBB_OPS(X) \\", "  X(seven) X(eight) \\", "  X(nine)"}};
  CHECK(optable::methods(list) ==
        std::vector<std::string>{"eight", "eight_", "nine", "nine_", "seven", "seven_"});
}

TEST_CASE("every public op has a row in the table") {
  const Covered covered;
  std::vector<std::string> complaints;
  std::set<std::string> names;
  std::map<std::string, std::string> aliases;
  for (const Declaration& d : declared_in("ops/")) aliases[d.name] = d.calls;
  for (const Declaration& d : declared_in("ops/")) {
    names.insert(d.name);
    // An alias is covered by the function that it calls.
    if (covered(d.name) || covered(d.calls) || kNoOps.contains(d.name)) continue;
    // f_out copies the result of f (tests/ops/methods_test.cpp).
    const std::string base = d.name.ends_with("_out") ? d.name.substr(0, d.name.size() - 4) : "";
    if (covered(base) || covered(aliases[base])) continue;
    complaints.push_back(d.where + ": " + d.name + " has no row in tests/optable" +
                         (d.name.back() == '_' ? ", or its row no in_place" : ""));
  }
  CHECK(names.size() > 500);
  for (const auto& [name, reason] : kNoOps)
    if (!names.contains(name) || covered(name))
      complaints.push_back(name + " is listed as an exception without need");
  require_none(complaints);
}

TEST_CASE("every method has a row in the table") {
  const Covered covered;
  std::vector<std::string> complaints;
  std::set<std::string> functions, names;
  for (const Declaration& d : declared_in("ops/")) functions.insert(d.name);
  for (const lint::File& file : lint::tree()) {
    if (!file.in("include/ebb/methods/")) continue;
    for (const std::string& name : optable::methods(file)) {
      names.insert(name);
      const auto other = kMethods.find(name);
      if (covered(name) || functions.contains(name)) continue;
      if (other == kMethods.end() || !covered(other->second)) complaints.push_back(name + " has no row");
    }
  }
  CHECK(names.size() > 300);
  for (const auto& [name, op] : kMethods)
    if (!names.contains(name)) complaints.push_back(name + " is listed as an exception without need");
  require_none(complaints);
}

TEST_CASE("every function of nn::functional has a row in the table") {
  const Covered covered;
  std::vector<std::string> complaints;
  std::set<std::string> names;
  for (const Declaration& d : declared_in("nn/functional/")) {
    names.insert(d.name);
    const auto op = kOptionForms.find(d.name);
    if (covered(d.name) || (op != kOptionForms.end() && covered(op->second))) continue;
    complaints.push_back(d.where + ": " + d.name + " has no row in tests/optable");
  }
  CHECK(names.size() > 70);
  for (const auto& [name, op] : kOptionForms)
    if (!names.contains(name)) complaints.push_back(name + " is listed as an exception without need");
  require_none(complaints);
}

TEST_CASE("every row names a public op and has checks or the reasons why checks are missing") {
  std::set<std::string> names, families;
  for (const Declaration& d : declared_in("ops/")) names.insert(d.name);
  for (const Declaration& d : declared_in("nn/functional/")) names.insert(d.name);
  std::vector<std::string> complaints;
  std::map<std::string, int> errors;
  for (const Row* row : optable::rows()) {
    if (!names.contains(base_of(row->name))) complaints.push_back(row->name + " is not a public op");
    if (!row->reference_function && row->reference_reason.empty())
      complaints.push_back(row->name + " has neither a reference nor a reason");
    if (row->derivative_order < 2 && row->reason.empty())
      complaints.push_back(row->name + " has no reason for the limit of its derivatives");
    errors[row->family] += static_cast<int>(row->error_cases.size());
    for (const optable::ErrorCase& e : row->error_cases)
      if (e.message.empty())
        complaints.push_back(row->name + " has an error case without a required message");
  }
  for (const auto& [family, count] : errors)
    if (count == 0) complaints.push_back("the family " + family + " has no error case");
  require_none(complaints);
}
