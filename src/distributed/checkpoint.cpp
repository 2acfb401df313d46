// save and load: checkpoints of a run with several ranks.
#include <ebb/distributed/checkpoint.h>

#include "distributed/replicas.h"

#include <filesystem>

namespace ebb::distributed {
namespace {

using detail::OtherStates;

/// The last part of a checkpoint on ranks that do not write: it ends save() when all parts are collected.
struct Collected {
  void save(serialize::OutputArchive&) const { throw *this; }
  void load(serialize::InputArchive&) {}
};

// Runs `body` on all ranks. Throws on all of them if it throws an error on one.
template <class Body>
void together(const char* function, OtherStates states, const ProcessGroup& group, const Body& body) {
  std::string error;
  detail::other_states = states;
  try {
    body();
  } catch (const Collected&) {
  } catch (const std::exception& caught) {
    error = caught.what();
  }
  detail::other_states = OtherStates::keep;
  const std::vector<std::string> errors = all_gather_object(error, group);
  for (std::size_t r = 0; r < errors.size(); ++r)
    EBB_CHECK(errors[r].empty(), "distributed::", function, ": rank ", std::uint64_t{r}, ": ", errors[r]);
}

}  // namespace

void save(const Checkpoint& checkpoint, const ProcessGroup& group) {
  const bool writes = rank(group) == 0;
  together("save", writes ? OtherStates::keep : OtherStates::drop, group, [&] {
    if (writes) return checkpoint.save();
    Checkpoint collected(checkpoint);
    Collected end;
    collected.add("collected", end).save();
  });
}

bool load(Checkpoint& checkpoint, const ProcessGroup& group) {
  std::error_code unreadable;  // ignored, because load() reports it
  const bool exists = std::filesystem::exists(checkpoint.path(), unreadable) || unreadable;
  const std::vector<std::string> all = all_gather_object(exists ? "exists" : "is missing", group);
  for (std::size_t r = 1; r < all.size(); ++r)
    EBB_CHECK(all[r] == all[0], "distributed::load: \"", checkpoint.path(), "\" ", all[0], " on rank 0, but ",
              all[r], " on rank ", std::uint64_t{r}, ". All ranks must see the same files.");
  if (exists) together("load", OtherStates::skip, group, [&] { checkpoint.load(); });
  return exists;
}

}  // namespace ebb::distributed
