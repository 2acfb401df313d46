// Flight: the MPI requests of one collective.
#pragma once

#include <ebb/core/ndarray.h>

#include "distributed/transport.h"

#include <mpi.h>

namespace ebb::distributed::mpi {

/// Throws ebb::Error with MPI's text unless `code` is MPI_SUCCESS.
void check(int code, const char* call);
/// Calls body(offset, count) for pieces of at most 2^30, or fewer by EBB_MPI_MAX_COUNT in tests; at least
/// once.
void for_pieces(std::int64_t count, const std::function<void(std::int64_t, int)>& body);

/// Is complete when all its requests are, and nothing is left to do `then`.
class Flight : public Operation {
 public:
  /// The messages of the operation have this tag.
  Flight(MPI_Comm comm, int tag) : comm_(comm), tag_(tag) {}
  /// Returns the place of one more request.
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
  void send(const char* data, std::int64_t bytes, int to);
  void receive(char* data, std::int64_t bytes, int from);
  bool test() override;
  int source() const override { return source_; }

  std::function<void()> then;  // may add requests for another round, and replace itself
  NdArray scratch;

 private:
  const MPI_Comm comm_;
  const int tag_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<int> expected_;  // bytes of receives; -1 for other requests
  int source_ = kAnySource;
};

}  // namespace ebb::distributed::mpi
