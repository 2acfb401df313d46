// The language rules of docs/contributing.md: openings of comments, lengths of sentences, subjects of
// commits.
#include "support/catch.h"
#include "support/files.h"
#include "tree.h"

#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <regex>

using lint::File;

namespace {

// The words with which no comment begins: a noun phrase says the same and can be searched for.
bool is_riddle(const std::string& text) {
  static const std::regex opening("^(- )?(What|Where|Who|Of|Which)\\b.*");
  return std::regex_match(text, opening);
}

// Finds a comment of a line outside of string literals. Returns its position, or npos.
std::size_t find_comment(const std::string& line, const std::string& sign) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quoted && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == '\'' && i + 2 < line.size() && (line[i + 2] == '\'' || line[i + 1] == '\\')) {
      i += line[i + 1] == '\\' ? 3 : 2;
    } else if (!quoted && line.compare(i, sign.size(), sign) == 0) {
      if (sign == "//" || i == 0 || line[i - 1] == ' ') return i;
    }
  }
  return line.npos;
}

// Returns the text of a comment without its sign: "Adds x." for "///< Adds x.".
std::string text_of(const std::string& comment) {
  const std::size_t start = comment.find_first_not_of("/#<! ");
  return start == comment.npos ? "" : comment.substr(start);
}

// Walks over the lines of a file, and finds the first line of each comment and of each of its paragraphs.
class Openings {
 public:
  explicit Openings(const std::string& sign) : sign_(sign == "//" ? "//" : "#"), raw_(sign == "//") {}

  /// The text with which a comment begins in the next line, or "".
  std::string next(const std::string& line) {
    if (!end_of_raw_.empty()) {  // within a raw string
      if (line.find(end_of_raw_) != line.npos) end_of_raw_.clear();
      return "";
    }
    if (const std::size_t raw = raw_ ? line.find("R\"") : line.npos; raw != line.npos) {
      const std::size_t open = line.find('(', raw);
      const std::string end = ")" + line.substr(raw + 2, open - raw - 2) + '"';
      if (open != line.npos && line.find(end, open) == line.npos) end_of_raw_ = end;
      return "";
    }
    const std::size_t at = find_comment(line, sign_);
    if (at == line.npos) {
      continues_ = false;
      return "";
    }
    const std::string text = text_of(line.substr(at));
    const bool begins = !continues_ || text.starts_with("- ");
    // A line of code with a comment ends the comment above it, and its own.
    const bool whole_line = line.find_first_not_of(' ') == at;
    const bool opens = !whole_line || begins;
    continues_ = whole_line && !text.empty();
    return opens ? text : "";
  }

 private:
  std::string sign_;
  bool raw_;
  std::string end_of_raw_;
  bool continues_ = false;
};

std::vector<std::string> riddles_in(const File& file) {
  std::vector<std::string> found;
  const std::string sign = file.comment_sign();
  if (sign.empty()) return found;
  Openings openings(sign);
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    std::string text = openings.next(file.lines[i]);
    const std::size_t docstring = sign == "\"\"\"" ? file.lines[i].find(sign) : std::string::npos;
    if (docstring != std::string::npos) text = file.lines[i].substr(docstring + sign.size());
    if (is_riddle(text)) found.push_back(file.at(static_cast<int>(i) + 1) + ": " + text);
  }
  return found;
}

}  // namespace

TEST_CASE("the prose lint finds comments that begin with What, Where, Who, Of or Which") {
  const File file{"a.cpp",
                  {"// What it is.", "int a;  // Which one", "// The sum", "// Of all.", "//", "// Who.",
                   "/// - Where", "f(\"// What\");", "R\"(", "// What", ")\";", "// of x"}};
  CHECK(riddles_in(file) == std::vector<std::string>{"a.cpp:1: What it is.", "a.cpp:2: Which one",
                                                     "a.cpp:6: Who.", "a.cpp:7: - Where"});
}

TEST_CASE("no comment begins with What, Where, Who, Of or Which") {
  std::vector<std::string> complaints;
  for (const File& file : lint::tree())
    for (const std::string& each : riddles_in(file)) complaints.push_back(each);
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

namespace {

constexpr int kMostWordsOfSentence = 30, kMostWordsOfCell = 25;

// Counts words. Code in backquotes is one word; a link is its text.
int count_words(const std::string& text) {
  static const std::regex code("`[^`]*`"), target("\\]\\([^)]*\\)");
  const std::string plain = std::regex_replace(std::regex_replace(text, code, "C"), target, "]");
  int words = 0;
  bool counted = false;  // whether the current word has been counted
  for (const char c : plain) {
    if (c == ' ') counted = false;
    if (!counted && std::isalnum(static_cast<unsigned char>(c))) ++words, counted = true;
  }
  return words;
}

// Returns the sentences of a paragraph.
std::vector<std::string> sentences_of(const std::string& paragraph) {
  static const std::regex code("`[^`]*`"), end("[.!?][)*\"]*\\s+");
  const std::string plain = std::regex_replace(paragraph, code, "C");
  return {std::sregex_token_iterator(plain.begin(), plain.end(), end, -1), std::sregex_token_iterator()};
}

std::vector<std::string> cells_of(std::string row) {
  static const std::regex escaped("\\\\[|]");
  row = std::regex_replace(row, escaped, "C");
  std::vector<std::string> cells;
  for (std::size_t start = 0, end = 0; (end = row.find('|', start)) != row.npos; start = end + 1)
    cells.push_back(row.substr(start, end - start));
  return cells;
}

// Returns the sentences and cells of a page that are too long.
std::vector<std::string> long_texts_in(const File& file) {
  static const std::regex item("\\s*([-*]|\\d+[.])\\s.*");
  std::vector<std::string> found;
  std::string paragraph;
  int first = 0;
  bool code = false;
  const auto end_paragraph = [&] {
    for (const std::string& each : sentences_of(paragraph))
      if (count_words(each) > kMostWordsOfSentence)
        found.push_back(file.at(first) + ": " + std::to_string(count_words(each)) + " words: " + each);
    paragraph.clear();
  };
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    const std::size_t start = line.find_first_not_of(' ');
    const bool fence = line.find("```") == start && start != line.npos;
    const bool row = !code && start != line.npos && line[start] == '|';
    if (fence) code = !code;
    if (fence || code || row || start == line.npos || line[0] == '#' || std::regex_match(line, item))
      end_paragraph();
    if (row)
      for (const std::string& cell : cells_of(line))
        if (count_words(cell) > kMostWordsOfCell)
          found.push_back(file.at(static_cast<int>(i) + 1) + ": a cell of " +
                          std::to_string(count_words(cell)) + " words:" + cell);
    if (fence || code || row || start == line.npos || line[0] == '#') continue;
    if (paragraph.empty()) first = static_cast<int>(i) + 1;
    paragraph += line.substr(start) + ' ';
  }
  end_paragraph();
  return found;
}

}  // namespace

TEST_CASE("the prose lint counts words, sentences and cells") {
  CHECK(count_words("a `b c` [two words](docs/x.md), 3.5 -") == 5);
  CHECK(sentences_of("One. Two (see x). `a. b` is 1.5 long ").size() == 3);
  CHECK(cells_of("| a | `x \\| y` |").size() == 3);
}

TEST_CASE("pages of docs have no long sentences and table cells") {
  std::vector<std::string> complaints;
  for (const File& file : lint::tree())
    if (file.ends_with(".md") && (file.in("docs/") || file.path == "README.md" || file.in("benchmarks/")))
      for (const std::string& each : long_texts_in(file)) complaints.push_back(each);
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

namespace {

// The subjects of later commits are checked.
const std::string kLastUnchecked = "1d196c53";

// Runs a command of git in the source tree. Returns false if it fails.
bool git(const std::string& command, std::string& output) {
  const std::string line = "git -C '" + source_dir() + "' " + command + " 2>/dev/null";
  FILE* const pipe = popen(line.c_str(), "r");
  if (!pipe) return false;
  std::array<char, 4096> buffer;
  while (std::fgets(buffer.data(), buffer.size(), pipe)) output += buffer.data();
  return pclose(pipe) == 0;
}

// Returns an error for a subject that is not "area: imperative" of at most 72 characters, or "".
std::string error_of_subject(const std::string& subject) {
  static const std::regex form("[A-Za-z0-9_./-]+(, [A-Za-z0-9_./-]+)*: \\S.*[^.]");
  if (subject.size() > 72) return "more than 72 characters: " + subject;
  return std::regex_match(subject, form) ? "" : "not \"area: imperative\": " + subject;
}

}  // namespace

TEST_CASE("the prose lint rejects subjects of the wrong form") {
  CHECK(error_of_subject("nn, optim: add Lion").empty());
  CHECK(!error_of_subject("Add Lion").empty());
  CHECK(!error_of_subject("optim: add Lion.").empty());
  CHECK(!error_of_subject("optim: " + std::string(66, 'x')).empty());
}

// A source archive has no history, and a shallow clone may not reach back far enough: nothing is checked
// then.
TEST_CASE("subjects of commits name an area and have at most 72 characters") {
  std::string output;
  if (!std::filesystem::exists(source_dir() + "/.git") || !git("cat-file -e " + kLastUnchecked, output))
    return;
  REQUIRE(git("log --no-merges --format=%s " + kLastUnchecked + "..HEAD", output));
  std::vector<std::string> complaints;
  for (std::size_t start = 0, end = 0; (end = output.find('\n', start)) != output.npos; start = end + 1)
    if (const std::string error = error_of_subject(output.substr(start, end - start)); !error.empty())
      complaints.push_back(error);
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}
