// Flight: the MPI requests of one collective.
#include "distributed/mpi/flight.h"

#include <ebb/core/environment.h>

#include <algorithm>
#include <cstdlib>

namespace ebb::distributed::mpi {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  ebb::detail::fail(call, " failed: ", text,
                    ". The ranks may have called different collectives, or one is gone");
}

namespace {
std::int64_t max_count() {
  static const std::int64_t value = [] {
    const char* const text = ebb::detail::environment("EBB_MPI_MAX_COUNT");
    return text ? std::clamp<std::int64_t>(std::atoll(text), 1, 1 << 30) : std::int64_t{1} << 30;
  }();
  return value;
}
}  // namespace

void for_pieces(std::int64_t count, const std::function<void(std::int64_t, int)>& body) {
  std::int64_t at = 0;
  do {
    const std::int64_t piece = std::min(count - at, max_count());
    body(at, static_cast<int>(piece));
    at += piece;
  } while (at < count);
}

void Flight::send(const char* data, std::int64_t bytes, int to) {
  for_pieces(bytes, [&](std::int64_t at, int piece) {
    check(MPI_Isend(data + at, piece, MPI_BYTE, to, tag_, comm_, add()), "MPI_Isend");
  });
}

void Flight::receive(char* data, std::int64_t bytes, int from) {
  EBB_CHECK(from != MPI_ANY_SOURCE || bytes <= max_count(), "a message from any rank has at most ",
            max_count(), " bytes, but this one has ", bytes, ". Name the rank of the source");
  for_pieces(bytes, [&](std::int64_t at, int piece) {
    check(MPI_Irecv(data + at, piece, MPI_BYTE, from, tag_, comm_, add()), "MPI_Irecv");
    expected_.resize(requests_.size(), -1);
    expected_.back() = piece;
  });
}

bool Flight::test() {
  while (!requests_.empty() || then) {
    int complete = 0;
    statuses_.resize(requests_.size());
    int code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &complete, statuses_.data());
    if (code == MPI_ERR_IN_STATUS)
      for (const MPI_Status& status : statuses_)
        if (status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING) code = status.MPI_ERROR;
    check(code, "MPI_Testall");
    if (!complete) return false;
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      if (expected_[i] < 0) continue;
      int bytes = 0;
      MPI_Get_count(&statuses_[i], MPI_BYTE, &bytes);
      source_ = statuses_[i].MPI_SOURCE;
      EBB_CHECK(bytes == expected_[i], "rank ", source_, " has sent ", bytes,
                " bytes, but this rank expects ", expected_[i],
                ". Both sides must use the same dtype and the same number of elements");
    }
    requests_.clear();
    expected_.clear();
    if (const auto next = std::exchange(then, nullptr)) next();
  }
  return true;
}

}  // namespace ebb::distributed::mpi
