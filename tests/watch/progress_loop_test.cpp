// Progress bars of whole loops: loaders, threads, ranks, text that the loop prints, Ctrl-C and other ends.
#include <ebb/watch.h>

#include "bars.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/scopes.h"
#include "terminal_emulator.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <thread>

using namespace ebb;
using watch::Progress;
using watch::ProgressOptions;

namespace {

// Runs the hidden test case of the name in a new process whose stdout and stderr are the terminal. Sends
// SIGINT when the screen contains "ready". Returns how the process ended.
int run_on(TerminalEmulator& terminal, const std::string& name) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string(),
                    tag = "[" + name + "]";
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::dup2(terminal.file(), 1);
    ::dup2(terminal.file(), 2);
    ::execl(program.c_str(), program.c_str(), tag.c_str(), "-o", "/dev/null", nullptr);
    ::_exit(126);
  }
  int status = -1;
  for (bool sent = false; ::waitpid(child, &status, WNOHANG) == 0; ::usleep(1000)) {
    if (!sent && count(terminal.output(), "ready")) sent = ::kill(child, SIGINT) == 0;
  }
  return status;
}

// Prints and dies while there is a bar.
void die_of(int signal) {
  ::signal(signal, SIG_DFL);
  Progress bar("epoch 1", options(2, 10));
  bar.advance();
  std::printf("text\n");
  ::raise(signal);
}

// Ends a hidden test case, before Catch2 prints.
[[noreturn]] void end(bool good) {
  std::fflush(nullptr);
  ::_exit(good ? 0 : 1);
}

}  // namespace

TEST_CASE("writes a line for the test of ranks", "[.ranks]") { Progress("bar of this rank", {3}).advance(); }

TEST_CASE("only rank 0 writes") {
  for (const auto& [rank, lines] : {std::pair{"0", 1}, std::pair{"3", 0}}) {
    const std::string path = support::temporary("ranks"),
                      program = std::filesystem::read_symlink("/proc/self/exe").string();
    const support::Environment variable("RANK", rank);
    CHECK(std::system((program + " '[.ranks]' > /dev/null 2> " + path).c_str()) == 0);
    CHECK(count(support::read_file(path), "bar of this rank  1/3") == static_cast<std::size_t>(lines));
  }
}

TEST_CASE("is killed by SIGINT", "[.by_2]") { die_of(SIGINT); }
TEST_CASE("is killed by SIGKILL", "[.by_9]") { die_of(SIGKILL); }
TEST_CASE("is killed by SIGABRT", "[.by_6]") { die_of(SIGABRT); }

TEST_CASE("Ctrl-C and other deaths leave the cursor below the bar") {
  for (const int signal : {SIGINT, SIGKILL, SIGABRT}) {
    TerminalEmulator terminal(60);
    const int status = run_on(terminal, ".by_" + std::to_string(signal));
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == signal));
    const Lines lines = terminal.lines();
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == "text");
    CHECK_THAT(lines[1], support::StartsWith("epoch 1 "));
    CHECK(terminal.is_on_own_line());
  }
}

TEST_CASE("prints while there are bars", "[.prints]") {
  std::cout << "before\n";
  {
    Progress outer("outer", options(2, 3));
    Progress bar("inner", options(2, 100));
    for (int i = 0; i < 20; ++i) {
      now += 0.06;
      bar.advance();
      std::printf("printf %d\n", i);
      std::cout << "cout " << i << std::endl;
      std::cerr << "cerr " << i << '\n';
      std::clog << "clog " << i << "\n";
      std::fprintf(stderr, "stderr ");
      std::fprintf(stderr, "%d\n", i);
      std::fputs("no line end yet, ", stdout);
      bar.advance();
      std::cout << "but now\n";
      std::puts("two\nlines");
    }
    if (!::isatty(::fileno(stdout)) || !::isatty(::fileno(stderr))) end(false);
  }
  std::cout << "after" << std::endl;
  end(true);
}

TEST_CASE("text of the loop appears whole and in order above the bars") {
  TerminalEmulator terminal(70);
  CHECK(run_on(terminal, ".prints") == 0);
  Lines expected = {"before"};
  for (int i = 0; i < 20; ++i) {
    for (const char* name : {"printf ", "cout ", "cerr ", "clog ", "stderr "})
      expected.push_back(name + std::to_string(i));
    for (const char* text : {"no line end yet, but now", "two", "lines"}) expected.push_back(text);
  }
  for (const char* text : {"outer  0/3  00:01", "after", ""}) expected.push_back(text);
  CHECK(terminal.lines() == expected);
  CHECK(count(terminal.output(), "inner ") > 100);
}

TEST_CASE("prints an unfinished line and continues", "[.unfinished]") {
  Progress bar("bar", options(2, 100));
  for (int i = 0; i < 2; ++i) {
    std::printf("continue? ");
    std::fflush(stdout);
    now += 0.6;
    bar.advance();
    std::printf("%s", i ? "" : "yes ");
    std::fflush(stdout);
    now += 2;
    bar.advance();
  }
  std::printf("no\n");
  bar.finish("result");
  end(true);
}

TEST_CASE("a bar waits a second for the end of a line that the loop has begun") {
  TerminalEmulator terminal(70);
  CHECK(run_on(terminal, ".unfinished") == 0);
  CHECK(terminal.lines() ==
        Lines{"continue? yes", "continue?", "no", "bar  result  4/100  46.2 steps/min  00:05", ""});
}

TEST_CASE("gives std::cout a buffer and stdout none", "[.own_buffer]") {
  std::ostringstream text;
  std::cout.rdbuf(text.rdbuf());
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  Progress bar("bar", options(2, 100));
  std::cout << "in the buffer";
  std::printf("at once");
  if (text.str() != "in the buffer") end(false);
  ::raise(SIGKILL);
}

TEST_CASE("a bar keeps the buffer of std::cout and the buffering of stdout") {
  TerminalEmulator terminal(70);
  const int status = run_on(terminal, ".own_buffer");
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  CHECK(terminal.lines()[0] == "at once");
}

TEST_CASE("is interrupted and reports it", "[.interrupted]") {
  watch::throw_on_interrupt();
  Progress whole("whole", options(2, 1));
  std::printf("ready\n");
  while (true) {
    try {
      watch::check_interrupt();
    } catch (const watch::Interrupted& stop) {
      if (std::string(stop.what()) != "stopped by Ctrl-C") end(false);
      break;
    }
  }
  watch::check_interrupt();  // the exception is thrown once
  ::raise(SIGINT);
  end(false);
}

TEST_CASE("the first Ctrl-C throws once and the second one ends the program") {
  TerminalEmulator terminal(70);
  const int status = run_on(terminal, ".interrupted");
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGINT));
}

TEST_CASE("is interrupted in a bar", "[.in_bar]") {
  // Returns whether a call throws after Ctrl-C.
  const auto throws = [](const auto& call) {
    watch::throw_on_interrupt();
    ::raise(SIGINT);
    try {
      call();
    } catch (const watch::Interrupted&) {
      return true;
    }
    return false;
  };
  Progress bar("bar", options(2, 3));
  const bool in_loop = throws([&] { bar.advance(); });
  const bool in_last_step = throws([&] { bar.advance(2); });
  const bool at_end = throws([&] { bar.finish("result"); });
  ::signal(SIGINT, SIG_IGN);
  end(in_loop && !in_last_step && at_end && !throws([] { watch::check_interrupt(); }));
}

TEST_CASE("Ctrl-C throws from every step but the last one and after the result") {
  TerminalEmulator terminal(70);
  CHECK(run_on(terminal, ".in_bar") == 0);
  CHECK(terminal.lines() == Lines{"bar  result  3/3  00:00", ""});
}

TEST_CASE("a loader and other ranges give the total of their bar") {
  const auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      data::datasets::TensorDataset(arange(10)).map(data::transforms::Stack<data::TensorExample>()),
      data::DataLoaderOptions(4));
  CHECK(loader->size() == optional<std::size_t>(3));
  const std::vector<int> numbers = {1, 2, 3};
  int plain[] = {1, 2};
  double sum = 0;
  const Lines lines = lines_in_file([&](int file) {
    for (auto& batch : watch::progress(*loader, "loader", options(file)))
      sum += batch.data.sum().item<double>();
    auto bar = watch::progress(numbers, "numbers", options(file));
    for (int repeat = 0; repeat < 2; ++repeat)
      for (const int n : bar) bar.average("n", n);
    bar.finish("done");
    for (int& n : watch::progress(plain, "array", options(file, 5).start(1))) n = 0;
    for (const int n : watch::progress(std::vector<int>{7}, "rvalue", options(file))) sum += n;
  });
  CHECK(sum == 52);
  CHECK(plain[1] == 0);
  CHECK(lines == Lines{"loader  3/3  00:00", "numbers  n 2  3/3  00:00", "numbers  done  n 2  3/3  00:00",
                       "array  3/5  00:00", "rvalue  1/1  00:00"});
}

TEST_CASE("a loader that continues within an epoch continues its bar") {
  const auto make = [] {
    return data::make_data_loader(
        data::datasets::TensorDataset(arange(12)).map(data::transforms::Stack<data::TensorExample>()),
        data::DataLoaderOptions(3).drop_last(true));
  };
  auto first = make(), second = make();
  serialize::OutputArchive saved;
  auto it = first->begin();
  ++it;
  (void)*it;
  first->save(saved);
  const std::string path = support::temporary("loader");
  saved.save_to(path);
  serialize::InputArchive read;
  read.load_from(path);
  second->load(read);
  const Lines lines = lines_in_file([&](int file) {
    for (auto& batch : watch::progress(*second, "resumed", options(file).log_interval(0.5))) {
      now += 1;
      CHECK(batch.data.numel() == 3);
    }
  });
  CHECK(lines == Lines{"resumed   75%  left 00:01  3/4  1.0 steps/s  00:01",
                       "resumed  100%  left 00:00  4/4  1.0 steps/s  00:02",
                       "resumed  4/4  1.0 steps/s  00:02"});
}

TEST_CASE("every sampler states the samples of its epoch") {
  using namespace data::samplers;
  CHECK(RandomSampler(7).size() == 7);
  CHECK(SequentialSampler(7).size() == 7);
  CHECK(SubsetRandomSampler({1, 2}).size() == 2);
  CHECK(WeightedRandomSampler({1, 2, 3}, 5).size() == 5);
  CHECK(DistributedRandomSampler(7, 2, 0).size() == 4);
  CHECK(StreamSampler(9).size() == 9);
}

TEST_CASE("a bar that another thread ends leaves neither thread with an outer bar") {
  const Lines lines = lines_in_file([](int file) {
    auto first = std::make_unique<Progress>("first", options(file, 1));
    std::thread([&] {
      first.reset();
      Progress outer("outer", options(file, 1));
      Progress("inner", options(file, 1)).advance();
    }).join();
    Progress("second", options(file, 1)).advance();
  });
  CHECK(lines == Lines{"first  0/1  00:00", "outer  0/1  00:00", "second  1/1  00:00"});
}

TEST_CASE("many threads share bars") {
  now += 100;
  TerminalEmulator terminal(60);
  {
    Progress bar("all", ProgressOptions(4000).descriptor(terminal.file()));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        Progress own("thread", ProgressOptions(1000).descriptor(terminal.file()));
        for (int i = 0; i < 1000; ++i) {
          own.set("i", i).advance();
          bar.average("t", t).advance();
          if (i % 100 == 0) ::usleep(1000);
        }
      });
    for (std::thread& thread : threads) thread.join();
    bar.finish("end");
  }
  const Lines lines = terminal.lines();
  REQUIRE(lines.size() == 6);
  CHECK_THAT(lines[0], support::StartsWith("thread  i 999  1000/1000"));
  CHECK_THAT(lines[4], support::StartsWith("all  end  t 1.5000  4000/4000"));
}
