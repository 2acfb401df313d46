// Rendezvous: notes between processes that no MPI connects, over TCP.
#pragma once

#include "distributed/transport.h"

namespace ebb::distributed::nccl {

/// Connects all ranks with rank 0, which listens at the master's address and port and forwards notes. It
/// admits only connections that send the token of `ebb run` (EBB_RENDEZVOUS_TOKEN). Without a token it
/// listens at the master's address alone and warns. The transport carries notes, but no collectives. Throws
/// ebb::Error if the ranks do not meet within the time limit.
std::unique_ptr<Transport> open_rendezvous(const Setup& setup);

}  // namespace ebb::distributed::nccl
