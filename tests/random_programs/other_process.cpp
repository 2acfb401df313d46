// Runs programs in another process, whose library has chosen other instructions.
#include "random_programs/other_process.h"

#include <ebb/core/error.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <sstream>

#include "random_programs/ways.h"

namespace programs {
namespace {

// A trace is preceded by its length, so that what is read is whole.
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
