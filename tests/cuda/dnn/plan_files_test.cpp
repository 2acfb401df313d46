// Plans in files, and plans shared by threads and runs of a program, for a described device.
#include "cuda/dnn/plans.h"
#include "cuda/nvidia/dnn/shared_plans.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/scopes.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

// PlanFiles: only plans that were written are read.

using namespace ebb;
using namespace ebb::cuda;
using namespace ebb::cuda::dnn;
using support::Environment, support::read_file, support::write_file;
namespace fs = std::filesystem;

namespace {

// A folder that PlanFiles must create.
struct Folder {
  support::Folder above;
  fs::path path = above.path() / "cudnn";
  std::vector<fs::path> files() const { return support::files_in(path); }
};

Problem problem(std::int64_t rows) {
  const NdArray x = array({rows, 4, 5, 5}, kFloat);
  return Problem(Operation::batch_norm, x, x);
}
}  // namespace

TEST_CASE("a cached plan is found by its problem, library version and device") {
  const Folder folder;
  PlanFiles files(folder.path, "cuDNN 1 on a device");
  CHECK_FALSE(files.load(problem(3)));
  const std::string plan("{\"plan\"\0: 1}\n\n", 15);
  files.save(problem(3), plan);
  files.save(problem(4), "another");
  CHECK(files.load(problem(3)) == plan);
  CHECK(files.load(problem(4)) == "another");
  CHECK_FALSE(files.load(problem(5)));
  CHECK(PlanFiles(folder.path, "cuDNN 1 on a device").load(problem(3)) == plan);
  CHECK_FALSE(PlanFiles(folder.path, "cuDNN 2 on a device").load(problem(3)));
  Problem elsewhere = problem(3);  // every program numbers devices anew
  elsewhere.device = 1;
  CHECK(files.load(elsewhere) == plan);
  files.save(problem(3), "newer");
  CHECK(files.load(problem(3)) == "newer");
  CHECK(folder.files().size() == 2);
  files.remove(problem(3));
  CHECK_FALSE(files.load(problem(3)));
  CHECK(files.load(problem(4)) == "another");
}

TEST_CASE("a plan file with any damaged byte is ignored") {
  const Folder folder;
  PlanFiles files(folder.path, "whom");
  files.save(problem(3), "a plan of some length");
  REQUIRE(folder.files().size() == 1);
  const fs::path path = folder.files()[0];
  const std::string whole = read_file(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string bad = whole;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    write_file(path, bad);
    REQUIRE_FALSE(files.load(problem(3)));
    write_file(path, whole.substr(0, i));
    REQUIRE_FALSE(files.load(problem(3)));
  }
  write_file(path, whole + 'x');
  CHECK_FALSE(files.load(problem(3)));
  // The plan of another problem under the file name of this one.
  files.save(problem(4), "another");
  std::vector<fs::path> both = folder.files();
  const fs::path other = both[0] == path ? both[1] : both[0];
  write_file(path, read_file(other));
  CHECK_FALSE(files.load(problem(3)));
  write_file(path, whole);
  CHECK(files.load(problem(3)) == "a plan of some length");
}

TEST_CASE("a plan cache without a usable folder stores nothing and does not fail") {
  PlanFiles nowhere({}, "whom");
  nowhere.save(problem(3), "plan");
  CHECK_FALSE(nowhere.load(problem(3)));
  const Folder folder;
  write_file(folder.path, "a file where the folder should be");
  PlanFiles blocked(folder.path, "whom");
  CHECK_NOTHROW(blocked.save(problem(3), "plan"));
  CHECK_FALSE(blocked.load(problem(3)));
  CHECK_NOTHROW(blocked.remove(problem(3)));
  fs::remove(folder.path);
  PlanFiles few(folder.path, "whom", 2);
  for (std::int64_t rows = 1; rows <= 4; ++rows) few.save(problem(rows), "plan");
  CHECK(folder.files().size() == 2);
  few.save(problem(2), "newer");  // takes no additional space
  CHECK(few.load(problem(2)) == "newer");
  PlanFiles(folder.path, "whom").save(problem(5), "");  // an engine without a text
  CHECK(folder.files().size() == 2);
}

TEST_CASE("concurrent readers never read a partly written plan") {
  const Folder folder;
  PlanFiles files(folder.path, "whom");
  const std::string plans[] = {std::string(100'000, 'a'), std::string(50'000, 'b')};
  files.save(problem(3), plans[0]);
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; ++w)
    writers.emplace_back([&, w] {
      PlanFiles own(folder.path, "whom");
      for (int i = 0; i < 50; ++i) own.save(problem(3), plans[w]);
    });
  std::size_t strange = 0;
  for (int i = 0; i < 200; ++i) {
    const auto plan = files.load(problem(3));
    strange += !plan || std::ranges::find(plans, *plan) == std::end(plans);
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(strange == 0);
  CHECK(folder.files().size() == 1);
}

TEST_CASE("environment variables select or disable the folder of plans") {
  const Environment no_cache("EBB_CACHE_DIR"), no_data("XDG_CACHE_HOME");
  {
    const Environment own("EBB_CACHE_DIR", "/somewhere");
    CHECK(cache_folder() == "/somewhere");
  }
  {
    const Environment none("EBB_CACHE_DIR", "");
    CHECK(cache_folder().empty());
  }
  const Environment home("HOME", "/me");
  {
    const Environment data("XDG_CACHE_HOME", "/caches");
    CHECK(cache_folder() == "/caches/ebb");
  }
  {
    const Environment relative("XDG_CACHE_HOME", "caches");
    CHECK(cache_folder() == "/me/.cache/ebb");
  }
  CHECK(cache_folder() == "/me/.cache/ebb");
}

// SharedPlans: plans that threads and runs of a program share, for a described device.

namespace fs = std::filesystem;

namespace {

struct Request {
  NdArray x = array({8, 64, 6, 6}, kHalf, true), a_channel = array({64}, kFloat);
  DnnBatchNorm norm{.in = x,
                    .out = x,
                    .mean = a_channel,
                    .rstd = a_channel,
                    .weight = a_channel,
                    .bias = a_channel,
                    .eps = 1e-5F};
  Task task = task_of(norm);
};

Answer made(const Task& task, std::atomic<int>& count) {
  ++count;
  Answer answer;
  answer.graph = task.graph(task.problem, described_target());
  std::vector<Plan> plans = make_plans(task.problem, *answer.graph, described_target(), 1, INT64_MAX);
  if (!plans.empty()) answer.plan = std::move(plans[0]);
  return answer;
}

}  // namespace

TEST_CASE("a plan is unchanged by a round trip through text") {
  const Request request;
  std::atomic<int> count{0};
  const Answer answer = made(request.task, count);
  REQUIRE(answer.plan);
  const std::string text = text_of(*answer.plan);
  REQUIRE_FALSE(text.empty());
  const std::optional<Plan> again = plan_from(text, described_target());
  REQUIRE(again);
  CHECK(again->workspace == answer.plan->workspace);
  CHECK(text_of(*again) == text);
  CHECK_FALSE(plan_from(text.substr(0, text.size() / 2), described_target()));
  CHECK_FALSE(plan_from("{}", described_target()));
  CHECK_FALSE(plan_from("", described_target()));
}

TEST_CASE("one thread builds a plan and other threads deserialize their own copy") {
  const Request request;
  PlanFiles nowhere({}, "");
  SharedPlans shared(nowhere, 10);
  std::atomic<int> count{0};
  std::vector<Answer> answers(4);
  std::vector<std::thread> threads;
  for (Answer& answer : answers)
    threads.emplace_back([&] {
      answer = shared.answer_to(request.task.problem, described_target(),
                                [&] { return made(request.task, count); });
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(count == 1);
  int with_graph = 0;
  for (const Answer& answer : answers) {
    REQUIRE(answer.plan);
    CHECK(answer.plan->workspace == answers[0].plan->workspace);
    with_graph += answer.graph.has_value();
    for (const Answer& other : answers)
      if (&other != &answer) CHECK(answer.plan->plan.raw() != other.plan->plan.raw());
  }
  CHECK(with_graph == 1);
}

TEST_CASE("the next run reads cached plans and rebuilds damaged ones") {
  const Request request;
  const support::Folder folder;
  std::atomic<int> count{0};
  const auto run = [&] {
    PlanFiles files(folder.path(), "a device");
    SharedPlans shared(files, 10);
    return shared.answer_to(request.task.problem, described_target(),
                            [&] { return made(request.task, count); });
  };
  const Answer first = run();
  CHECK(count == 1);
  const Answer second = run();
  CHECK(count == 1);
  CHECK_FALSE(second.graph);
  REQUIRE(second.plan);
  CHECK(second.plan->workspace == first.plan->workspace);
  for (const auto& file : support::files_in(folder.path())) fs::resize_file(file, fs::file_size(file) - 9);
  CHECK(run().graph);
  CHECK(count == 2);
  CHECK_FALSE(run().graph);  // it was written again
  // A complete file that cuDNN cannot parse is replaced as well.
  PlanFiles(folder.path(), "a device").save(request.task.problem, "{\"cudnnVersion\": 1}");
  CHECK(run().graph);
  CHECK(count == 3);
}

TEST_CASE("a cached plan that fails to run is rebuilt or abandoned") {
  const Request request;
  const support::Folder folder;
  PlanFiles files(folder.path(), "a device");
  SharedPlans shared(files, 10);
  std::atomic<int> count{0};
  const auto ask = [&] {
    return shared.answer_to(request.task.problem, described_target(),
                            [&] { return made(request.task, count); });
  };
  ask();
  CHECK_FALSE(ask().graph);
  shared.forget(request.task.problem);
  CHECK(ask().graph);
  CHECK(count == 2);
  shared.give_up(request.task.problem);
  CHECK_FALSE(ask().plan);
  CHECK(count == 2);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a problem without a plan is looked up only once for all threads") {
  const Request request;
  PlanFiles nowhere({}, "");
  SharedPlans shared(nowhere, 10);
  int count = 0;
  for (int i = 0; i < 3; ++i)
    CHECK_FALSE(shared
                    .answer_to(request.task.problem, described_target(),
                               [&] {
                                 ++count;
                                 return Answer();
                               })
                    .plan);
  CHECK(count == 1);
}
