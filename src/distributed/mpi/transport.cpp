// MpiTransport: the backend "mpi".
#include "distributed/mpi/flight.h"
#include "distributed/mpi/reduction.h"

#include <chrono>
#include <cstring>
#include <list>
#include <numeric>
#include <thread>

namespace ebb::distributed::mpi {
namespace {

using Counts = std::vector<std::int64_t>;

// An all_reduce with parts of so many bytes for each rank exchanges the parts.
constexpr std::int64_t kLargePart = 32 << 10;

Counts scaled(Counts counts, std::int64_t factor) {
  for (std::int64_t& count : counts) count *= factor;
  return counts;
}

/// Reductions, broadcast and barrier are MPI's non-blocking collectives. The others exchange parts by
/// messages, as Open MPI does for them, so that parts may be large or uneven and their sizes are compared.
class MpiTransport : public Transport {
 public:
  MpiTransport(MPI_Comm collectives, MPI_Comm messages, MPI_Comm notes = MPI_COMM_NULL,
               bool finalizes = false)
      : comm_(collectives), messages_(messages), notes_(notes), finalizes_(finalizes) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    if (notes_ != MPI_COMM_NULL) listen();
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
    check(MPI_Irecv(&received_, sizeof received_, MPI_BYTE, MPI_ANY_SOURCE, 0, notes_, &listening_),
          "MPI_Irecv");
  }
  void reduce(Flight& flight, const Request& request) const;
  void reduce_scatter(Flight& flight, const Request& request, std::function<void()> next = {}) const;
  // Sends to[i] bytes to rank i and receives from[i] bytes from it. Parts follow each other, except that
  // all ranks get the `same` part.
  void exchange(Flight& flight, const char* send, const Counts& to, char* receive, const Counts& from,
                bool same = false) const;
  Counts even(std::int64_t count) const { return Counts(static_cast<std::size_t>(size_), count); }
  Counts only(int rank, std::int64_t count) const {
    Counts counts = even(kNone);
    counts[static_cast<std::size_t>(rank)] = count;
    return counts;
  }

  static constexpr std::int64_t kNone = -1;  // no message, in place of one without bytes

  MPI_Comm comm_, messages_, notes_;  // only the world has notes
  bool finalizes_;
  int rank_ = 0, size_ = 1;
  unsigned started_ = 0;  // collectives, equal on all ranks when the same one starts
  Note received_;
  MPI_Request listening_ = MPI_REQUEST_NULL;
  std::list<Posted> posted_;
};

std::unique_ptr<Operation> MpiTransport::start(const Request& request) {
  auto flight = std::make_unique<Flight>();
  const bool is_message = request.kind == Collective::send || request.kind == Collective::receive;
  if (!is_message) flight->tag = static_cast<int>(started_++ % 32768);
  const char* const send = static_cast<const char*>(request.send);
  char* const receive = static_cast<char*>(request.receive);
  const std::int64_t size = element_size(request.dtype);
  const auto bytes = [size](const Counts& counts) { return scaled(counts, size); };
  switch (request.kind) {
    case Collective::all_reduce:
    case Collective::reduce:
      reduce(*flight, request);
      break;
    case Collective::broadcast:
      for_pieces(request.receive_count * size, [&](std::int64_t at, int piece) {
        check(MPI_Ibcast(receive + at, piece, MPI_BYTE, request.root, comm_, flight->add()), "MPI_Ibcast");
      });
      break;
    case Collective::reduce_scatter:
      reduce_scatter(*flight, request);
      break;
    case Collective::all_gather:
      exchange(*flight, send, even(request.send_count * size), receive, bytes(request.receive_counts),
               /*same=*/true);
      break;
    case Collective::all_to_all:
      exchange(*flight, send, bytes(request.send_counts), receive, bytes(request.receive_counts));
      break;
    case Collective::gather:
      exchange(*flight, send, only(request.root, request.send_count * size), receive,
               rank_ == request.root ? bytes(request.receive_counts) : even(kNone));
      break;
    case Collective::scatter:
      exchange(*flight, send, rank_ == request.root ? bytes(request.send_counts) : even(kNone), receive,
               only(request.root, request.receive_count * size));
      break;
    case Collective::send:
      flight->send(messages_, send, request.send_count * size, request.root, request.tag);
      break;
    case Collective::receive:
      flight->receive(messages_, receive, request.receive_count * size,
                      request.root == kAnySource ? MPI_ANY_SOURCE : request.root, request.tag);
      break;
    case Collective::barrier:
      check(MPI_Ibarrier(comm_, flight->add()), "MPI_Ibarrier");
      break;
  }
  return flight;
}

void MpiTransport::reduce(Flight& flight, const Request& request) const {
  const std::int64_t count = request.receive_count, size = element_size(request.dtype);
  char* const data = static_cast<char*>(request.receive);
  const bool to_all = request.kind == Collective::all_reduce, receives = to_all || rank_ == request.root;
  if (to_all && count * size >= kLargePart * size_) {
    // In two rounds, which is faster than MPI's collective: a reduce_scatter and an all_gather.
    Request scatter = request;
    scatter.receive_counts = even(count / size_);
    for (std::int64_t i = 0; i < count % size_; ++i) ++scatter.receive_counts[static_cast<std::size_t>(i)];
    scatter.send = data;
    const auto own = scatter.receive_counts.begin() + rank_;
    scatter.receive = data + std::accumulate(scatter.receive_counts.begin(), own, std::int64_t{0}) * size;
    scatter.receive_count = *own;
    reduce_scatter(flight, scatter, [this, &flight, scatter, data, size] {
      exchange(flight, static_cast<const char*>(scatter.receive), even(scatter.receive_count * size), data,
               scaled(scatter.receive_counts, size), /*same=*/true);
    });
    return;
  }
  const Reduction by = reduction(request.dtype, request.op);
  for_pieces(count, [&](std::int64_t at, int piece) {
    char* const part = data + at * size;
    const void* const from = receives ? MPI_IN_PLACE : part;
    if (to_all)
      check(MPI_Iallreduce(from, part, piece, by.type, by.op, comm_, flight.add()), "MPI_Iallreduce");
    else
      check(MPI_Ireduce(from, part, piece, by.type, by.op, request.root, comm_, flight.add()), "MPI_Ireduce");
  });
  if (receives && request.op == ReduceOp::AVG)
    flight.then = [=, ranks = size_, dtype = request.dtype] { divide(data, dtype, count, ranks); };
}

// Exchanges all parts, and reduces those for this rank in the order of ranks.
void MpiTransport::reduce_scatter(Flight& flight, const Request& request, std::function<void()> next) const {
  const std::int64_t size = element_size(request.dtype), bytes = request.receive_count * size;
  flight.scratch = NdArray::empty({size_ * bytes}, kByte);
  char* const parts = static_cast<char*>(flight.scratch.address());
  exchange(flight, static_cast<const char*>(request.send), scaled(request.receive_counts, size), parts,
           even(bytes));
  flight.then = [=, ranks = size_, count = request.receive_count, dtype = request.dtype, op = request.op,
                 result = static_cast<char*>(request.receive)] {
    const Reduction by = reduction(dtype, op);
    if (bytes > 0) std::memcpy(result, parts, static_cast<std::size_t>(bytes));
    for (int rank = 1; rank < ranks; ++rank)
      for_pieces(count, [&](std::int64_t at, int piece) {
        check(MPI_Reduce_local(parts + rank * bytes + at * size, result + at * size, piece, by.type, by.op),
              "MPI_Reduce_local");
      });
    if (op == ReduceOp::AVG) divide(result, dtype, count, ranks);
    if (next) next();
  };
}

void MpiTransport::exchange(Flight& flight, const char* send, const Counts& to, char* receive,
                            const Counts& from, bool same) const {
  Counts starts(to.size()), ends(from.size());
  for (std::size_t i = 1; i < to.size(); ++i) {
    starts[i] = same ? 0 : starts[i - 1] + std::max<std::int64_t>(to[i - 1], 0);
    ends[i] = ends[i - 1] + std::max<std::int64_t>(from[i - 1], 0);
  }
  const auto own = static_cast<std::size_t>(rank_);
  if (to[own] > 0 && send + starts[own] != receive + ends[own])
    std::memmove(receive + ends[own], send + starts[own], static_cast<std::size_t>(to[own]));
  for (int step = 1; step < size_; ++step) {  // each rank begins with another neighbour
    const int next = (rank_ + step) % size_, previous = (rank_ + size_ - step) % size_;
    const auto out = static_cast<std::size_t>(next), in = static_cast<std::size_t>(previous);
    if (from[in] >= 0) flight.receive(comm_, receive + ends[in], from[in], previous, flight.tag);
    if (to[out] >= 0) flight.send(comm_, send + starts[out], to[out], next, flight.tag);
  }
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
