// Engine: runs the collectives of this process, in order and within their time limits.
#include "distributed/engine.h"

#include <ebb/core/environment.h>
#include <ebb/core/start_thread.h>

#include <sys/prctl.h>

#include <numeric>

namespace ebb::distributed::detail {
namespace {

using namespace std::chrono_literals;

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
  return value && *value && std::string_view(value) != "0";
}

// A step that takes longer has moved data, so the next one should follow at once.
constexpr auto kIdleStep = 5us;
constexpr auto kNotesInterval = 1ms;
constexpr auto kGrace = 2s;

}  // namespace

std::string Task::name() const {
  return ebb::detail::text("distributed::", to_string(request.kind), ": rank ", group->rank, " of ",
                           group->size(), is_message() ? ", message " : ", collective ", number, " of group ",
                           group->id, ": ");
}

Engine::Engine(const InitOptions& options)
    : debug_(options.debug() || is_set("EBB_DISTRIBUTED_DEBUG")),
      timeout_(options.timeout()),
      backend_(options.backend()) {
  EBB_CHECK(timeout_ > 0ms, "distributed::init: the timeout is ", std::int64_t{timeout_.count()},
            " ms, but must be positive");
  Setup setup{read_launch(), timeout_, {}};
  setup.open = [&setup](const std::string& backend) { return open_transport(backend, setup); };
  const int stated = setup.launch.world_size;
  // `ebb run` states its backend.
  const char* const chosen = ebb::detail::environment("EBB_DISTRIBUTED_BACKEND");
  if (backend_.empty()) backend_ = stated == 1 ? "self" : chosen ? chosen : "mpi";
  std::unique_ptr<Transport> transport = open_transport(backend_, setup);
  EBB_CHECK(transport->size() == stated || setup.launch.launcher.empty(),
            "distributed::init: ", setup.launch.launcher, " states ", stated,
            " processes, but the backend \"", backend_, "\" has ", transport->size(),
            ". Start the program with the launcher of the backend: `ebb run -n ", stated,
            " ./program`, or mpirun for \"mpi\"");
  std::vector<int> ranks(static_cast<std::size_t>(transport->size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  const int own = transport->rank();
  world_ = std::make_shared<Group>(0, std::move(ranks), own, std::move(transport));
  groups_ = {world_};
  thread_ = ebb::detail::start_thread<std::thread>("distributed::init", [this] { run(); });
}

std::shared_ptr<Group> Engine::add_group(const std::vector<int>& ranks) {
  const std::lock_guard role(progress_);
  const int own = world_->rank;
  const bool is_member = std::find(ranks.begin(), ranks.end(), own) != ranks.end();
  std::unique_ptr<Transport> transport = is_member ? world_->transport->split(ranks) : nullptr;
  const std::lock_guard lock(mutex_);
  const int id = static_cast<int>(groups_.size());
  return groups_.emplace_back(std::make_shared<Group>(id, ranks, own, std::move(transport)));
}

void Engine::submit(const std::shared_ptr<Task>& task, bool wakes) {
  {
    const std::lock_guard lock(mutex_);
    Group& group = *task->group;
    const auto id = static_cast<std::size_t>(group.id);
    EBB_CHECK(id < groups_.size() && groups_[id] == task->group,
              "distributed::", to_string(task->request.kind), ": group ", group.id,
              " was made before destroy_process_group(). Make it again with new_group()");
    EBB_CHECK(group.failure.empty(), "distributed::", to_string(task->request.kind), ": group ", group.id,
              " cannot be used any more after its first error: ", group.failure);
    task->number = task->is_message() ? ++group.messages : ++group.submitted;
    if (!task->is_message()) group.last = task->request.kind;
    task->deadline = Clock::now() + timeout_;
    queue_.push_back(task);
    busy_ = true;
  }
  if (wakes) wake_.notify_one();
}

void Engine::wait(const Task& task) {
  {
    const std::lock_guard lock(mutex_);
    ++helpers_;
  }
  for (Pause pause; !task.is_ready();) pause(step());
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    more = --helpers_ == 0 && busy_;
  }
  if (more) wake_.notify_one();
}

void Engine::run() {
  for (Pause pause;; pause(step())) {
    // Even without work, an engine answers the notes of others.
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, 100ms, [this] { return stopping_ || (busy_ && helpers_ == 0); });
    if (stopping_) return;
  }
}

bool Engine::step() {
  const std::lock_guard role(progress_);
  const auto begin = Clock::now();
  take_queue();
  const bool moved = advance_all();
  if (begin >= next_notes_) {
    next_notes_ = begin + kNotesInterval;
    read_notes();
    check_limits(begin);
  }
  end_failed(begin);
  std::erase_if(active_, [](const std::shared_ptr<Task>& task) { return task->has_ended(); });
  const std::lock_guard lock(mutex_);
  busy_ = !active_.empty() || !queue_.empty();
  return moved || Clock::now() - begin > kIdleStep;
}

void Engine::take_queue() {
  const std::lock_guard lock(mutex_);
  active_.insert(active_.end(), queue_.begin(), queue_.end());
  queue_.clear();
}

bool Engine::advance_all() {
  bool moved = false;
  std::vector<const Group*> blocked;                  // the next collective of these groups must not start
  for (std::size_t i = 0; i < active_.size(); ++i) {  // fail() adds tasks
    const std::shared_ptr<Task> task = active_[i];
    Group* const group = task->group.get();
    const bool ordered = !task->is_message();
    if (task->has_ended() || (ordered && std::count(blocked.begin(), blocked.end(), group) > 0)) continue;
    try {
      moved |= advance(*task);
    } catch (const std::exception& error) {
      fail(*task, error.what());
      moved = true;
    }
    if (ordered && !task->has_ended() && (!task->terms.empty() || task->state == Task::State::queued))
      blocked.push_back(group);
  }
  return moved;
}

bool Engine::advance(Task& task) {
  bool moved = false;
  if (task.state == Task::State::queued) {
    const Request& request = task.request;
    // A copy of a GPU tensor to the host may still be running.
    if (request.device.is_cpu() && request.ready && !request.ready->query()) return false;
    task.operation = task.terms.empty() ? task.group->transport->start(request) : start_compared(task);
    task.state = Task::State::running;
    moved = true;
  }
  if (task.operation->test())
    task.state = Task::State::done;
  else if (task.state == Task::State::running && task.operation->done())
    task.state = Task::State::ordered;
  return moved || task.has_ended();
}

void Engine::fail(Group& group, const std::string& error, std::int64_t number) {
  if (group.failure.empty()) {
    const std::lock_guard lock(mutex_);
    group.failure = error;
    failed_.emplace_back(&group, Clock::now());
  }
  take_queue();
  abandon(group, number);
}

void Engine::fail(const Task& task, const std::string& why) {
  Group& group = *task.group;
  const std::int64_t number = task.is_message() ? 0 : task.number;
  const std::string error = task.name() + why;
  if (group.failure.empty()) {
    Note note{Note::Kind::failed, group.id, number, {}};
    error.copy(note.text, sizeof note.text - 1);
    post_to_members(group, note);
  }
  fail(group, error, number);
}

void Engine::abandon(const Group& group, std::int64_t number) {
  for (const std::shared_ptr<Task>& task : active_) {
    if (task->group.get() != &group || task->has_ended()) continue;
    if (!task->is_message() && task->number < number) continue;
    abandoned_.push_back(task);
    task->error = group.failure;
    task->state = Task::State::failed;
  }
}

void Engine::end_failed(Clock::time_point now) {
  std::erase_if(failed_, [&](const auto& failure) {
    Group* const group = failure.first;
    const auto may_end = [&](const auto& task) { return task->group.get() == group && !task->has_ended(); };
    if (now <= failure.second + kAnswerTime && std::any_of(active_.begin(), active_.end(), may_end))
      return false;
    abandon(*group, 0);
    if (group->transport) group->transport->abort();
    return true;
  });
}

bool Engine::leave() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  auto until = Clock::now() + std::max<Clock::duration>(timeout_, kGrace);
  const auto left = [](const auto& report) { return report.second.has_left(); };
  const auto failed = [](const std::shared_ptr<Group>& group) { return !group->failure.empty(); };
  {
    const std::lock_guard role(progress_);
    for (const auto& group : groups_) post_to_members(*group, group->report(Note::Kind::left));
  }
  for (Pause pause;; pause(step())) {
    const std::lock_guard role(progress_);
    const bool broken = std::any_of(groups_.begin(), groups_.end(), failed);
    const bool complete =
        active_.empty() &&
        std::count_if(world_->reports.begin(), world_->reports.end(), left) + 1 == world_->size();
    // A launcher ends all processes when the first one ends after a failure. So the others get time for their
    // own error messages.
    if (broken) until = std::min(until, Clock::now() + kGrace);
    if (!complete && Clock::now() < until) continue;
    for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
      if ((*group)->transport) (*group)->transport->close(complete && !broken);
      fail(**group, "the process group was destroyed", 0);
    }
    end_failed(Clock::time_point::max());
    const std::lock_guard lock(mutex_);
    return abandoned_.empty() && helpers_ == 0;
  }
}

}  // namespace ebb::distributed::detail
