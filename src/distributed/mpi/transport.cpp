// MpiTransport: the backend "mpi".
#include "distributed/mpi/flight.h"
#include "distributed/mpi/reduction.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <list>
#include <thread>

namespace ebb::distributed::mpi {
namespace {

using Counts = std::vector<std::int64_t>;

// A smaller array goes to all ranks, which needs one round.
constexpr std::int64_t kSmallArray = 16 << 10;

void copy(char* to, const char* from, std::int64_t bytes) {
  if (bytes > 0 && to != from) std::memmove(to, from, static_cast<std::size_t>(bytes));
}

/// Broadcast, barrier and the all_gather of small arrays are MPI's non-blocking collectives. The others
/// exchange parts by messages, as Open MPI does for them, so that parts may be large or uneven and their
/// sizes are compared. Reductions add the arrays in the order of ranks, so that all ranks get the same bits.
class MpiTransport : public Transport {
 public:
  MpiTransport(MPI_Comm collectives, MPI_Comm messages, MPI_Comm notes = MPI_COMM_NULL,
               bool finalizes = false)
      : comm_(collectives), messages_(messages), notes_(notes), finalizes_(finalizes) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    listen();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::unique_ptr<Operation> start(const Request& request) override;
  std::unique_ptr<Transport> split(const std::vector<int>& ranks) override;
  void post(int rank, const Note& note) override;
  std::optional<std::pair<int, Note>> poll() override;
  void close(bool healthy) override;

 private:
  struct Posted {
    Note note;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void listen() {
    if (notes_ != MPI_COMM_NULL)
      MPI_Irecv(&received_, sizeof received_, MPI_BYTE, MPI_ANY_SOURCE, 0, notes_, &listening_);
  }
  void exchange(Flight& flight, const Request& request) const;
  void reduce(Flight& flight, const Request& request) const;

  MPI_Comm comm_, messages_, notes_;  // only the world has notes
  bool finalizes_;
  int rank_ = 0, size_ = 1;
  unsigned started_ = 0;  // collectives, equal on all ranks when the same one starts
  Note received_;
  MPI_Request listening_ = MPI_REQUEST_NULL;
  std::list<Posted> posted_;
};

std::unique_ptr<Operation> MpiTransport::start(const Request& request) {
  const bool is_message = request.kind == Collective::send || request.kind == Collective::receive;
  // Rounds of one collective may overlap the next one, so each has another tag.
  auto flight = is_message ? std::make_unique<Flight>(messages_, request.tag)
                           : std::make_unique<Flight>(comm_, static_cast<int>(started_++ % 32768));
  const char* const send = static_cast<const char*>(request.send);
  char* const receive = static_cast<char*>(request.receive);
  const std::int64_t element = element_size(request.dtype);
  switch (request.kind) {
    case Collective::all_reduce:
    case Collective::reduce:
    case Collective::reduce_scatter:
      reduce(*flight, request);
      break;
    case Collective::broadcast:
      for_pieces(request.receive_count * element, [&](std::int64_t at, int piece) {
        check(MPI_Ibcast(receive + at, piece, MPI_BYTE, request.root, comm_, flight->add()), "MPI_Ibcast");
      });
      break;
    case Collective::send:
      flight->send(send, request.send_count * element, request.root);
      break;
    case Collective::receive:
      flight->receive(receive, request.receive_count * element,
                      request.root == kAnySource ? MPI_ANY_SOURCE : request.root);
      break;
    case Collective::barrier:
      check(MPI_Ibarrier(comm_, flight->add()), "MPI_Ibarrier");
      break;
    default:
      exchange(*flight, request);
  }
  return flight;
}

void MpiTransport::exchange(Flight& flight, const Request& request) const {
  const std::int64_t element = element_size(request.dtype);
  const char* const send = static_cast<const char*>(request.send);
  char* const receive = static_cast<char*>(request.receive);
  const bool same = request.kind == Collective::all_gather;  // all ranks get the same part
  const bool gathers = request.kind == Collective::gather, scatters = request.kind == Collective::scatter;
  const Counts& in = request.receive_counts;
  const Counts out = same ? Counts(in.size(), request.send_count) : request.send_counts;
  Counts sources(in.size()), targets(in.size());
  for (std::size_t i = 1; i < in.size(); ++i) {
    sources[i] = same ? 0 : sources[i - 1] + out[i - 1] * element;
    targets[i] = targets[i - 1] + in[i - 1] * element;
  }
  const auto own = static_cast<std::size_t>(rank_), root = static_cast<std::size_t>(request.root);
  copy(receive + targets[own], send + sources[own], out[own] * element);
  for (std::size_t step = 1; step < in.size(); ++step) {  // each rank begins with another neighbour
    const std::size_t next = (own + step) % in.size(), previous = (own + in.size() - step) % in.size();
    if (gathers ? own == root : !scatters || previous == root)
      flight.receive(receive + targets[previous], in[previous] * element, static_cast<int>(previous));
    if (scatters ? own == root : !gathers || next == root)
      flight.send(send + sources[next], out[next] * element, static_cast<int>(next));
  }
}

// A small array goes to all ranks, which reduce it. Of a large array each rank reduces a part, which then
// goes to the ranks that need it.
void MpiTransport::reduce(Flight& flight, const Request& request) const {
  const std::int64_t element = element_size(request.dtype), count = request.receive_count;
  const bool scatters = request.kind == Collective::reduce_scatter;
  const bool to_all = request.kind == Collective::all_reduce;
  const bool is_small = !scatters && count * element < kSmallArray;
  Request parts = request;
  parts.kind = Collective::all_to_all;
  if (!scatters) {
    parts.send = request.receive;
    for (std::int64_t rank = 0; rank < size_; ++rank)
      parts.receive_counts.push_back(is_small ? count : (count + rank) / size_);
  }
  parts.send_counts = parts.receive_counts;
  const std::int64_t own = parts.send_counts[static_cast<std::size_t>(rank_)], bytes = own * element;
  parts.receive_counts.assign(parts.send_counts.size(), own);
  flight.scratch = NdArray::empty({size_ * bytes}, kByte);
  char* const arrays = static_cast<char*>(flight.scratch.address());
  parts.receive = arrays;
  if (is_small)
    check(MPI_Iallgather(parts.send, static_cast<int>(bytes), MPI_BYTE, arrays, static_cast<int>(bytes),
                         MPI_BYTE, comm_, flight.add()),
          "MPI_Iallgather");
  else
    exchange(flight, parts);

  Request result = request;
  result.kind = to_all ? Collective::all_gather : Collective::gather;
  result.send = arrays;
  result.send_count = own;
  result.send_counts.assign(parts.send_counts.size(), 0);
  result.send_counts[static_cast<std::size_t>(request.root)] = own;
  result.receive_counts = parts.send_counts;
  flight.then = [=, this, &flight] {
    mpi::reduce(arrays, size_, result.dtype, result.op, own);
    if (!scatters && !is_small)
      exchange(flight, result);
    else if (scatters || to_all || rank_ == result.root)
      copy(static_cast<char*>(result.receive), arrays, bytes);
  };
}

std::unique_ptr<Transport> MpiTransport::split(const std::vector<int>& ranks) {
  MPI_Group all = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
  check(MPI_Comm_group(comm_, &all), "MPI_Comm_group");
  check(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &members), "MPI_Group_incl");
  MPI_Comm comms[2] = {};
  for (MPI_Comm& comm : comms)
    check(MPI_Comm_create_group(comm_, members, 0, &comm), "MPI_Comm_create_group");
  MPI_Group_free(&all);
  MPI_Group_free(&members);
  return std::make_unique<MpiTransport>(comms[0], comms[1]);
}

void MpiTransport::post(int rank, const Note& note) {
  Posted& posted = posted_.emplace_back();
  posted.note = note;
  if (MPI_Isend(&posted.note, sizeof note, MPI_BYTE, rank, 0, notes_, &posted.request) != MPI_SUCCESS)
    posted_.pop_back();
}

std::optional<std::pair<int, Note>> MpiTransport::poll() {
  const auto sent = [](Posted& posted) {
    int complete = 0;
    return MPI_Test(&posted.request, &complete, MPI_STATUS_IGNORE) != MPI_SUCCESS || complete;
  };
  posted_.remove_if(sent);
  int complete = 0;
  MPI_Status status;
  if (listening_ == MPI_REQUEST_NULL || MPI_Test(&listening_, &complete, &status) != MPI_SUCCESS || !complete)
    return std::nullopt;
  std::pair<int, Note> result(status.MPI_SOURCE, received_);
  listen();
  return result;
}

void MpiTransport::close(bool healthy) {
  if (notes_ == MPI_COMM_NULL) return;
  // The last notes tell the other ranks why this one leaves.
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (!posted_.empty() && std::chrono::steady_clock::now() < until) {
    poll();
    std::this_thread::yield();
  }
  if (!healthy) return;  // MPI_Finalize would wait for the other ranks
  MPI_Cancel(&listening_);
  MPI_Wait(&listening_, MPI_STATUS_IGNORE);
  if (finalizes_) MPI_Finalize();
}

// Starts MPI, unless the program has started it.
std::unique_ptr<MpiTransport> start_mpi() {
  int started = 0, ended = 0, threads = 0;
  MPI_Finalized(&ended);
  EBB_CHECK(!ended,
            "distributed::init: MPI has been finalized in this process and cannot start again. Call init() "
            "once, and MPI_Finalize() after destroy_process_group()");
  MPI_Initialized(&started);
  if (started) {
    MPI_Query_thread(&threads);
    EBB_CHECK(threads == MPI_THREAD_MULTIPLE,
              "distributed::init: the program has started MPI without MPI_THREAD_MULTIPLE. Start it by "
              "MPI_Init_thread with that level, or leave its start to init()");
  } else {
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads), "MPI_Init_thread");
    EBB_CHECK(threads >= MPI_THREAD_SERIALIZED,
              "distributed::init: this MPI library does not allow calls from several threads. Install one "
              "with MPI_THREAD_SERIALIZED");
  }
  MPI_Comm comms[3];
  for (MPI_Comm& comm : comms) {
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  return std::make_unique<MpiTransport>(comms[0], comms[1], comms[2], !started);
}

}  // namespace
}  // namespace ebb::distributed::mpi

extern "C" EBB_API ebb::distributed::Transport* ebb_distributed_transport(int abi,
                                                                          const ebb::distributed::Setup&);

ebb::distributed::Transport* ebb_distributed_transport(int abi, const ebb::distributed::Setup&) {
  EBB_CHECK(abi == ebb::distributed::kTransportAbi,
            "distributed::init: libebb_mpi.so is of another version of ebb. Install the matching one");
  return ebb::distributed::mpi::start_mpi().release();
}
