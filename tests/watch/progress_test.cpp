// Progress bars on terminals, in pipes and in files: lines, widths, limits, values and errors.
#include <ebb/watch.h>

#include "bars.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/scopes.h"
#include "terminal_emulator.h"

#include <unistd.h>

#include <cmath>
#include <limits>

using namespace ebb;
using support::Contains;
using support::Saying;
using watch::Progress;
using watch::ProgressOptions;

namespace {

// The locale of the bars: their cells are "=" and "." or blocks.
const support::Environment kNoLocale("LC_ALL", "C");

}  // namespace

TEST_CASE("a bar shows title, share, time left, values, rate and count on a terminal") {
  now += 100;
  TerminalEmulator terminal(100);
  Progress bar("epoch 1/3", options(terminal.file(), 1000).unit("images"));
  CHECK(terminal.lines() == Lines{"epoch 1/3    0%  [..............................]  0/1000  00:00", ""});
  now += 90;
  bar.set("lr", 1e-4).average("loss", 0.5).average("loss", 0.25).set("state", "warm up");
  bar.advance(450);
  CHECK(terminal.lines() == Lines{"epoch 1/3   45%  [========...........]  left 01:50  lr 0.0001  loss "
                                  "0.3750  state warm up  450/1000",
                                  ""});
  now += 110;
  bar.advance(550);
  bar.finish("accuracy 0.91");
  CHECK(terminal.lines() == Lines{"epoch 1/3  accuracy 0.91  lr 0.0001  loss 0.3750  state warm up  "
                                  "1000/1000  5.0 images/s  03:20",
                                  ""});
  CHECK(terminal.is_on_own_line());
}

TEST_CASE("a bar without a total shows count, rate and time") {
  now += 100;
  TerminalEmulator terminal(80);
  Progress bar("reading", options(terminal.file()).unit("files"));
  now += 7200;
  bar.advance(60);
  CHECK(terminal.lines() == Lines{"reading  60  30.0 files/h  2:00:00", ""});
  now += 1;
  bar.advance(720100);
  CHECK(terminal.lines() == Lines{"reading  720160  100 files/s  2:00:01", ""});
}

TEST_CASE("a bar fits into a terminal of any width") {
  for (std::size_t columns = 1; columns < 130; ++columns) {
    INFO(columns);
    now += 100;
    TerminalEmulator terminal(columns);
    Progress outer("all epochs of a long training", options(terminal.file(), 3));
    Progress bar("été 12/30", options(terminal.file(), 1000));
    bar.set("loss", 0.5);
    now += 60;
    bar.advance(450);
    CHECK(terminal.widest() < std::max<std::size_t>(columns, 2));
    const Lines lines = terminal.lines();
    REQUIRE(lines.size() == 3);
    if (columns > 17) CHECK_THAT(lines[1], support::StartsWith("été 12/30   45%"));
    if (columns > 26) CHECK_THAT(lines[1], Contains("["));
    if (columns > 13) CHECK_THAT(lines[0], Contains("0%"));
    CHECK(terminal.is_on_own_line());
  }
}

TEST_CASE("a title of wide characters is cut to the columns of the terminal") {
  for (std::size_t columns = 1; columns < 80; ++columns) {
    INFO(columns);
    now += 100;
    TerminalEmulator terminal(columns);
    Progress bar("訓練 エポック 🙂 1/3", options(terminal.file(), 1000));
    bar.set("損失", 0.5);
    now += 60;
    bar.advance(450);
    CHECK(terminal.widest() < std::max<std::size_t>(columns, 2));
    CHECK(terminal.is_on_own_line());
    const Lines lines = terminal.lines();
    REQUIRE(lines.size() == 2);
    if (columns > 10) CHECK_THAT(lines[0], support::StartsWith("訓"));
    if (columns > 27) CHECK_THAT(lines[0], support::StartsWith("訓練 エポック 🙂 1/3   45%"));
    if (columns > 70) CHECK_THAT(lines[0], Contains("損失 0.5000"));
  }
}

TEST_CASE("a bar consists of blocks in a UTF-8 locale and of ASCII in others") {
  const std::pair<std::optional<std::string>, bool> locales[] = {
      {"en_US.UTF-8", true}, {"C.utf8", true}, {"de_DE", false}, {"C", false}, {"", false}, {{}, false}};
  for (const auto& [locale, utf8] : locales) {
    const support::Environment all("LC_ALL"), type("LC_CTYPE"), language("LANG", locale);
    now += 100;
    TerminalEmulator terminal(30);
    Progress bar("e", options(terminal.file(), 4));
    now += 1;
    bar.advance(1);
    CHECK(terminal.lines()[0] == (utf8 ? "e   25%  ██░░░░░░  left 00:03" : "e   25%  [=.....]  left 00:03"));
  }
}

TEST_CASE("a terminal that becomes narrower keeps few wrapped lines and all other text") {
  for (const auto on_resize : {TerminalEmulator::OnResize::cut, TerminalEmulator::OnResize::wrap}) {
    now += 100;
    TerminalEmulator terminal(120, 24, on_resize);
    REQUIRE(::write(terminal.file(), "before\n", 7) == 7);
    Progress bar("epoch 1/3", options(terminal.file(), 100000));
    bar.set("loss", 0.5);
    for (std::size_t columns = 120; columns > 20; --columns) {
      terminal.resize(columns);
      for (int step = 0; step < 10; ++step) {
        now += 0.01;
        bar.advance();
      }
    }
    for (int step = 0; step < 100; ++step) {
      now += 0.1;
      bar.advance();
      terminal.read();
    }
    const Lines lines = terminal.lines();
    CHECK(lines.front() == "before");
    CHECK(lines.size() <= 12);
    CHECK(lines[lines.size() - 2] == "epoch 1/3    1%");
    CHECK(terminal.is_on_own_line());
  }
}

TEST_CASE("a terminal that becomes wider gets a longer line") {
  now += 100;
  TerminalEmulator terminal(20);
  Progress bar("epoch 1/3", options(terminal.file(), 1000));
  terminal.resize(80);
  now += 1;
  bar.advance();
  CHECK(terminal.lines() ==
        Lines{"epoch 1/3    0%  [....................]  left 16:39  1/1000  1.0 steps/s  00:01", ""});
}

TEST_CASE("a bar is drawn at most ten times a second") {
  now += 100;
  TerminalEmulator terminal(80);
  Progress outer("outer", options(terminal.file(), 100000));
  Progress bar("inner", options(terminal.file(), 100000));
  const double begun = now;
  std::size_t most = 0, drawn = 0;
  for (int second = 0; second < 10; ++second) {
    const std::size_t before = count(terminal.output(), "outer ");
    for (int step = 0; step < 1000; ++step) {
      now += 0.001;
      bar.advance();
      outer.advance();
    }
    drawn = count(terminal.output(), "outer ");
    most = std::max(most, drawn - before);
  }
  CHECK(now - begun == Approx(10));
  CHECK(most <= 10);
  CHECK(drawn >= 80);
}

TEST_CASE("many short bars are drawn at most ten times a second") {
  now += 100;
  TerminalEmulator terminal(80);
  {
    Progress outer("outer", options(terminal.file(), 2000));
    for (int i = 0; i < 2000; ++i) {
      Progress bar("inner", options(terminal.file(), 1));
      now += 0.001;
      bar.advance();
      outer.advance();
      terminal.read();
    }
    CHECK(count(terminal.output(), "outer ") <= 21);
    CHECK(count(terminal.output(), "outer ") >= 15);
  }
  // The rounding of the clock decides whether two seconds are complete.
  CHECK(terminal.lines()[0].starts_with("outer  2000/2000  1000 steps/s  00:0"));
}

TEST_CASE("nested bars are drawn below each other and vanish unless they end with a result") {
  now += 100;
  TerminalEmulator terminal(40);
  {
    Progress epochs("epochs", options(terminal.file(), 3));
    for (int epoch = 1; epoch <= 3; ++epoch) {
      Progress steps("steps", options(terminal.file(), 10));
      for (int step = 0; step < 10; ++step) {
        now += 1;
        steps.advance();
        const Lines lines = terminal.lines();
        CHECK_THAT(lines[lines.size() - 3], support::StartsWith("epochs "));
        CHECK_THAT(lines[lines.size() - 2], support::StartsWith("steps "));
      }
      if (epoch == 2) steps.finish("good");
      epochs.advance();
    }
  }
  CHECK(terminal.lines() ==
        Lines{"steps  good  10/10  1.0 steps/s  00:10", "epochs  3/3  6.0 steps/min  00:30", ""});
}

TEST_CASE("more bars than a terminal has rows show the innermost ones") {
  now += 100;
  TerminalEmulator terminal(40, 4);
  std::vector<std::unique_ptr<Progress>> bars;
  for (int i = 0; i < 6; ++i)
    bars.push_back(std::make_unique<Progress>(std::to_string(i), options(terminal.file(), 9)));
  for (int i = 0; i < 20; ++i) {
    now += 1;
    bars.back()->set("x", i);
    bars.back()->advance(0);
  }
  const Lines lines = terminal.lines();
  REQUIRE(lines.size() == 4);
  CHECK_THAT(lines[0], support::StartsWith("3 "));
  CHECK_THAT(lines[2], support::StartsWith("5 ") && Contains("x 19"));
  while (!bars.empty()) bars.pop_back();
  CHECK(terminal.lines() == Lines{"0  0/9  00:20", ""});
}

TEST_CASE("a bar in a file is one line per interval and one at the end") {
  const Lines lines = lines_in_file([](int file) {
    Progress bar("epoch 1/3", options(file, 1000).unit("images").log_interval(30));
    for (int step = 0; step < 100; ++step) {
      now += 1;
      bar.average("loss", 0.5);
      bar.advance(10);
    }
    bar.finish("accuracy 0.91");
  });
  CHECK(lines == Lines{"epoch 1/3   30%  left 01:10  loss 0.5000  300/1000  10.0 images/s  00:30",
                       "epoch 1/3   60%  left 00:40  loss 0.5000  600/1000  10.0 images/s  01:00",
                       "epoch 1/3   90%  left 00:10  loss 0.5000  900/1000  10.0 images/s  01:30",
                       "epoch 1/3  accuracy 0.91  loss 0.5000  1000/1000  10.0 images/s  01:40"});
}

TEST_CASE("a million short bars write at most ten lines a second to a file") {
  std::size_t before = 0;
  const Lines lines = lines_in_file([&](int file) {
    for (int i = 0; i < 10000; ++i) {
      Progress bar("short", options(file, 1).log_interval(0.001));
      Progress nested("nested", options(file, 1).log_interval(0.001));
      now += 0.001;
      nested.advance();
      bar.advance();
    }
    before = 1;
  });
  CHECK(before == 1);
  CHECK(lines.size() <= 100);
  CHECK(lines.size() >= 90);
}

TEST_CASE("results are always written and nested bars without a result only if they are long") {
  const Lines lines = lines_in_file([](int file) {
    Progress outer("outer", options(file, 100));
    for (int i = 0; i < 30; ++i) {
      Progress bar("result", options(file, 1));
      bar.advance();
      bar.finish(std::to_string(i));
      Progress short_one("short", options(file, 1));
      short_one.advance();
    }
    Progress slow("slow", options(file, 1).log_interval(5));
    now += 7;
  });
  CHECK(lines.size() == 32);
  CHECK_THAT(lines[29], Contains("result  29  1/1"));
  CHECK_THAT(lines[30], support::StartsWith("slow  0/1"));
  CHECK_THAT(lines[31], support::StartsWith("outer  0/100"));
}

TEST_CASE("EBB_PROGRESS and TERM choose between a bar, lines and nothing") {
  const auto output = [](const char* progress, const char* term) {
    const support::Environment wish("EBB_PROGRESS",
                                    progress ? std::optional<std::string>(progress) : std::nullopt),
        kind("TERM", term);
    now += 100;
    TerminalEmulator terminal(80);
    Progress bar("title", options(terminal.file(), 2));
    bar.set("loss", 1).advance();
    bar.finish("result");
    return terminal.output();
  };
  CHECK_THAT(output(nullptr, "xterm"), Contains("\x1b["));
  CHECK_THAT(output("1", "xterm"), Contains("\x1b["));
  CHECK(output("lines", "xterm") == "title  result  loss 1  1/2  00:00\r\n");
  CHECK(output(nullptr, "dumb") == "title  result  loss 1  1/2  00:00\r\n");
  CHECK(output("0", "xterm").empty());
}

TEST_CASE("an exception leaves a line with the count and the cursor below it") {
  now += 100;
  TerminalEmulator terminal(60);
  const std::vector<int> steps = {0, 1, 2, 3, 4};
  try {
    for (const int step : watch::progress(steps, "epoch 1", options(terminal.file()))) {
      now += 1;
      if (step == 3) throw Error("out of memory");
    }
  } catch (const Error&) {
  }
  CHECK(terminal.lines() == Lines{"epoch 1  3/5  45.0 steps/min  00:04", ""});
  CHECK(terminal.is_on_own_line());
}

TEST_CASE("values are shown with four digits and tensors are averaged on their device") {
  const Lines lines = lines_in_file([](int file) {
    Progress bar("values", options(file));
    bar.set("count", 60000).set("small", 0.00012345).set("large", 1234567.5);
    bar.set("nan", std::nan("")).set("inf", -std::numeric_limits<double>::infinity());
    Tensor loss = tensor({0.25f}), weight = ones({1, 1}).requires_grad_();
    bar.set("tensor", loss).set("weight", weight * 1.5);
    Tensor exact = tensor(0.5, kDouble), total = tensor(3.0, kDouble);
    bar.set("exact", exact).average("total", total);
    for (Tensor* each : {&loss, &exact, &total}) each->fill_(9);  // the bar shows the values at the calls
    for (int i = 0; i < 4; ++i)
      bar.average("mean", full({}, i)).average("mixed", i).average("mixed", full({1}, 0.5));
    bar.average("again", 4).set("again", 7).average("again", 2);
    bar.set("text", "a\nb\x1b[2Jc").set("text", "x\ry\xC2\x9Bz\xC3\xA9");
  });
  CHECK(
      lines ==
      Lines{"values  count 60000  small 0.0001234  large 1.235e+06  nan nan  inf -inf  tensor 0.2500  weight "
            "1.5000  exact 0.5000  total 3  mean 1.5000  mixed 1  again 2  text x y z\u00E9  0  00:00"});
}

TEST_CASE("wrong arguments of a bar are errors that name the call") {
  now += 100;
  const support::Environment silent("EBB_PROGRESS", "lines");
  CHECK_THROWS_MATCHES(Progress("title", ProgressOptions(-1)), Error,
                       Saying("Progress(\"title\"): total -1"));
  CHECK_THROWS_MATCHES(Progress("title", ProgressOptions().log_interval(0)), Error,
                       Saying("log_interval must be"));
  Progress bar("title", options(std::numeric_limits<int>::max(), 3));  // no such descriptor
  CHECK_THROWS_MATCHES(bar.advance(-2), Error, Saying("Progress::advance(-2)"));
  CHECK_THROWS_MATCHES(bar.set("loss", ones({2})), Error,
                       Saying("Progress::set(\"loss\"): expected a real tensor of one"));
  CHECK_THROWS_MATCHES(bar.average("loss", Tensor()), Error, Saying("Reduce it first"));
  CHECK_THROWS_MATCHES(bar.restart(-1), Error, Saying("Progress::restart(-1)"));
  bar.finish();
  bar.finish();
  CHECK_THROWS_MATCHES(bar.advance(), Error, Saying("\"title\" has ended. Call restart() first"));
  bar.restart();
  bar.advance();
}
