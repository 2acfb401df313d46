// Compares traces of programs, sends them to other processes, and runs programs in those.
#include <ebb/core/error.h>
#include <ebb/ops/creation.h>

#include "random_programs/ways.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <istream>
#include <ostream>
#include <sstream>

// Compares traces of programs and serializes them.

namespace programs {
namespace {

using ebb::Variable;

bool same_values(const Variable& a, const Variable& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  const Variable x = a.contiguous(), y = b.contiguous();
  const std::size_t bytes = static_cast<std::size_t>(x.numel() * x.element_size());
  if (bytes == 0 || std::memcmp(x.data_ptr(), y.data_ptr(), bytes) == 0) return true;
  if (!x.is_floating_point()) return false;
  // NaNs are equal to each other; zeros of different signs are not.
  const Variable p = x.to(ebb::kDouble), q = y.to(ebb::kDouble);
  for (std::int64_t i = 0; i < p.numel(); ++i) {
    const double u = p.data_ptr<double>()[i], v = q.data_ptr<double>()[i];
    if (std::isnan(u) != std::isnan(v) || (!std::isnan(u) && (u != v || std::signbit(u) != std::signbit(v))))
      return false;
  }
  return true;
}

template <class T>
void put(std::ostream& file, const T& value) {
  file.write(reinterpret_cast<const char*>(&value), sizeof(value));
}
void put(std::ostream& file, const std::string& text) {
  put(file, text.size());
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
}

void get_bytes(std::istream& file, void* to, std::size_t count) {
  EBB_CHECK(file.read(static_cast<char*>(to), static_cast<std::streamsize>(count)),
            "read_trace: the file ends within a trace.");
}
template <class T>
T get(std::istream& file) {
  T value{};
  get_bytes(file, &value, sizeof(value));
  return value;
}
template <>
std::string get<std::string>(std::istream& file) {
  std::string text(get<std::size_t>(file), ' ');
  get_bytes(file, text.data(), text.size());
  return text;
}

std::size_t bytes_of(const Variable& x) { return static_cast<std::size_t>(x.numel() * x.element_size()); }

}  // namespace

std::string both(const TraceEntry& expected, const TraceEntry& got) {
  std::ostringstream text;
  text << expected.label << ": ";
  if (expected.label != got.label)
    text << expected.text << " or " << got.label << ' ' << got.text;
  else if (expected.text != got.text)
    text << expected.text << "\n  or\n" << got.text;
  else
    text << expected.value << "\n  or\n" << got.value;
  return text.str();
}

std::string difference(const Trace& expected, const Trace& got) {
  for (std::size_t i = 0; i < std::min(expected.entries.size(), got.entries.size()); ++i) {
    const TraceEntry &a = expected.entries[i], &b = got.entries[i];
    if (a.label == b.label && a.text == b.text && same_values(a.value, b.value)) continue;
    if (a.label == b.label && b.label.ends_with("versions") && b.text.empty()) continue;
    return both(a, b);
  }
  if (expected.entries.size() != got.entries.size()) return "one trace has more entries";
  return "";
}

std::uint64_t digest(const Trace& trace) {
  std::uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  const auto add = [&](const void* data, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
  };
  for (const TraceEntry& each : trace.entries) {
    add(each.text.data(), each.text.size());
    if (!each.value.defined()) continue;
    const Variable x =
        each.value.is_floating_point() ? each.value.to(ebb::kDouble).contiguous() : each.value.contiguous();
    if (!x.is_floating_point()) {
      add(x.data_ptr(), bytes_of(x));
      continue;
    }
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      double v = x.data_ptr<double>()[i];
      if (std::isnan(v)) v = NAN;
      add(&v, sizeof(v));
    }
  }
  return hash;
}

void write(std::ostream& file, const Trace& trace) {
  put(file, trace.entries.size());
  for (const TraceEntry& each : trace.entries) {
    put(file, each.label);
    put(file, each.text);
    put(file, each.value.defined());
    if (!each.value.defined()) continue;
    const Variable x = each.value.contiguous();
    put(file, x.dtype());
    put(file, x.dim());
    for (const std::int64_t n : x.sizes()) put(file, n);
    file.write(static_cast<const char*>(x.data_ptr()), static_cast<std::streamsize>(bytes_of(x)));
  }
}

Trace read_trace(std::istream& file) {
  Trace trace;
  trace.entries.resize(get<std::size_t>(file));
  for (TraceEntry& each : trace.entries) {
    each.label = get<std::string>(file);
    each.text = get<std::string>(file);
    if (!get<bool>(file)) continue;
    const auto dtype = get<ebb::DType>(file);
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(get<std::int64_t>(file)));
    for (std::int64_t& n : sizes) n = get<std::int64_t>(file);
    each.value = ebb::empty(sizes, dtype);
    get_bytes(file, each.value.data_ptr(), bytes_of(each.value));
  }
  return trace;
}

// Runs programs in another process whose library has selected other instructions.

namespace {

// The length precedes a trace, so that the reader gets it in full.
void send(int file, const std::string& text) {
  const std::string all = std::to_string(text.size()) + "\n" + text;
  for (std::size_t done = 0; done < all.size();) {
    const ssize_t count = ::write(file, all.data() + done, all.size() - done);
    EBB_CHECK(count > 0, "send: the other process has ended.");
    done += static_cast<std::size_t>(count);
  }
}
void read_exactly(int file, char* to, std::size_t count) {
  for (std::size_t done = 0; done < count;) {
    const ssize_t got = ::read(file, to + done, count - done);
    EBB_CHECK(got > 0, "receive: the other process has ended.");
    done += static_cast<std::size_t>(got);
  }
}
std::string receive(int file) {
  std::string length;
  for (char c = 0; c != '\n'; length += c) read_exactly(file, &c, 1);
  std::string text(std::stoul(length), ' ');
  read_exactly(file, text.data(), text.size());
  return text;
}

}  // namespace

OtherProcess::OtherProcess(const std::string& isa, bool deterministic) {
  int in[2], out[2];
  EBB_CHECK(::pipe(in) == 0 && ::pipe(out) == 0, "OtherProcess: there is no pipe.");
  child_ = ::fork();
  EBB_CHECK(child_ >= 0, "OtherProcess: fork() failed.");
  if (child_ == 0) {
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    for (const int each : {in[0], in[1], out[0], out[1]}) ::close(each);
    ::setenv("EBB_ISA", isa.c_str(), 1);
    ::execl("/proc/self/exe", "random_programs", "--serve", deterministic ? "--exact" : nullptr, nullptr);
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
}

OtherProcess::~OtherProcess() {
  ::close(to_);
  ::close(from_);
  ::waitpid(child_, nullptr, 0);
}

Trace OtherProcess::run(const Program& program) {
  send(to_, to_text(program));
  std::istringstream trace(receive(from_));
  return read_trace(trace);
}

void serve() {
  std::string length;
  while (std::getline(std::cin, length)) {
    std::string text(std::stoul(length), ' ');
    std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
    std::ostringstream trace;
    write(trace, programs::run(from_text(text), ways().front()));
    send(STDOUT_FILENO, trace.str());
  }
}

}  // namespace programs
