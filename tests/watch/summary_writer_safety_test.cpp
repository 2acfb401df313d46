// SummaryWriter when it is killed, forked, used by many threads, and when the disk is full; ranks; add_graph.
#include <ebb/ebb.h>
#include <ebb/watch/summary_writer.h>

#include "event_reader.h"
#include "support/catch.h"
#include "support/child.h"
#include "support/files.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

using namespace ebb;
using events::events_of;
using support::Contains;
using support::Folder;
using support::Saying;
using watch::SummaryWriter;

namespace {

// Returns the nodes of add_graph, one a line.
std::vector<std::string> graph_of(auto& net, const Tensor& input) {
  const Folder folder;
  SummaryWriter writer(folder.path());
  writer.add_graph(net, input);
  std::vector<std::string> lines;
  for (const std::string& event : events_of(folder.path())) {
    if (!event.starts_with(". 0 node ")) continue;
    const std::size_t name = 9, op = event.find(' ', name), inputs = event.find(" (", op);
    std::string line =
        event.substr(name, op - name) + " =" + event.substr(op, inputs - op) + event.substr(inputs + 1);
    for (auto at = line.find("]["); at != line.npos; at = line.find("][", at)) line.insert(at + 1, " ");
    lines.push_back(line);
  }
  return lines;
}

struct OffRecorder : watch::Recorder {
  OffRecorder() : Recorder(false) {}
  void write(watch::Record&&) override { FAIL("an off recorder wrote"); }
};

struct NetImpl : nn::Module {
  NetImpl() {
    fc1 = register_module("fc1", nn::Linear(4, 4));
    norm = register_module("norm", nn::BatchNorm1d(4));
    drop = register_module("drop", nn::Dropout(0.5));
    fc1->weight.requires_grad_(false);
  }
  std::tuple<Tensor, Tensor> forward(const Tensor& x) {
    const Tensor y = drop(norm(fc1(x))) + x;
    const auto halves = y.chunk(2, 1);
    return {halves.at(1) * 2, y.argmax(1)};
  }
  nn::Linear fc1{nullptr};
  nn::BatchNorm1d norm{nullptr};
  nn::Dropout drop{nullptr};
};
EBB_MODULE(Net);

constexpr const char* kRankTest = "a process of rank 1 writes only if it is asked to";

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a writer that is killed at any system call leaves whole records and no others") {
  const std::string text(100000, 'x');
  int kills = 0;
  for (bool killed = true; killed; ++kills) {
    const Folder folder;
    killed = support::is_killed_at(kills, [&] {
      SummaryWriter writer(folder.path());
      for (int step = 0; step < 3; ++step) writer.add_text("x", text, step);
    });
    if (events::files_below(folder.path()).empty()) continue;
    const std::size_t lines = events_of(folder.path()).size();
    CHECK(lines <= 4);
    if (!killed) CHECK(lines == 4);
  }
  CHECK(kills > 4);  // each record is written by a call of its own
}

TEST_CASE("a writer that is killed at a random moment leaves a file that is whole up to its last record") {
  for (int kill = 0; kill < support::kills(); ++kill) {
    const Folder folder;
    support::kill_at_random(static_cast<unsigned>(kill), [&] {
      SummaryWriter writer(folder.path());
      for (int step = 0; step < 20; ++step) writer.add_text("x", std::string(50000, 'x'), step);
    });
    std::size_t rest = 0;
    for (const auto& file : events::files_below(folder.path()))
      events::records(support::read_file(file), &rest);
  }
}

TEST_CASE("a record that does not fit on the disk is an error and later records follow the whole ones") {
  const Folder folder;
  const auto run = [&] {
    ::signal(SIGXFSZ, SIG_IGN);
    SummaryWriter writer(folder.path());
    writer.add_scalar("x", 1, 1);
    struct rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const struct rlimit few_bytes{500, limit.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &few_bytes);
    bool named = false;
    try {
      writer.add_text("long", std::string(1000, 'x'), 2);
    } catch (const Error& error) {
      const std::string what = error.what();
      named = what.find(folder.path()) != what.npos && what.find("File too large") != what.npos;
    }
    writer.add_scalar("x", 2, 2);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    writer.add_text("long", "fits", 3);
    return named;
  };
  CHECK(support::status_of_child(run) == 0);
  CHECK(events_of(folder.path()) == std::vector<std::string>{". 0 brain.Event:2", ". 1 scalar x 1",
                                                             ". 2 scalar x 2",
                                                             ". 3 text long/text_summary  7 [1] 66697473"});
}

TEST_CASE("a forked child cannot write to its parent's file") {
  const Folder folder;
  SummaryWriter writer(folder.path());
  writer.add_scalar("x", 1, 1);
  const auto fails = [&] {
    writer.flush();
    writer.close();
    try {
      writer.add_scalar("x", 2, 2);
    } catch (const Error& error) {
      SummaryWriter own(folder / "child");
      own.add_scalar("x", 3, 3);
      return std::string(error.what()).find("forked child") != std::string::npos;
    }
    return false;
  };
  CHECK(support::status_of_child(fails) == 0);
  writer.add_scalar("x", 4, 4);
  CHECK(events_of(folder.path()) == std::vector<std::string>{". 0 brain.Event:2", ". 1 scalar x 1",
                                                             ". 4 scalar x 4", "child 0 brain.Event:2",
                                                             "child 3 scalar x 3"});
}
#endif

TEST_CASE("records of many threads are all written") {
  const Folder folder;
  SummaryWriter writer(folder.path());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&writer, thread] {
      for (int step = 0; step < 50; ++step) writer.add_scalar(std::to_string(thread), step, step);
    });
  for (std::thread& thread : threads) thread.join();
  const auto lines = events_of(folder.path());
  CHECK(lines.size() == 401);
  CHECK(std::set<std::string>(lines.begin(), lines.end()).size() == 401);
}

TEST_CASE("add_hparams of more runs than a process may have open files succeeds") {
  const Folder folder;
  SummaryWriter writer(folder.path());
  for (int run = 0; run < 150; ++run) writer.add_hparams({{"lr", run}}, {}, "run" + std::to_string(run));
  CHECK(support::files_in("/proc/self/fd").size() < 120);
  CHECK(events_of(folder.path()).size() == 601);
}

TEST_CASE("only the first file of a resumed run hides earlier records") {
  const Folder folder;
  SummaryWriter writer(folder.path(), watch::SummaryWriterOptions().purge_step(2));
  writer.add_scalar("x", 1, 5);
  writer.close();
  writer.add_scalar("x", 2, 6);
  CHECK(events_of(folder.path()) == std::vector<std::string>{". 0 brain.Event:2", ". 2 session 1",
                                                             ". 5 scalar x 1", ". 0 brain.Event:2",
                                                             ". 6 scalar x 2"});
}

TEST_CASE("a folder that cannot be created is an error that names it") {
  const Folder folder;
  support::write_file(folder.path() / "file", "");
  CHECK_THROWS_MATCHES(
      SummaryWriter(folder / "file/run"), Error,
      Saying("SummaryWriter cannot create the folder \"" + folder / "file/run\": Not a directory."));
}

TEST_CASE(kRankTest) {
  if (!std::getenv("EBB_TEST_RANK_FOLDER")) {
    const Folder folder;
    const std::string command = "RANK=1 EBB_TEST_RANK_FOLDER=" + folder.path().string() + " " +
                                std::filesystem::read_symlink("/proc/self/exe").string() + " '" + kRankTest +
                                "' >/dev/null";
    CHECK(std::system(command.c_str()) == 0);
    CHECK(folder.names() == std::set<std::string>{"asked"});
    return;
  }
  const std::string folder = std::getenv("EBB_TEST_RANK_FOLDER");
  SummaryWriter silent(folder + "/silent"),
      asked(folder + "/asked", watch::SummaryWriterOptions().all_ranks(true));
  silent.add_scalar("x", 1);
  silent.flush();
  silent.close();
  asked.add_scalar("x", 1);
  CHECK(events_of(folder).size() == 2);
}

TEST_CASE("a recorder that is off writes nothing and reads no tensor") {
  OffRecorder recorder;
  recorder.add_scalar("x", 1);
  recorder.add_scalar("x", ones({1}));
  recorder.add_histogram("x", ones({2}));
  recorder.add_image("x", ones({3, 4, 4}));
  recorder.add_pr_curve("x", full({1}, 7), full({1}, 7));  // the values would be refused
  recorder.add_hparams({}, {});
  Net net;
  recorder.add_graph(net, ones({2, 4}));
}

TEST_CASE("add_graph records ops by module with residual edges and frozen parameters") {
  Net net;
  CHECK(graph_of(net, ones({2, 4})) ==
        std::vector<std::string>{
            "input = Input() [2,4]", "Net/Linear[fc1]/weight = Parameter() [4,4]",
            "Net/Linear[fc1]/bias = Parameter() [4]", "Net/BatchNorm1d[norm]/weight = Parameter() [4]",
            "Net/BatchNorm1d[norm]/bias = Parameter() [4]",
            "Net/Linear[fc1]/Addmm = Addmm(Net/Linear[fc1]/bias, input, Net/Linear[fc1]/weight) [2,4]",
            "Net/BatchNorm1d[norm]/NativeBatchNorm = NativeBatchNorm(Net/Linear[fc1]/Addmm, "
            "Net/BatchNorm1d[norm]/weight, Net/BatchNorm1d[norm]/bias) [2,4]",
            "Net/Dropout[drop]/Mul = Mul(Net/BatchNorm1d[norm]/NativeBatchNorm) [2,4]",
            "Net/Add = Add(Net/Dropout[drop]/Mul, input) [2,4]", "Net/Split = Split(Net/Add) [2,2] [2,2]",
            "Net/Mul = Mul(Net/Split:1) [2,2]", "output = Output(Net/Mul) [2,2]", "output_1 = Output() [2]"});
}

TEST_CASE("add_graph changes neither the module nor its input nor the modes and generators") {
  Net net;
  const auto state = net->state_dict();
  std::vector<Tensor> before;
  for (const auto& item : state) before.push_back(item.value().clone());
  const Tensor x = rand({2, 4}), random = get_rng_state();
  {
    const NoGradGuard guard;
    CHECK(graph_of(net, x).size() > 5);
    CHECK_FALSE(GradMode::is_enabled());
  }
  std::size_t i = 0;
  for (const auto& item : net->state_dict()) CHECK(equal(item.value(), before[i++]));
  for (const auto& item : net->named_parameters()) {
    CHECK(item.value().requires_grad() == (item.key() != "fc1.weight"));
    CHECK_FALSE(item.value().grad().defined());
  }
  CHECK(net->is_training());
  CHECK_FALSE(x.requires_grad());
  CHECK(equal(get_rng_state(), random));
  CHECK_THROWS_AS(graph_of(net, ones({2, 5})), Error);
  CHECK(equal(get_rng_state(), random));
}

TEST_CASE("add_graph of integer inputs and shared modules names each node once") {
  nn::Linear shared(3, 3);
  nn::Sequential net(nn::Embedding(5, 3), shared, nn::ReLU(), shared);
  CHECK(
      graph_of(net, tensor({1, 2})) ==
      std::vector<std::string>{
          "input = Input() [2]", "Sequential/Embedding[0]/weight = Parameter() [5,3]",
          "Sequential/Linear[1]/weight = Parameter() [3,3]", "Sequential/Linear[1]/bias = Parameter() [3]",
          "Sequential/Embedding[0]/Embedding = Embedding(Sequential/Embedding[0]/weight) [2,3]",
          "Sequential/Linear[1]/Addmm = Addmm(Sequential/Linear[1]/bias, Sequential/Embedding[0]/Embedding, "
          "Sequential/Linear[1]/weight) [2,3]",
          "Sequential/ReLU[2]/Relu = Relu(Sequential/Linear[1]/Addmm) [2,3]",
          "Sequential/Linear[1]/Addmm_1 = Addmm(Sequential/Linear[1]/bias, Sequential/ReLU[2]/Relu, "
          "Sequential/Linear[1]/weight) [2,3]",
          "output = Output(Sequential/Linear[1]/Addmm_1) [2,3]"});
}
