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
  /// Returns the place of one more request.
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
  void send(MPI_Comm comm, const char* data, std::int64_t bytes, int to, int tag);
  void receive(MPI_Comm comm, char* data, std::int64_t bytes, int from, int tag);
  bool test() override;
  int source() const override { return source_; }

  std::function<void()> then;  // may add requests for another round, and replace itself
  NdArray scratch;
  int tag = 0;  // of the parts, because the second round of one collective may overlap the first of the next

 private:
  struct Expected {
    std::size_t request;
    int bytes;
  };
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<Expected> expected_;
  int source_ = kAnySource;
};

}  // namespace ebb::distributed::mpi
