// Engine: time limits, departures, and the notes by which engines ask for ranks that are missing.
#include "distributed/engine.h"

#include <algorithm>

namespace ebb::distributed::detail {
namespace {

using namespace std::chrono_literals;

// The time within which an engine answers, unless its process is gone or stopped. An engine without work
// reads its notes ten times a second.
constexpr auto kAnswerTime = 2s;

}  // namespace

void Engine::post_to_members(const Group& group, const Note& note) {
  Group& world = *this->group(0);
  if (!group.transport) return;
  for (const int rank : group.ranks)
    if (rank != world.rank) world.transport->post(rank, note);
}

void Engine::read_notes() {
  Group& world = *group(0);
  while (auto received = world.transport->poll()) {
    const auto& [from, note] = *received;
    std::shared_ptr<Group> group;
    {
      const std::lock_guard lock(mutex_);
      const auto found = groups_.find(note.group);
      if (found != groups_.end()) group = found->second;
    }
    if (note.kind == Note::Kind::query) {
      Note answer{Note::Kind::answer, note.group, group ? group->submitted.load() : 0, {}};
      if (group) std::string(to_string(group->last)).copy(answer.text, sizeof answer.text - 1);
      world.transport->post(from, answer);
    }
    if (!group) continue;
    const auto at = std::find(group->ranks.begin(), group->ranks.end(), from);
    const int rank = static_cast<int>(at - group->ranks.begin());
    if (note.kind == Note::Kind::answer) {
      const auto inquiry = inquiries_.find(group->id);
      if (inquiry != inquiries_.end()) inquiry->second.answers[rank] = note;
    } else if (note.kind == Note::Kind::left) {
      group->departed[rank] = {note.sequence, Clock::now()};
    } else if (note.kind == Note::Kind::failed) {
      fail(*group,
           ebb::detail::text("rank ", group->rank, " of group ", group->id, ": rank ", rank,
                             " reports: ", note.text),
           /*tell=*/false);
    }
  }
}

void Engine::check_limits(Clock::time_point now) {
  const std::vector<std::shared_ptr<Task>> tasks = active_;
  for (const std::shared_ptr<Task>& task : tasks) {
    if (task->has_ended()) continue;
    Group& group = *task->group;
    if (const std::string who = departed_before(*task, now); !who.empty()) {
      fail(group, ebb::detail::text(task->name(), ": ", who), /*tell=*/true);
    } else if (now > task->deadline && !inquiries_.contains(group.id)) {
      inquiries_[group.id] = {task, now + kAnswerTime, {}};
      post_to_members(group, {Note::Kind::query, group.id, task->number, {}});
    }
  }
  const auto inquiries = inquiries_;
  for (const auto& [id, inquiry] : inquiries) {
    if (inquiry.task->has_ended())
      inquiries_.erase(id);
    else if (now > inquiry.until || inquiry.answers.size() + 1 == inquiry.task->group->ranks.size())
      fail(*inquiry.task->group, missing_ranks(inquiry), /*tell=*/true);
  }
}

std::string Engine::departed_before(const Task& task, Clock::time_point now) const {
  for (const auto& [rank, departure] : task.group->departed) {
    // A message from a rank that has left may still be on its way.
    const bool concerns = task.is_message() ? rank == task.request.root && now > departure.at + kAnswerTime
                                            : departure.last < task.number;
    if (concerns)
      return ebb::detail::text("rank ", rank, " has left after its collective ", departure.last,
                               ": its main() returned, or it called destroy_process_group(). All ranks must "
                               "call the same collectives");
  }
  return {};
}

std::string Engine::missing_ranks(const Inquiry& inquiry) const {
  const Task& task = *inquiry.task;
  const Group& group = *task.group;
  std::string who;
  for (int rank = 0; rank < static_cast<int>(group.ranks.size()); ++rank) {
    if (rank == group.rank) continue;
    const auto found = inquiry.answers.find(rank);
    const bool silent = found == inquiry.answers.end();
    if (!silent && (task.is_message() || found->second.sequence >= task.number)) continue;
    who += ebb::detail::text(who.empty() ? "rank " : "; rank ", rank);
    if (silent)
      who += " does not answer: its process is stopped or gone, or cannot be reached";
    else
      who += ebb::detail::text(" has not called it: its last call is ", found->second.text, ", collective ",
                               found->second.sequence);
  }
  if (who.empty())
    who =
        task.is_message()
            ? "all ranks answer, but none has called the matching send or recv"
            : "all ranks have called a collective with this number, so that shapes or kinds may differ (init "
              "with debug(true), or EBB_DISTRIBUTED_DEBUG=1, compares them), or the network is too slow";
  return ebb::detail::text(task.name(), ": is not complete after ", std::int64_t{timeout_.count()},
                           " ms. Missing: ", who);
}

}  // namespace ebb::distributed::detail
