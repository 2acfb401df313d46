// A child process whose output is read while it runs.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

/// Standard output and error go to a pipe, or to a terminal with that many columns.
class Process {
 public:
  explicit Process(const std::vector<std::string>& command, int columns = 0);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Reads until `text` occurs, or to the end.
  void wait_for(const std::string& text);
  /// Sends SIGINT, as Ctrl-C does.
  void interrupt();
  /// Changes the width of the terminal.
  void resize(int columns);
  /// Reads to the end. Returns the exit code, or minus the signal that ended the program.
  int end();
  /// All output so far.
  const std::string& output() const { return output_; }

 private:
  bool read_more();
  pid_t child_ = -1;
  int file_ = -1;
  std::string output_;
};
