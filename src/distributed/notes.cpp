// Engine: time limits, departures, and the notes by which engines ask for ranks that are missing.
#include "distributed/engine.h"

namespace ebb::distributed::detail {
namespace {

using namespace std::chrono_literals;
using ebb::detail::text;

// Returns which rank has left without this collective, or an empty text.
std::string departed_before(const Task& task, Clock::time_point now) {
  for (const auto& [rank, report] : task.group->reports) {
    // A message from a rank that has left may still be on its way.
    const bool lacks = task.is_message() ? rank == task.request.root && now > report.at + kAnswerTime
                                         : report.note.sequence < task.number;
    if (report.has_left() && lacks)
      return text("rank ", rank, " has left after its collective ", report.note.sequence,
                  ": its main() returned, or it called destroy_process_group(). All ranks must call the same "
                  "collectives");
  }
  return {};
}

}  // namespace

Note Group::report(Note::Kind kind) const {
  Note note{kind, id, submitted, {}};
  std::string_view(to_string(last)).copy(note.text, sizeof note.text - 1);
  return note;
}

void Engine::post_to_members(const Group& group, const Note& note) {
  if (!group.transport) return;
  for (const int rank : group.ranks)
    if (rank != world_->rank) world_->transport->post(rank, note);
}

void Engine::read_notes() {
  while (auto received = world_->transport->poll()) {
    const auto& [from, note] = *received;
    std::shared_ptr<Group> group;
    {
      const std::lock_guard lock(mutex_);
      if (const auto id = static_cast<std::size_t>(note.group); id < groups_.size()) group = groups_[id];
    }
    if (note.kind == Note::Kind::query)
      world_->transport->post(
          from, group ? group->report(Note::Kind::answer) : Note{Note::Kind::answer, note.group, 0, {}});
    if (!group || note.kind == Note::Kind::query) continue;
    const int rank = group->rank_of(from);
    if (note.kind == Note::Kind::failed) {
      const std::string own = text("rank ", group->rank, " of group ", group->id, ": ");
      fail(*group, text(own, "rank ", rank, " reports: ", note.text), note.sequence);
    } else if (!group->reports[rank].has_left()) {
      group->reports[rank] = {note, Clock::now()};
    }
  }
}

void Engine::check_limits(Clock::time_point now) {
  for (std::size_t i = 0; i < active_.size(); ++i) {  // fail() adds tasks
    const std::shared_ptr<Task> task = active_[i];
    if (task->has_ended()) continue;
    Group& group = *task->group;
    const std::string who = departed_before(*task, now);
    if (!who.empty()) {
      fail(*task, who);
    } else if (!task->asked && now > task->deadline) {
      task->asked = now;
      std::erase_if(group.reports, [](const auto& each) { return !each.second.has_left(); });
      post_to_members(group, {Note::Kind::query, group.id, task->number, {}});
    } else if (task->asked &&
               (now > *task->asked + kAnswerTime || group.reports.size() + 1 == group.ranks.size())) {
      fail(*task, missing_ranks(*task));
    }
  }
}

std::string Engine::missing_ranks(const Task& task) const {
  const Group& group = *task.group;
  std::string who;
  for (int rank = 0; rank < group.size(); ++rank) {
    if (rank == group.rank) continue;
    const auto found = group.reports.find(rank);
    const bool silent = found == group.reports.end();
    if (!silent && (task.is_message() || found->second.note.sequence >= task.number)) continue;
    who += text(who.empty() ? "rank " : "; rank ", rank);
    if (silent)
      who += " does not answer: its process is stopped or gone, or cannot be reached";
    else
      who += text(" has not called it: its last call is ", found->second.note.text, ", collective ",
                  found->second.note.sequence);
  }
  if (who.empty())
    who =
        task.is_message()
            ? "all ranks answer, but none has called the matching send or recv"
            : "all ranks have called a collective with this number, so that shapes or kinds may differ (init "
              "with debug(true), or EBB_DISTRIBUTED_DEBUG=1, compares them), or the network is too slow";
  return text("is not complete after ", std::int64_t{timeout_.count()}, " ms. Missing: ", who);
}

}  // namespace ebb::distributed::detail
