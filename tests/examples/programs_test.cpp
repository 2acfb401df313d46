// All examples as programs: refused options, exit codes, pages and Ctrl-C.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/files.h"

#include <pty.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using support::Contains;

namespace {

// A child process whose output is read while it runs. Standard output and error go to a pipe, or to a
// terminal with that many columns.
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

Process::Process(const std::vector<std::string>& command, int columns) {
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (columns) {
    const winsize size{24, static_cast<unsigned short>(columns), 0, 0};
    child_ = forkpty(&file_, nullptr, nullptr, &size);
  } else {
    if (pipe(ends) != 0) throw std::runtime_error("Process: there is no pipe");
    child_ = fork();
    file_ = ends[0];
  }
  if (child_ < 0) throw std::runtime_error("Process: cannot start " + command.front());
  if (child_ == 0) {
    if (!columns) {
      dup2(ends[1], STDOUT_FILENO);
      dup2(ends[1], STDERR_FILENO);
      close(ends[0]);
      close(ends[1]);
    }
    std::signal(SIGINT, SIG_DFL);
    setenv("TERM", "xterm", 1);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  if (!columns) close(ends[1]);
}

Process::~Process() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  close(file_);
}

// A terminal whose program has ended gives an error and not the end of a file.
bool Process::read_more() {
  char some[4096];
  const ssize_t count = read(file_, some, sizeof some);
  if (count > 0) output_.append(some, static_cast<std::size_t>(count));
  return count > 0;
}

void Process::wait_for(const std::string& text) {
  while (output_.find(text) == std::string::npos && read_more()) {
  }
}

void Process::interrupt() { kill(child_, SIGINT); }

int Process::end() {
  while (read_more()) {
  }
  int status = 0;
  waitpid(child_, &status, 0);
  child_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

std::vector<std::string> command(const std::string& program, const std::string& arguments) {
  std::vector<std::string> words = {EBB_EXAMPLES_FOLDER "/" + program};
  std::istringstream stream(arguments);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// Checks the exit code of a run and returns its output.
std::string ends_with(int code, const std::string& program, const std::string& arguments) {
  INFO(program << ' ' << arguments);
  Process process(command(program, arguments));
  const int ended = process.end();
  INFO(process.output());
  CHECK(ended == code);
  return process.output();
}

void check_refused(const std::string& program, const std::string& arguments) {
  const std::string said = ends_with(2, program, arguments + " --out " + support::temporary("refused"));
  INFO(program << ' ' << arguments << ": " << said);
  CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  CHECK(said.size() < 300);
}

}  // namespace

TEST_CASE("every example has the common options and exits with an error code for wrong ones") {
  // The table lists the command of each example and its run time.
  const std::string table = support::read_file(source_dir() + "/docs/examples.md");
  std::istringstream programs(EBB_EXAMPLES);
  int count = 0;
  for (std::string program; programs >> program; ++count) {
    const std::string help = ends_with(0, program, "--help");
    CHECK_THAT(table, Contains("`" + program + "`"));
    for (const char* option :
         {"--device", "--seed", "--threads", "--out", "--short", "--report", "Exit codes"})
      CHECK_THAT(help, Contains(option));
    const std::regex number(R"((--\w+) NUMBER)");
    for (std::sregex_iterator it(help.begin(), help.end(), number), end; it != end; ++it)
      check_refused(program, (*it)[1].str() + " -3");
    check_refused(program, "--threads 0");
    check_refused(program, "--nothing");
    check_refused(program, "--device gpu");
    CHECK_THAT(ends_with(1, program, "--device cuda:127"), Contains("--device cuda:127"));
  }
  CHECK(count >= 17);
}

TEST_CASE("an example with --device cuda and no GPU fails and does not run on the CPU") {
  if (ebb::cuda::is_available()) return;
  const std::string said = ends_with(1, "train_cnn", "--short --device cuda");
  CHECK_THAT(said, Contains("leave the option out to run on the CPU"));
  CHECK(std::count(said.begin(), said.end(), '\n') == 1);
}

TEST_CASE("an invalid number of an option is refused with the name of the option") {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"--epochs 0", "--epochs must be a whole number of at least 1, not \"0\""},
      {"--epochs 2.5", "--epochs must be"},
      {"--batch 0", "--batch must be"},
      {"--lr 0", "--lr must be a number above 0"},
      {"--lr nan", "--lr must be"},
      {"--threads 99999999999999999999", "--threads must be a whole number from 1 to 1024"},
      {"--seed x", "--seed must be"}};
  for (const auto& [arguments, message] : rows) {
    check_refused("train_cnn", arguments);
    CHECK_THAT(ends_with(2, "train_cnn", arguments), Contains(message));
  }
  check_refused("vgg16_transfer", "--weights vgg16.pth");
  CHECK_THAT(ends_with(1, "train_cnn", "--out /dev/null"), Contains("name another"));
}

TEST_CASE("train_cnn shows a summary, a bar, a curve, a confusion table and its page") {
  const std::string out = support::temporary("shown");
  Process process(command("train_cnn", "--short --threads 1 --out " + out), 120);
  CHECK(process.end() == 0);
  const std::string& said = process.output();
  std::size_t at = 0;
  for (const char* part : {"Total params: 72,842", "epoch 1/12 ", "%  ", "left 0", "loss ", " steps/s",
                           "epoch 12/12  test accuracy 9", "training loss by step", "rows: true classes",
                           "saved to", "test accuracy: 0.9", "report: "}) {
    INFO(part);
    at = said.find(part, at);
    REQUIRE(at != std::string::npos);
  }
  CHECK_THAT(said, Contains("report: " + out + "/train_cnn.html\r\n"));
  const std::string page = support::read_file(out + "/train_cnn.html");
  for (const char* part : {"loss/train", "accuracy/test", "\"confusion\"", "Total params: 72,842",
                           "\"test accuracy\":0.9", "\"--batch\"", "\"state\":\"finished\""})
    CHECK_THAT(page, Contains(part));
}

TEST_CASE("an example writes its page only with --report and marks it as stopped after Ctrl-C") {
  const std::string out = support::temporary("pages"), page = out + "/autograd_tour.html";
  CHECK_THAT(ends_with(0, "autograd_tour", "--out " + out), !Contains("report: "));
  CHECK_FALSE(std::filesystem::exists(page));
  CHECK_THAT(ends_with(0, "autograd_tour", "--report --out " + out), Contains("report: " + page));
  CHECK_THAT(support::read_file(page), Contains("\"graph\"") && Contains("\"state\":\"finished\""));

  Process process(command("maml", "--report --threads 1 --out " + out));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  process.interrupt();
  CHECK(process.end() == 130);
  CHECK_THAT(support::read_file(out + "/maml.html"), Contains("\"state\":\"stopped\""));
}

TEST_CASE("char_gpt stopped by Ctrl-C resumes from its checkpoint with the same curves") {
  const std::string whole = support::temporary("whole"), stopped = support::temporary("stopped"),
                    arguments = "--short --steps 120 --threads 1 --out ";
  Process unstopped(command("char_gpt", arguments + whole));
  const int code = unstopped.end();  // after so few steps the example may miss its target accuracy
  CHECK(unstopped.output().find_first_of("\r\x1b") == std::string::npos);

  Process process(command("char_gpt", arguments + stopped));
  process.wait_for("parameters");  // lines arrive when they are written and not at the end of the program
  process.interrupt();
  CHECK(process.end() == 130);
  CHECK_THAT(process.output(), Contains("of 120, which is saved in " + stopped) && Contains("--resume"));
  CHECK_THAT(ends_with(code, "char_gpt", arguments + stopped + " --resume"), Contains("(resumed)"));
  CHECK(support::read_file(stopped + "/char_gpt.svg") == support::read_file(whole + "/char_gpt.svg"));
  CHECK_THAT(ends_with(1, "char_gpt", "--short --steps 60 --resume --out " + stopped),
             Contains("Give more --steps"));
}

TEST_CASE("an example without a checkpoint reports that Ctrl-C stopped it") {
  Process process(command("train_cnn", "--short --threads 1 --out " + support::temporary("cnn")));
  process.wait_for("training and");
  process.interrupt();
  CHECK(process.end() == 130);
  CHECK_THAT(process.output(), Contains("stopped by Ctrl-C"));
}
