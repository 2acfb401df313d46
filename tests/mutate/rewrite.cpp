// Writes mutants into a source.
#include "mutants.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace mutate {
namespace {

// A part of the source, and what is to stand there instead.
struct Change {
  std::size_t begin, end;
  std::string after;
  bool statement;  // else an expression
  const Mutant* mutant;
};

[[noreturn]] void fail(const Mutant& m, const std::string& what) {
  throw std::runtime_error(m.place + ": " + m.file + ": " + what + ":\n" + m.before);
}

bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }
bool spaces(char c) { return c == ' ' || c == '\n'; }

// Is there an `=` before `at` that assigns or initialises?
bool follows_assignment(std::string_view text, std::size_t at) {
  if (at < 2 || text[at - 1] != ' ' || text[at - 2] != '=') return false;
  const char before = at < 3 ? ' ' : text[at - 3];
  if (before == '<' || before == '>') return at > 3 && text[at - 4] == before;  // of a shift
  return before != '=' && before != '!';
}

bool follows_word(std::string_view text, std::size_t at, std::string_view word) {
  return at > word.size() && text[at - 1] == ' ' && text.substr(at - 1 - word.size(), word.size()) == word;
}

// The end of `if (...)` and the like at `at`, or `at`.
std::size_t skip_control(std::string_view text, std::size_t at) {
  for (const std::string_view word : {"else ", "if ", "if constexpr ", "for ", "while "}) {
    if (!text.substr(at).starts_with(word)) continue;
    std::size_t end = at + word.size();
    if (word == "else ") return end;
    if (end >= text.size() || text[end] != '(') continue;
    int depth = 0;
    do {
      depth += opens(text[end]) - closes(text[end]);
      ++end;
    } while (depth > 0 && end < text.size());
    return end;
  }
  return at;
}

struct Range {
  std::size_t begin, end;
};

// The smallest part of `text` that holds all of `inner` and ends at brackets, commas or the like.
Range widen(std::string_view text, Range inner) {
  int closed = 0, open = 0;  // brackets of `inner` whose other half is outside
  for (std::size_t i = inner.begin; i < inner.end; ++i) {
    open += opens(text[i]);
    if (closes(text[i])) open > 0 ? --open : ++closed;
  }
  Range out = inner;
  for (; out.begin > 0; --out.begin) {
    const char c = text[out.begin - 1];
    if (closed == 0) {
      if (opens(c) || c == ';' || c == ',' || c == '}') break;
      if (follows_assignment(text, out.begin) || follows_word(text, out.begin, "return")) break;
    }
    closed += closes(c) - opens(c);
  }
  for (;;) {
    while (out.begin < inner.begin && spaces(text[out.begin])) ++out.begin;
    const std::size_t after = skip_control(text, out.begin);
    if (after == out.begin || after > inner.begin) break;
    out.begin = after;
  }
  for (; out.end < text.size(); ++out.end) {
    const char c = text[out.end];
    if (open == 0 && (closes(c) || c == ';' || c == ',')) break;
    open += opens(c) - closes(c);
  }
  return out;
}

// Does a statement, but for spaces, end before `at`, or a block begin?
bool parted(std::string_view text, std::size_t at) {
  while (at > 0 && spaces(text[at - 1])) --at;
  if (at == 0 || text[at - 1] == ';' || text[at - 1] == '}') return true;
  if (text[at - 1] != '{') return false;
  text = text.substr(0, at - 1);
  while (!text.empty() && spaces(text.back())) text.remove_suffix(1);
  return text.empty() || text.ends_with(')') || text.ends_with("else") || text.ends_with("const") ||
         text.ends_with("override");
}

// The statements that hold all of `inner`; nothing when the text ends within one.
Range widen_to_statements(std::string_view text, Range inner) {
  while (!parted(text, inner.begin)) --inner.begin;
  const auto goes_on = [&] {
    return inner.end == inner.begin || !parted(text, inner.end) ||
           (inner.end < text.size() && (text[inner.end] == ';' || text[inner.end] == ')'));
  };
  while (inner.end < text.size() && goes_on()) ++inner.end;
  return inner.end > inner.begin && parted(text, inner.end) ? inner : Range{0, 0};
}

// Is this expression a statement of its own?
bool is_statement(std::string_view text, Range part) {
  if (part.end == text.size() || text[part.end] != ';') return false;
  int depth = 0;
  for (std::size_t at = part.begin; at-- > 0 && depth >= 0;) {
    depth += closes(text[at]) - opens(text[at]);
    if (depth < 0 && text[at] != '{') return false;  // within the head of a for
  }
  return parted(text, part.begin) || text[text.find_last_not_of(" \n", part.begin - 1)] == ')' ||
         follows_word(text, part.begin, "else");
}

bool is_expression(std::string_view text) {
  if (text.empty() || text == "()" || text.front() == '{') return false;
  int depth = 0;
  for (const char c : text) {
    depth += opens(c) - closes(c);
    if (depth < 0 || (depth == 0 && (c == ';' || c == ','))) return false;
  }
  for (const std::string_view word : {"return", "break", "continue", "if ", "for ", "while ", "else"})
    if (text.starts_with(word)) return false;
  return depth == 0;
}

Change change_of(const std::string& source, const Mutant& m) {
  const std::string &before = m.before, &after = m.after;
  const std::size_t at = source.find(before);
  if (before.empty() || at == std::string::npos) fail(m, "does not have this");
  if (source.find(before, at + 1) != std::string::npos) fail(m, "has this more than once");
  if (before == after) fail(m, "the mutant is the original");

  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t head = 0, tail = 0;
  while (head < shorter && before[head] == after[head]) ++head;
  while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  const auto left = [&](Range part) { return part.begin + before.size() - part.end; };  // outside of it
  // The smallest whole expression that differs; failing that, the statements that do.
  Range part{head, before.size() - tail};
  for (;;) {
    part = widen(before, part);
    const std::string was = before.substr(part.begin, part.end - part.begin);
    if (left(part) > after.size()) break;
    const std::string is = after.substr(part.begin, after.size() - left(part));
    if (is_expression(was) && is_expression(is)) {
      const bool statement = is_statement(source, {at + part.begin, at + part.end});
      return {at + part.begin, at + part.end + statement, is + (statement ? ";" : ""), statement, &m};
    }
    while (part.begin > 0 && spaces(before[part.begin - 1])) --part.begin;
    const bool bracketed = part.begin > 0 && part.end < before.size() && opens(before[part.begin - 1]) &&
                           closes(before[part.end]);
    const bool listed = part.begin > 0 && before[part.begin - 1] == ',';
    if (bracketed && was.find(';') != std::string::npos) break;
    if (!bracketed && !listed) break;
    --part.begin;
    if (bracketed) ++part.end;
  }
  part = widen_to_statements(before, {head, before.size() - tail});
  if (part.begin == part.end || left(part) > after.size())
    fail(m, "is neither an expression nor a statement");
  return {at + part.begin, at + part.end, after.substr(part.begin, after.size() - left(part)), true, &m};
}

// The source between begin and end with those of the changes that lie within; each may hold others.
std::string written(const std::string& source, std::size_t begin, std::size_t end,
                    std::vector<Change>::const_iterator& next, std::vector<Change>::const_iterator last) {
  std::string out;
  while (next != last && next->begin < end) {
    const Change& change = *next;
    if (change.begin < begin || change.end > end) fail(*change.mutant, "overlaps with another mutant");
    out += source.substr(begin, change.begin - begin);
    ++next;
    const std::string original = written(source, change.begin, change.end, next, last);
    const std::string chosen = "::ebb::mutate::chosen(0x" + change.mutant->id() + "u)";
    if (change.statement)
      out += "{ if (" + chosen + ") { " + change.after + " } else { " + original + " } }";
    else
      out += "(" + chosen + " ? (" + change.after + ") : (" + original + "))";
    begin = change.end;
  }
  return out + source.substr(begin, end - begin);
}

}  // namespace

std::string rewrite(const std::string& source, const std::vector<const Mutant*>& mutants,
                    std::vector<int>& lines) {
  std::vector<Change> changes;
  lines.clear();
  std::string misfits;  // all are named at once
  for (const Mutant* m : mutants) {
    Change change{};
    try {
      change = change_of(source, *m);
    } catch (const std::runtime_error& e) {
      misfits += (misfits.empty() ? "" : "\n") + std::string(e.what());
      continue;
    }
    std::replace(change.after.begin(), change.after.end(), '\n', ' ');  // all lines keep their numbers
    lines.push_back(1 +
                    static_cast<int>(std::count(
                        source.begin(), source.begin() + static_cast<std::ptrdiff_t>(change.begin), '\n')));
    changes.push_back(std::move(change));
  }
  if (!misfits.empty()) throw std::runtime_error(misfits);
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  auto next = changes.cbegin();
  return "#include \"ebb/mutate.h\"\n#line 1\n" + written(source, 0, source.size(), next, changes.cend());
}

}  // namespace mutate
