// Engine: runs the collectives of this process, in order and within their time limits.
#include "distributed/engine.h"

#include <ebb/core/environment.h>
#include <ebb/core/start_thread.h>

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace ebb::distributed::detail {
namespace {

using namespace std::chrono_literals;

Engine* engine = nullptr;  // never destroyed while threads may use it

constexpr auto kSpin = 20us, kYield = 100us;

// The wait between two steps of a loop. It first yields, because small collectives end after some
// microseconds, and then sleeps for an eighth of the time without progress, so that backward has the cores.
class Pause {
 public:
  void operator()(bool moved) {
    const auto now = Clock::now();
    if (moved) last_move_ = now;
    const auto idle = now - last_move_;
    if (idle < kSpin) return;
    if (idle < kYield)
      sched_yield();
    else
      std::this_thread::sleep_for(std::min<Clock::duration>(idle / 8, 200us));
  }

 private:
  Clock::time_point last_move_ = Clock::now();
};

// A step that takes longer has moved data, so the next one should follow at once.
constexpr auto kIdleStep = 5us;
constexpr auto kNotesInterval = 1ms;

}  // namespace

bool Task::is_ready() const {
  const State now = state.load(std::memory_order_acquire);
  return now >= State::done || (now == State::running && operation->done());
}

std::string Task::name() const {
  return ebb::detail::text("distributed::", to_string(request.kind), ": rank ", group->rank, " of ",
                           static_cast<int>(group->ranks.size()),
                           is_message() ? ", message " : ", collective ", number, " of group ", group->id);
}

Engine& Engine::get(const char* function) {
  EBB_CHECK(
      engine, "distributed::", function,
      ": there is no process group. Call ebb::distributed::init() first, and destroy_process_group() last");
  return *engine;
}

bool Engine::is_started() { return engine != nullptr; }

void Engine::start(const InitOptions& options) {
  EBB_CHECK(!engine, "distributed::init: was called before, with the backend \"", engine->backend(),
            "\". Call it once, or destroy_process_group() before");
  engine = new Engine(options);
  // Registered after the plugin was opened, so that it runs before the destructors of the plugin's libraries.
  static const int registered = std::atexit([] { stop(); });
  static_cast<void>(registered);
}

void Engine::stop() {
  Engine* const stopped = std::exchange(engine, nullptr);
  if (!stopped) return;
  stopped->leave();
  stopped->stopping_ = true;
  stopped->wake_.notify_all();
  stopped->thread_.join();
  for (auto& [id, group] : stopped->groups_) stopped->fail(*group, "the process group was destroyed", false);
  if (stopped->abandoned_.empty() && stopped->helpers_ == 0) delete stopped;
}

Engine::Engine(const InitOptions& options)
    : debug_(options.debug() || ebb::detail::environment("EBB_DISTRIBUTED_DEBUG") != nullptr),
      timeout_(options.timeout()),
      backend_(options.backend()) {
  EBB_CHECK(timeout_ > 0ms, "distributed::init: the timeout is ", std::int64_t{timeout_.count()},
            " ms, but must be positive");
  Setup setup;
  setup.launch = read_launch();
  setup.timeout = timeout_;
  setup.open = [&setup](const std::string& backend) { return open_transport(backend, setup); };
  const int stated = setup.launch.world_size;
  if (backend_.empty()) backend_ = stated > 1 ? "mpi" : "self";
  std::unique_ptr<Transport> world = open_transport(backend_, setup);
  EBB_CHECK(world->size() == stated || setup.launch.launcher.empty(),
            "distributed::init: ", setup.launch.launcher, " states ", stated,
            " processes, but the backend \"", backend_, "\" has ", world->size(),
            ". Start the program with the launcher of the backend: `ebb run -n ", stated,
            " ./program`, or mpirun for \"mpi\"");
  std::vector<int> ranks(static_cast<std::size_t>(world->size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  const int own = world->rank();
  groups_[0] = std::make_shared<Group>(0, std::move(ranks), own, std::move(world));
  thread_ = ebb::detail::start_thread<std::thread>("distributed::init", [this] { run(); });
}

const std::shared_ptr<Group>& Engine::group(int id) {
  const std::lock_guard lock(mutex_);
  return groups_.at(id);
}

std::shared_ptr<Group> Engine::add_group(const std::vector<int>& ranks) {
  const std::lock_guard role(progress_);
  const std::shared_ptr<Group> world = group(0);
  const auto own = std::find(ranks.begin(), ranks.end(), world->rank);
  const bool member = own != ranks.end();
  std::unique_ptr<Transport> transport = member ? world->transport->split(ranks) : nullptr;
  const std::lock_guard lock(mutex_);
  const int id = static_cast<int>(groups_.size());
  return groups_[id] = std::make_shared<Group>(id, ranks, member ? static_cast<int>(own - ranks.begin()) : -1,
                                               std::move(transport));
}

void Engine::submit(const std::shared_ptr<Task>& task, bool wakes) {
  {
    const std::lock_guard lock(mutex_);
    Group& group = *task->group;
    const auto found = groups_.find(group.id);
    EBB_CHECK(found != groups_.end() && found->second == task->group,
              "distributed::", to_string(task->request.kind), ": group ", group.id,
              " was made before destroy_process_group(). Make it again with new_group()");
    EBB_CHECK(group.failure.empty(), "distributed::", to_string(task->request.kind), ": group ", group.id,
              " cannot be used any more after its first error: ", group.failure);
    task->number = task->is_message() ? ++group.messages : ++group.submitted;
    if (!task->is_message()) group.last = task->request.kind;
    task->deadline = Clock::now() + timeout_;
    queue_.push_back(task);
  }
  if (wakes) wake_.notify_one();
}

void Engine::wait(const Task& task) {
  ++helpers_;
  Pause pause;
  while (!task.is_ready()) {
    bool moved = false;
    {
      const std::lock_guard role(progress_);
      if (!task.is_ready()) moved = step();
    }
    if (!task.is_ready()) pause(moved);
  }
  --helpers_;
  if (busy_) wake_.notify_one();
}

void Engine::run() {
  prctl(PR_SET_TIMERSLACK, 1000UL);  // short sleeps become exact
  Pause pause;
  while (!stopping_) {
    {
      // Even without work, an engine answers the notes of others.
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, 100ms,
                     [this] { return stopping_ || (helpers_ == 0 && (busy_ || !queue_.empty())); });
    }
    bool moved = false;
    {
      const std::lock_guard role(progress_);
      if (!stopping_) moved = step();
    }
    if (busy_) pause(moved);
  }
}

bool Engine::step() {
  const auto begin = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    active_.insert(active_.end(), queue_.begin(), queue_.end());
    queue_.clear();
  }
  bool moved = advance_all();
  if (begin >= next_notes_) {
    next_notes_ = begin + kNotesInterval;
    read_notes();
    check_limits(begin);
  }
  std::erase_if(active_, [](const std::shared_ptr<Task>& task) { return task->has_ended(); });
  busy_ = !active_.empty();
  return moved || Clock::now() - begin > kIdleStep;
}

bool Engine::advance_all() {
  bool moved = false;
  std::vector<const Group*> blocked;  // the next collective of these groups must not start
  for (const std::shared_ptr<Task>& task : active_) {
    Group* const group = task->group.get();
    const bool ordered = !task->is_message();
    if (task->has_ended() || (ordered && std::count(blocked.begin(), blocked.end(), group) > 0)) continue;
    try {
      moved |= advance(*task);
    } catch (const std::exception& error) {
      fail(*group, task->name() + ": " + error.what(), /*tell=*/true);
      moved = true;
    }
    if (ordered && !task->has_ended() && (debug_ || task->state < Task::State::running))
      blocked.push_back(group);
  }
  return moved;
}

bool Engine::advance(Task& task) {
  Transport& transport = *task.group->transport;
  if (task.state == Task::State::queued) {
    const bool on_host = task.request.device.is_cpu();
    if (on_host && task.request.ready && !task.request.ready->query()) return false;  // still being copied
    if (!task.terms.empty()) {
      task.agreement = std::make_unique<Agreement>(transport, task.terms);
      task.state = Task::State::checking;
    }
  }
  if (task.state == Task::State::checking && !task.agreement->test()) return false;
  bool moved = false;
  if (task.state < Task::State::running) {
    task.operation = transport.start(task.request);
    task.state.store(Task::State::running, std::memory_order_release);
    moved = true;
  }
  if (!task.operation->test()) return moved;
  end(task, Task::State::done);
  return true;
}

void Engine::end(Task& task, Task::State state, std::string error) {
  task.error = std::move(error);
  task.state.store(state, std::memory_order_release);
}

void Engine::fail(Group& group, const std::string& error, bool tell) {
  {
    const std::lock_guard lock(mutex_);
    if (!group.failure.empty()) return;
    group.failure = error;
    active_.insert(active_.end(), queue_.begin(), queue_.end());
    queue_.clear();
  }
  for (const std::shared_ptr<Task>& task : active_) {
    if (task->group.get() != &group || task->has_ended()) continue;
    abandoned_.push_back(task);
    end(*task, Task::State::failed, error);
  }
  inquiries_.erase(group.id);
  if (!tell) return;
  Note note{Note::Kind::failed, group.id, group.submitted, {}};
  error.copy(note.text, sizeof note.text - 1);
  post_to_members(group, note);
}

void Engine::leave() {
  const std::shared_ptr<Group> world = group(0);
  const auto until = Clock::now() + timeout_;
  {
    const std::lock_guard role(progress_);
    for (auto it = groups_.rbegin(); it != groups_.rend(); ++it)
      post_to_members(*it->second, {Note::Kind::left, it->first, it->second->submitted, {}});
  }
  const auto failed = [](const auto& entry) { return !entry.second->failure.empty(); };
  Pause pause;
  for (bool waits = true, moved = false; waits; pause(moved)) {
    const std::lock_guard role(progress_);
    next_notes_ = {};
    moved = step();
    const bool broken = std::any_of(groups_.begin(), groups_.end(), failed) || Clock::now() > until;
    const bool complete = active_.empty() && world->departed.size() + 1 == world->ranks.size();
    waits = !broken && !complete;
    if (waits) continue;
    for (auto it = groups_.rbegin(); it != groups_.rend(); ++it)
      if (it->second->transport) it->second->transport->close(!broken);
  }
}

}  // namespace ebb::distributed::detail
