// save and load: checkpoints of a run with several ranks.
#pragma once

#include <ebb/checkpoint.h>
#include <ebb/distributed/process_group.h>

namespace ebb::distributed {

/// Saves a checkpoint. All ranks of the group call it, with the same parts, and rank 0 writes the file. Only
/// rank 0 keeps the states that other ranks of a ShardedOptimizer send, one tensor at a time. If a rank
/// fails, for example because the disk is full, all ranks throw.
///
/// The file has the random generators of rank 0. After load(), ranks that shall draw different numbers must
/// seed them, for example with `manual_seed(seed + world_size() * epoch + rank())`.
EBB_API void save(const Checkpoint& checkpoint, const ProcessGroup& group = {});

/// Loads a checkpoint of any number of ranks, or of one process. All ranks of the group call it, and must see
/// the same file. Returns false on all ranks if there is no file. If a rank fails, all ranks throw.
EBB_API bool load(Checkpoint& checkpoint, const ProcessGroup& group = {});

}  // namespace ebb::distributed
