// Saves programs as text, and reads them.
#include "random_programs/program.h"

#include <ebb/core/error.h>

#include <sstream>

namespace programs {
namespace {

template <class T>
void write_list(std::ostream& text, const char* label, const std::vector<T>& list) {
  text << ' ' << label;
  for (const T& each : list) text << ' ' << each;
  text << " ;";
}

template <class T>
std::vector<T> read_list(std::istream& text, const std::string& label) {
  std::string word;
  EBB_CHECK(text >> word && word == label, "from_text: expected ", label, ", got ", word, ".");
  std::vector<T> list;
  while (text >> word && word != ";") list.push_back(static_cast<T>(std::stoll(word)));
  EBB_CHECK(word == ";", "from_text: the list of ", label, " has no end.");
  return list;
}

void write(std::ostream& text, const char* part, const Statements& statements) {
  for (const Statement& s : statements) {
    text << part << ' ' << s.kind << ' ' << (s.name.empty() ? "-" : s.name) << ' ' << s.modes;
    write_list(text, "in", s.in);
    write_list(text, "out", s.out);
    write_list(text, "numbers", s.numbers);
    text << '\n';
  }
}

Statement read(std::istream& text) {
  Statement s;
  EBB_CHECK(text >> s.kind >> s.name >> s.modes, "from_text: a statement has a kind, a name and modes.");
  if (s.name == "-") s.name.clear();
  s.in = read_list<int>(text, "in");
  s.out = read_list<int>(text, "out");
  s.numbers = read_list<std::int64_t>(text, "numbers");
  return s;
}

}  // namespace

std::size_t Program::size() const {
  std::size_t all = setup.size() + body.size();
  for (const Statements& each : between) all += each.size();
  return all;
}

std::string to_text(const Program& program) {
  std::ostringstream text;
  text << "program " << program.slots << ' ' << program.kept << ' ' << program.between.size();
  write_list(text, "arguments", program.arguments);
  write_list(text, "results", program.results);
  text << '\n';
  write(text, "setup", program.setup);
  write(text, "body", program.body);
  for (const Statements& each : program.between) {
    write(text, "between", each);
    text << "call\n";
  }
  return text.str();
}

Program from_text(const std::string& text) {
  std::istringstream in(text);
  std::string word;
  Program program;
  std::size_t calls = 0;
  EBB_CHECK(in >> word >> program.slots >> program.kept >> calls && word == "program",
            "from_text: expected \"program\" and three counts.");
  program.arguments = read_list<int>(in, "arguments");
  program.results = read_list<int>(in, "results");
  program.between.resize(calls);
  std::size_t call = 0;
  while (in >> word) {
    if (word == "call")
      ++call;
    else if (word == "setup")
      program.setup.push_back(read(in));
    else if (word == "body")
      program.body.push_back(read(in));
    else
      program.between.at(call).push_back(read(in));
  }
  return program;
}

}  // namespace programs
