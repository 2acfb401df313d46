// CSVLogger and EarlyStopping of ebb::watch.
#include <ebb/watch.h>

#include "support/catch.h"
#include "support/child.h"
#include "support/files.h"

#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <limits>

using namespace ebb;
using namespace ebb::watch;
using support::read_file;
using support::Saying;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Returns the number of steps after which the metric stops, and -1 if it does not.
int stops_after(EarlyStopping stopping, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (stopping.step(values[i])) return static_cast<int>(i) + 1;
  return -1;
}

}  // namespace

TEST_CASE("CSVLogger writes numbers, texts and tensors as they are read back") {
  const support::Folder folder;
  const std::string path = folder / "runs/a/log.csv";
  CSVLogger log(path);
  CHECK(read_file(path) == "step\n");
  const std::size_t big = 1u << 31;
  log.log(0, {{"loss", 0.1}, {"f", 0.1f}, {"big", big}, {"note", "a, \"b\"\nc"}, {"t", tensor(2.5)}});
  log.log(1, {{"t", tensor(7)}, {"loss", kNaN}, {"f", -std::numeric_limits<double>::infinity()}});
  log.log(2, {{"loss", 1e300}, {"f", tensor(0.1f).to(kBFloat16)}, {"t", tensor(1.0 / 3, kDouble)}});
  CHECK(read_file(path) ==
        "step,loss,f,big,note,t\n"
        "0,0.1,0.1,2147483648,\"a, \"\"b\"\"\nc\",2.5\n"
        "1,nan,-inf,,,7\n"
        "2,1e+300,0.100097656,,,0.3333333333333333\n");
  const data::CSV table = data::read_csv(path, data::CSVOptions().dtype(kDouble));
  CHECK(table.column("step").sum().item<double>() == 3);
  CHECK(table.column("loss")[2].item<double>() == 1e300);
  CHECK(table.text("note")[0] == "a, \"b\"\nc");
}

TEST_CASE("CSVLogger adds a column for a new name and leaves earlier cells empty") {
  const std::string path = support::temporary("columns.csv");
  CSVLogger log(path);
  log.log(0, {{"loss", 4}, {"note", "x,y"}});
  log.log(1, {{"val,loss", 3}, {"loss", 2}});
  log.log(2, {});
  CHECK(read_file(path) == "step,loss,note,\"val,loss\"\n0,4,\"x,y\",\n1,2,,3\n2,,,\n");
}

TEST_CASE("CSVLogger keeps the rows before the step from which a run continues") {
  const std::string path = support::temporary("resumed.csv");
  {
    CSVLogger log(path, 3);  // there is no file yet
    for (int i = 0; i < 5; ++i) log.log(i, {{"loss", i}, {"note", "a\n\"b\""}});
  }
  {
    std::string cut = read_file(path);
    support::write_file(path, cut + "5,1");  // a line that a killed process has not completed
    CSVLogger log(path, 6);
    log.log(6, {{"loss", 6}});
    CHECK(read_file(path) == cut + "6,6,\n");
  }
  CSVLogger log(path, 2);
  log.log(2, {{"accuracy", 0.5}, {"loss", 7}});
  CHECK(read_file(path) ==
        "step,loss,note,accuracy\n0,0,\"a\n\"\"b\"\"\",\n1,1,\"a\n\"\"b\"\"\",\n2,7,,0.5\n");
  // A spreadsheet wrote the file.
  support::write_file(path, "\"step\",\"loss\"\r\n\"0\",1\r\n\"1\",5\r\n");
  CSVLogger(path, 1).log(1, {{"loss", 2}});
  CHECK(read_file(path) == "step,loss\n\"0\",1\n1,2\n");
  CSVLogger again(path);
  CHECK(read_file(path) == "step\n");
}

TEST_CASE("CSVLogger refuses the file of another program and names that it cannot write") {
  const support::Folder folder;
  support::write_file(folder / "other.csv", "name,age\nx,3\n");
  CHECK_THROWS_MATCHES(CSVLogger(folder / "other.csv", 1), Error, Saying("begins with \"name\""));
  CHECK(read_file(folder / "other.csv") == "name,age\nx,3\n");
  CHECK_THROWS_MATCHES(CSVLogger(""), Error, Saying("path is empty"));
  CHECK_THROWS_AS(CSVLogger("/proc/self/nothing/log.csv"), std::exception);
  CSVLogger log(folder / "log.csv");
  CHECK_THROWS_MATCHES(log.log(0, {{"step", 1}}), Error, Saying("name of the first column"));
  CHECK_THROWS_MATCHES(log.log(0, {{"x", zeros({2})}}), Error, Saying("tensor of one element"));
  CHECK_THROWS_MATCHES(log.log(0, {{"x", Variable()}}), Error, Saying("tensor of one element"));
  CHECK(read_file(folder / "log.csv") == "step\n");
  // A refused row leaves no column behind.
  CHECK_THROWS_MATCHES(log.log(0, {{"new", 1}, {"step", 1}}), Error, Saying("name of the first column"));
  log.log(0, {{"x", 1}});
  CHECK(read_file(folder / "log.csv") == "step,x\n0,1\n");
  support::write_file(folder / "twice.csv", "step,x,x\n0,1,2\n");
  CHECK_THROWS_MATCHES(CSVLogger(folder / "twice.csv", 1), Error, Saying("twice.csv\": two columns"));
  support::write_file(folder / "blank.csv", "\n");
  CHECK_THROWS_MATCHES(CSVLogger(folder / "blank.csv", 1), Error, Saying("begins with \"\""));
}

TEST_CASE("CSVLogger leaves whole rows if the file cannot grow") {
  const support::Folder folder;
  const std::string path = folder / "full.csv";
  CHECK(support::status_of_child([&] {
          CSVLogger log(path);
          log.log(0, {{"text", "first"}});
          std::signal(SIGXFSZ, SIG_IGN);
          const rlim_t size = std::filesystem::file_size(path) + 5;
          const rlimit limit{size, size};
          setrlimit(RLIMIT_FSIZE, &limit);
          try {
            log.log(1, {{"text", "a longer row"}});
          } catch (const Error& e) {
            return std::string(e.what()).find(path + "\": No space left") != std::string::npos;
          }
          return false;
        }) == 0);
  CHECK(read_file(path) == "step,text\n0,first\n");
}

TEST_CASE("CSVLogger leaves whole rows when it is killed at any system call") {
  const support::Folder folder;
  const std::string path = folder / "killed.csv";
  const auto body = [&] {
    CSVLogger log(path, 1);
    log.log(1, {{"loss", 1}});
    log.log(2, {{"loss", 2}, {"accuracy", 3}});
  };
  const std::string before = "step,loss\n0,0\n";
  const std::set<std::string> whole{before, before + "1,1\n", "step,loss,accuracy\n0,0,\n1,1,\n2,2,3\n"};
  bool killed = true;
  int call = 0;
  for (; killed && call < 100; ++call) {
    support::write_file(path, before);
    killed = support::is_killed_at(call, body);
    INFO("call " << call);
    REQUIRE(whole.count(read_file(path)) == 1);
  }
  CHECK(call > 10);
  CHECK(read_file(path) == *whole.rbegin());
}

TEST_CASE("CSVLogger writes nothing on a rank other than 0") {
  if (const char* path = std::getenv("EBB_TEST_RANK_1")) {  // the process that the other branch starts
    CSVLogger log(path, 1);
    log.log(0, {{"loss", 1}});
    return;
  }
  const support::Folder folder;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string start = " '" + self + "' 'CSVLogger writes nothing on a rank other than 0' > /dev/null";
  CHECK(std::system(("RANK=1 EBB_TEST_RANK_1='" + (folder / "1.csv") + "'" + start).c_str()) == 0);
  CHECK(folder.names().empty());
  CHECK(std::system(("RANK=0 EBB_TEST_RANK_1='" + (folder / "0.csv") + "'" + start).c_str()) == 0);
  CHECK(folder.names() == std::set<std::string>{"0.csv"});
}

TEST_CASE("EarlyStopping stops after patience steps without improvement") {
  using Options = EarlyStoppingOptions;
  CHECK(stops_after(EarlyStopping(), {3, 2, 2, 2.5, 2}) == 5);
  CHECK(stops_after(EarlyStopping(), {3, 2, 2, 2.5, 1.9, 2, 2}) == -1);
  CHECK(stops_after(EarlyStopping(Options().patience(1)), {3, 2, 1, 1}) == 4);
  CHECK(stops_after(EarlyStopping(Options().patience(0)), {1, 2, 3, 4, 5, 6, 7}) == -1);
  CHECK(stops_after(EarlyStopping(Options().mode(Mode::max).patience(2)), {0.5, 0.6, 0.6, 0.5}) == 4);
  CHECK(stops_after(EarlyStopping(Options().min_delta(0.5).patience(2)), {3, 2.6, 2.5, 1}) == 3);
  CHECK(stops_after(EarlyStopping(Options().min_delta(0.5).patience(2)), {3, 2.6, 2.4, 2.3, 2.2}) == 5);
  CHECK(stops_after(EarlyStopping(Options().warmup(3).patience(2)), {0, 0, 0, 3, 3, 2, 3, 3}) == 8);
}

TEST_CASE("EarlyStopping stops at NaN and infinities unless it does not check them") {
  EarlyStopping stopping;
  CHECK_FALSE(stopping.step(1));
  CHECK(stopping.step(kNaN));
  CHECK(stopping.reason() == "The metric is nan at step 1.");
  CHECK(stopping.best() == 1);
  CHECK_FALSE(stopping.improved());
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(stops_after(EarlyStopping(), {infinity}) == 1);
  const auto unchecked = EarlyStoppingOptions().check_finite(false);
  CHECK(stops_after(EarlyStopping(unchecked), {kNaN, 1, kNaN, infinity, kNaN}) == 5);
}

TEST_CASE("EarlyStopping names the best step and its value") {
  EarlyStopping stopping(EarlyStoppingOptions().mode(Mode::max).patience(2));
  CHECK(stopping.best() == -std::numeric_limits<double>::infinity());
  CHECK(stopping.best_step() == -1);
  CHECK_FALSE(stopping.improved());
  std::string saved;
  for (const double value : {0.5, 0.75, 0.25, 0.75}) {
    stopping.step(value);
    saved += stopping.improved() ? 'x' : '-';
  }
  CHECK(saved == "xx--");
  CHECK(stopping.best() == 0.75);
  CHECK(stopping.best_step() == 1);
  CHECK(stopping.should_stop());
  CHECK(stopping.reason() == "The metric has not improved on 0.75 for 2 steps.");
  CHECK_THROWS_MATCHES(EarlyStopping(EarlyStoppingOptions().patience(-1)), Error, Saying("patience -1"));
  CHECK_THROWS_MATCHES(EarlyStopping(EarlyStoppingOptions().min_delta(-1)), Error, Saying("min_delta -1"));
}

TEST_CASE("EarlyStopping stops at the next step if it continues with less patience than it has used") {
  EarlyStopping patient(EarlyStoppingOptions().patience(10)), hasty(EarlyStoppingOptions().patience(2));
  for (const double value : {1, 2, 3, 4}) patient.step(value);
  serialize::OutputArchive out;
  patient.save(out);
  const support::Folder folder;
  out.save_to(folder / "stopping.safetensors");
  serialize::InputArchive in;
  in.load_from(folder / "stopping.safetensors");
  hasty.load(in);
  CHECK_FALSE(hasty.should_stop());
  CHECK(hasty.step(5));
  CHECK(hasty.reason() == "The metric has not improved on 1 for 4 steps.");
}

TEST_CASE("EarlyStopping and the best model continue from a checkpoint as without an interruption") {
  const support::Folder folder;
  const std::vector<double> losses{4, 3, 3.5, 2, 2.5, 2.25, 2, 1};
  for (std::size_t stop = 0; stop < losses.size(); ++stop) {
    std::int64_t epoch = 0;
    nn::Linear best(1, 1);
    for (int part = 0; part < 2; ++part) {
      nn::Linear model(1, 1);
      EarlyStopping stopping;
      Checkpoint run(folder / "run.ckpt");
      run.add("model", model).add("epoch", epoch).add("stopping", stopping);
      if (part == 1) CHECK(run.load());
      for (; epoch < 8 && !stopping.should_stop(); ++epoch) {
        if (part == 0 && epoch == static_cast<std::int64_t>(stop)) break;
        NoGradGuard no_grad;
        model->weight.fill_(static_cast<double>(epoch));
        stopping.step(losses[static_cast<std::size_t>(epoch)]);
        if (stopping.improved()) save(model, folder / "best.safetensors");
      }
      run.save();
      if (part == 1) {
        CHECK(epoch == 7);
        CHECK(stopping.best_step() == 3);
        CHECK(stopping.reason() == "The metric has not improved on 2 for 3 steps.");
      }
    }
    load(best, folder / "best.safetensors");
    CHECK(best->weight.item<double>() == 3);
  }
}
