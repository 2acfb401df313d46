// ProcessGroup, Work, init and others: which processes compute together.
#include <ebb/distributed/process_group.h>

#include "distributed/engine.h"

#include <algorithm>
#include <cstdlib>

namespace ebb::distributed {
namespace {
detail::Engine* engine = nullptr;  // never destroyed while threads may use it
}

using detail::Engine;

Engine& Engine::get(const char* function) {
  EBB_CHECK(
      engine, "distributed::", function,
      ": there is no process group. Call ebb::distributed::init() first, and destroy_process_group() last");
  return *engine;
}

const char* to_string(Collective kind) {
  constexpr const char* kNames[] = {"all_reduce",     "reduce",     "broadcast", "all_gather",
                                    "reduce_scatter", "all_to_all", "gather",    "scatter",
                                    "send",           "recv",       "barrier"};
  return kNames[static_cast<int>(kind)];
}

const std::shared_ptr<detail::Group>& ProcessGroup::checked() const {
  return group_ ? group_ : Engine::get("ProcessGroup").world();
}
int ProcessGroup::rank() const { return checked()->rank; }
int ProcessGroup::size() const { return checked()->size(); }
std::vector<int> ProcessGroup::ranks() const { return checked()->ranks; }
std::string ProcessGroup::backend() const { return Engine::get("ProcessGroup::backend").backend(); }
int ProcessGroup::id() const { return group_ ? group_->id : 0; }

void init(InitOptions options) {
  EBB_CHECK(!engine, "distributed::init: was called before, with the backend \"", engine->backend(),
            "\". Call it once, or destroy_process_group() before");
  engine = new Engine(options);
  // Registered after the plugin was opened, so that it runs before the destructors of the plugin's libraries.
  static const int registered = std::atexit(&destroy_process_group);
  static_cast<void>(registered);
}
bool is_initialized() { return engine != nullptr; }
void destroy_process_group() {
  Engine* const left = std::exchange(engine, nullptr);
  if (left && left->leave()) delete left;
}
int rank(const ProcessGroup& group) { return group.rank(); }
int world_size(const ProcessGroup& group) { return group.size(); }
int local_rank() { return read_launch().local_rank; }

ProcessGroup new_group(const std::vector<int>& ranks) {
  Engine& world = Engine::get("new_group");
  const int size = world_size();
  std::string list;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    EBB_CHECK(ranks[i] >= 0 && ranks[i] < size, "distributed::new_group: rank ", ranks[i],
              " is not in the world of ", size, " ranks");
    EBB_CHECK(std::count(ranks.begin(), ranks.end(), ranks[i]) == 1, "distributed::new_group: rank ",
              ranks[i], " is in the list twice. Name each rank once");
    list += ebb::detail::text(i == 0 ? "" : ", ", ranks[i]);
  }
  EBB_CHECK(!ranks.empty(), "distributed::new_group: the list of ranks is empty. Name at least one rank");
  // All ranks agree before any of them waits for the others inside the backend.
  const auto task = std::make_shared<detail::Task>();
  task->group = world.world();
  task->request.kind = Collective::barrier;
  task->terms = "new_group of ranks " + list;
  world.submit(task, /*wakes=*/false);
  Work(task).wait();
  return ProcessGroup(world.add_group(ranks));
}

void Work::wait() {
  if (!task_) return;
  if (!task_->is_ready()) Engine::get("Work::wait").wait(*task_);
  EBB_CHECK(task_->state != detail::Task::State::failed, task_->error);
  if (task_->operation)
    if (const cuda::Event* const done = task_->operation->done())
      cuda::Stream::current(task_->request.device).wait(*done);
  if (task_->finish) std::exchange(task_->finish, {})();
}

bool Work::is_completed() const { return !task_ || task_->has_ended(); }

int Work::source_rank() const {
  EBB_CHECK(
      task_ && task_->state == detail::Task::State::done, "distributed::Work::source_rank: ",
      task_ ? "the message has not been received yet. Call wait() first" : "this Work received nothing");
  return task_->operation->source();
}

}  // namespace ebb::distributed
