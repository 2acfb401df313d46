// Plans that threads and runs of a program share, for a device that is only described.
#include "cuda/nvidia/dnn/shared_plans.h"

#include <atomic>
#include <thread>
#include <vector>

#include "cuda/dnn/plans.h"
#include "support/catch.h"
#include "support/files.h"

using namespace ebb;
using namespace ebb::cuda;
using namespace ebb::cuda::dnn;
namespace fs = std::filesystem;

namespace {

struct Asked {
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

TEST_CASE("every plan can be written down and read again") {
  const Asked asked;
  std::atomic<int> count{0};
  const Answer answer = made(asked.task, count);
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

TEST_CASE("threads have plans of their own, of which one is made and the others are read") {
  const Asked asked;
  PlanFiles nowhere({}, "");
  SharedPlans shared(nowhere, 10);
  std::atomic<int> count{0};
  std::vector<Answer> answers(4);
  std::vector<std::thread> threads;
  for (Answer& answer : answers)
    threads.emplace_back([&] {
      answer =
          shared.answer_to(asked.task.problem, described_target(), [&] { return made(asked.task, count); });
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

TEST_CASE("the next run reads what the last one made, unless it is damaged") {
  const Asked asked;
  const support::Folder folder;
  std::atomic<int> count{0};
  const auto run = [&] {
    PlanFiles files(folder.path(), "a device");
    SharedPlans shared(files, 10);
    return shared.answer_to(asked.task.problem, described_target(), [&] { return made(asked.task, count); });
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
  CHECK_FALSE(run().graph);  // it was written anew
  // What is whole, but no plan to cuDNN, is made anew as well.
  PlanFiles(folder.path(), "a device").save(asked.task.problem, "{\"cudnnVersion\": 1}");
  CHECK(run().graph);
  CHECK(count == 3);
}

TEST_CASE("plans that do not run are made anew, or given up") {
  const Asked asked;
  const support::Folder folder;
  PlanFiles files(folder.path(), "a device");
  SharedPlans shared(files, 10);
  std::atomic<int> count{0};
  const auto ask = [&] {
    return shared.answer_to(asked.task.problem, described_target(), [&] { return made(asked.task, count); });
  };
  ask();
  CHECK_FALSE(ask().graph);
  shared.forget(asked.task.problem);
  CHECK(ask().graph);
  CHECK(count == 2);
  shared.give_up(asked.task.problem);
  CHECK_FALSE(ask().plan);
  CHECK(count == 2);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a problem without a plan has none for anybody, and is asked once") {
  const Asked asked;
  PlanFiles nowhere({}, "");
  SharedPlans shared(nowhere, 10);
  int count = 0;
  for (int i = 0; i < 3; ++i)
    CHECK_FALSE(shared
                    .answer_to(asked.task.problem, described_target(),
                               [&] {
                                 ++count;
                                 return Answer();
                               })
                    .plan);
  CHECK(count == 1);
}
