// Engine: runs the collectives of this process, in order and within their time limits.
#include "distributed/engine.h"

#include <ebb/core/environment.h>
#include <ebb/core/start_thread.h>

#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace ebb::distributed::detail {
namespace {

using namespace std::chrono_literals;

Engine* engine = nullptr;  // never destroyed while threads may use it

// The wait between two steps of a loop. Small collectives end after some microseconds, so it does not wait at
// first. Then it sleeps for an eighth of the time without progress, so that backward has the cores. It sleeps
// and does not yield, because a thread that yields waits for the time slices of all other threads.
class Pause {
 public:
  ~Pause() {
    if (slack_ > 0) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack_));
  }
  void operator()(bool moved) {
    const auto now = Clock::now();
    if (moved) last_move_ = now;
    const auto idle = now - last_move_;
    if (idle < 20us) return;
    if (slack_ < 0) {
      slack_ = prctl(PR_GET_TIMERSLACK);
      prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds, in place of 50 us
    }
    std::this_thread::sleep_for(std::min<Clock::duration>(idle / 8, 200us));
  }

 private:
  Clock::time_point last_move_ = Clock::now();
  int slack_ = -1;  // of the thread before
};

bool is_set(const char* name) {
  const char* const value = ebb::detail::environment(name);
  return value && std::string_view(value) != "0" && *value;
}

constexpr std::size_t kTermsLength = 192;

// A step that takes longer has moved data, so the next one should follow at once.
constexpr auto kIdleStep = 5us;
constexpr auto kNotesInterval = 1ms;
constexpr auto kGrace = 2s;

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
  {
    const std::lock_guard lock(stopped->mutex_);
    stopped->stopping_ = true;
  }
  stopped->wake_.notify_all();
  stopped->thread_.join();
  for (auto& [id, group] : stopped->groups_) stopped->fail(*group, "the process group was destroyed", false);
  if (stopped->abandoned_.empty() && stopped->helpers_ == 0) delete stopped;
}

Engine::Engine(const InitOptions& options)
    : debug_(options.debug() || is_set("EBB_DISTRIBUTED_DEBUG")),
      timeout_(options.timeout()),
      backend_(options.backend()) {
  EBB_CHECK(timeout_ > 0ms, "distributed::init: the timeout is ", std::int64_t{timeout_.count()},
            " ms, but must be positive");
  Setup setup;
  setup.launch = read_launch();
  setup.timeout = timeout_;
  setup.open = [&setup](const std::string& backend) { return open_transport(backend, setup); };
  const int stated = setup.launch.world_size;
  // `ebb run` states its backend.
  const char* const chosen = ebb::detail::environment("EBB_DISTRIBUTED_BACKEND");
  if (backend_.empty()) backend_ = stated == 1 ? "self" : chosen ? chosen : "mpi";
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
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    more = --helpers_ == 0 && (busy_ || !queue_.empty());
  }
  if (more) wake_.notify_one();
}

void Engine::run() {
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
    if (!task.terms.empty()) gather_terms(task);
  }
  if (task.state == Task::State::checking) {
    if (!task.operation->test()) return false;
    compare_terms(task);
  }
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

// Gathers the terms of all ranks, with a fixed length. A hash replaces the end of a long text.
void Engine::gather_terms(Task& task) {
  if (task.terms.size() > kTermsLength) {
    const std::string hash =
        ebb::detail::text("... hash ", std::uint64_t{std::hash<std::string>()(task.terms)});
    task.terms = task.terms.substr(0, kTermsLength - hash.size()) + hash;
  }
  task.terms.resize(kTermsLength);
  task.all_terms.resize(kTermsLength * task.group->ranks.size());
  Request request;
  request.kind = Collective::all_gather;
  request.send = task.terms.data();
  request.receive = task.all_terms.data();
  request.send_count = kTermsLength;
  request.receive_count = static_cast<std::int64_t>(task.all_terms.size());
  request.receive_counts.assign(task.group->ranks.size(), kTermsLength);
  task.operation = task.group->transport->start(request);
  task.state = Task::State::checking;
}

void Engine::compare_terms(const Task& task) {
  std::string differences, before;
  for (std::size_t rank = 0; rank < task.group->ranks.size(); ++rank) {
    const std::string terms = task.all_terms.substr(rank * kTermsLength, kTermsLength);
    if (terms != before)
      differences += ebb::detail::text("from rank ", static_cast<int>(rank), " on ", terms.c_str(), "; ");
    before = terms;
  }
  EBB_CHECK(std::equal(task.all_terms.begin() + kTermsLength, task.all_terms.end(), task.all_terms.begin()),
            "the ranks call different collectives: ", differences,
            "all ranks must call the same collectives in the same order with the same shapes");
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
  if (group.transport) group.transport->abort();
  if (!tell) return;
  Note note{Note::Kind::failed, group.id, group.submitted, {}};
  error.copy(note.text, sizeof note.text - 1);
  post_to_members(group, note);
}

void Engine::leave() {
  const std::shared_ptr<Group> world = group(0);
  auto until = Clock::now() + std::max<Clock::duration>(timeout_, kGrace);
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
    const bool broken = std::any_of(groups_.begin(), groups_.end(), failed);
    const bool complete = active_.empty() && world->departed.size() + 1 == world->ranks.size();
    // A launcher ends all processes when the first one ends after a failure. So the others get time for their
    // own error messages.
    if (broken) until = std::min(until, Clock::now() + kGrace);
    waits = !complete && Clock::now() < until;
    if (waits) continue;
    for (auto it = groups_.rbegin(); it != groups_.rend(); ++it)
      if (it->second->transport) it->second->transport->close(complete && !broken);
  }
}

}  // namespace ebb::distributed::detail
