// Text format of programs, and tensors with known values.
#include "random_programs/program.h"

#include <ebb/core/error.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/shape.h>

#include "random_programs/bounds.h"

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

// Creates tensors with known values.

namespace {
thread_local ebb::Device current_home = ebb::kCPU;
}

ebb::Device home() { return current_home; }
Home::Home(ebb::Device device) : before_(current_home) { current_home = device; }
Home::~Home() { current_home = before_; }

ebb::nn::Module& State::module(int i) const {
  EBB_CHECK((*this)[i].module, "slot ", i, " has no module.");
  return *(*this)[i].module;
}
ebb::optim::Optimizer& State::optimizer(int i) const {
  EBB_CHECK((*this)[i].optimizer, "slot ", i, " has no optimizer.");
  return *(*this)[i].optimizer;
}

Variable make(const Sizes& sizes, ebb::DType dtype, std::int64_t seed, Layout layout) {
  const ebb::NoGradGuard no_grad;
  Sizes spread = sizes;  // the sizes of the created memory
  const bool has_dims = !sizes.empty();
  if (layout == kTransposed && sizes.size() > 1) std::swap(spread.front(), spread.back());
  if (layout == kStepped && has_dims) spread.back() *= 2;
  if (layout == kOffset && has_dims) spread.front() += 1;
  if (layout == kExpanded && has_dims) spread.front() = std::min<std::int64_t>(spread.front(), 1);
  std::int64_t count = 1;
  for (const std::int64_t n : spread) count *= n;
  const Variable places = ebb::remainder(ebb::arange(count, ebb::kLong) * 37 + 11 * seed, 101);
  Variable x;
  if (ebb::is_floating(dtype))
    x = ((places - 50).to(ebb::kDouble) / 32).to(dtype);
  else
    x = ebb::remainder(places, dtype == ebb::kBool ? 2 : 5).to(dtype);
  x = x.view(spread).to(home());
  if (layout == kTransposed && sizes.size() > 1)
    x = x.transpose(0, static_cast<std::int64_t>(sizes.size()) - 1);
  if (layout == kStepped && has_dims) x = x.slice(-1, 0, spread.back(), 2);
  if (layout == kOffset && has_dims) x = x.narrow(0, 1, sizes.front());
  if (layout == kExpanded && has_dims) x = x.expand(sizes);
  return x.detach();  // so that it is not a view
}

Variable fit(const Variable& x, const Sizes& sizes, double low, double high, ebb::DType dtype) {
  std::int64_t count = 1;
  for (const std::int64_t n : sizes) count *= n;
  Variable y = x.to(dtype);
  if (y.numel() != count)
    y = y.reshape({-1}).index_select(
        0, ebb::remainder(ebb::arange(count, ebb::kLong).to(y.device()), y.numel()));
  y = y.reshape(sizes).sin() * 0.5 + 0.5;
  perturb(y);
  y = y * (high - low) + low;
  perturb(y);
  return y;
}

}  // namespace programs
