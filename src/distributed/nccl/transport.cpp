// NcclTransport: the backend "nccl".
#include <ebb/autograd/grad_mode.h>
#include <ebb/cuda/cuda.h>
#include <ebb/cuda/device.h>
#include <ebb/ops/creation.h>

#include "distributed/nccl/library.h"
#include "distributed/nccl/rendezvous.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

namespace ebb::distributed::nccl {
namespace {

using Clock = std::chrono::steady_clock;
using Counts = std::vector<std::int64_t>;

/// The notes of the process, in which transports exchange the ids of communicators.
struct Notes {
  std::unique_ptr<Transport> below;                // null in a world of one process
  std::deque<std::pair<int, Note>> kept;           // for the engine
  std::map<int, std::deque<ncclUniqueId>> setups;  // by rank of the world

  void read() {
    while (auto received = below ? below->poll() : std::nullopt) {
      if (received->second.kind != Note::Kind::setup) {
        kept.push_back(*received);
        continue;
      }
      ncclUniqueId id;
      std::memcpy(&id, received->second.text, sizeof id);
      setups[received->first].push_back(id);
    }
  }
};

/// A communicator. If a call of NCCL does not return within the time limit, as when a peer dies while it
/// connects, a watchdog thread aborts the communicator, and the call fails.
class Communicator {
 public:
  Communicator(const ncclUniqueId& id, int rank, int size, std::chrono::milliseconds limit) : limit_(limit) {
    ncclComm_t made = nullptr;
    nccl::call<decltype(ncclCommInitRank)>("ncclCommInitRank", &made, size, id, rank);
    comm_ = made;
    watchdog_ = std::thread([this] { watch(); });
  }
  ~Communicator() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    watchdog_.join();
    abort();
  }

  void call(const std::function<void(ncclComm_t)>& body) {
    const ncclComm_t comm = comm_;
    EBB_CHECK(comm, "the communicator was aborted after a failure. End the process and restart");
    limit_call(Clock::now() + limit_);
    try {
      body(comm);
    } catch (...) {
      limit_call(Clock::time_point::max());
      throw;
    }
    limit_call(Clock::time_point::max());
  }
  // Throws if a collective that has started has failed, as when a connection broke.
  void check_started() {
    ncclResult_t result = ncclSuccess;
    if (const ncclComm_t comm = comm_)
      nccl::call<decltype(ncclCommGetAsyncError)>("ncclCommGetAsyncError", comm, &result);
    nccl::check(result, "NCCL");
  }
  void destroy() {
    if (const ncclComm_t comm = comm_.exchange(nullptr))
      nccl::call<decltype(ncclCommDestroy)>("ncclCommDestroy", comm);
  }
  void abort() {
    if (const ncclComm_t comm = comm_.exchange(nullptr))
      reinterpret_cast<decltype(&ncclCommAbort)>(symbol("ncclCommAbort"))(comm);
  }

 private:
  void limit_call(Clock::time_point until) {
    {
      const std::lock_guard lock(mutex_);
      until_ = until;
    }
    wake_.notify_one();
  }
  void watch() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (until_ == Clock::time_point::max())
        wake_.wait(lock);
      else if (wake_.wait_until(lock, until_) == std::cv_status::timeout && Clock::now() >= until_) {
        abort();
        until_ = Clock::time_point::max();
      }
    }
  }

  const std::chrono::milliseconds limit_;
  std::atomic<ncclComm_t> comm_{nullptr};
  std::mutex mutex_;
  std::condition_variable wake_;
  Clock::time_point until_ = Clock::time_point::max();
  bool stopping_ = false;
  std::thread watchdog_;
};

/// Is complete when the stream has reached its event. A request on the CPU then copies its result back.
class Flight : public Operation {
 public:
  Flight(std::shared_ptr<Communicator> comm, bool on_host) : comm_(std::move(comm)), on_host_(on_host) {}
  bool test() override {
    comm_->check_started();
    if (!event.query()) return false;
    if (const auto last = std::exchange(then, nullptr)) last();
    return true;
  }
  const cuda::Event* done() const override { return on_host_ ? nullptr : &event; }
  int source() const override { return peer; }

  cuda::Event event;
  std::function<void()> then;
  int peer = kAnySource;

 private:
  std::shared_ptr<Communicator> comm_;
  bool on_host_;
};

ncclDataType_t type_of(DType dtype) {
  switch (dtype) {
    case kFloat:
      return ncclFloat32;
    case kDouble:
      return ncclFloat64;
    case kHalf:
      return ncclFloat16;
    case kBFloat16:
      return ncclBfloat16;
    case kInt:
      return ncclInt32;
    case kLong:
      return ncclInt64;
    case kChar:
      return ncclInt8;
    case kByte:
    case kBool:
      return ncclUint8;
    default:
      ebb::detail::fail("NCCL does not reduce tensors of ", dtype, ". Convert them, for example to Int");
  }
}

ncclRedOp_t op_of(ReduceOp op, DType dtype) {
  if (dtype == kBool) return op == ReduceOp::SUM || op == ReduceOp::MAX ? ncclMax : ncclMin;
  constexpr ncclRedOp_t kOps[] = {ncclSum, ncclAvg, ncclProd, ncclMin, ncclMax};
  return kOps[static_cast<int>(op)];
}

class NcclTransport : public Transport {
 public:
  NcclTransport(std::shared_ptr<Notes> notes, int world_rank, std::vector<int> members, Device device,
                std::chrono::milliseconds limit, bool is_world)
      : notes_(std::move(notes)),
        members_(std::move(members)),
        world_rank_(world_rank),
        rank_(static_cast<int>(std::find(members_.begin(), members_.end(), world_rank) - members_.begin())),
        device_(device),
        limit_(limit),
        is_world_(is_world),
        stream_(cuda::Stream::from_pool(device)) {
    const cuda::DeviceGuard guard(device_);
    comm_ = std::make_shared<Communicator>(exchange_id(), rank_, size(), limit_);
    const cuda::StreamGuard on_stream(stream_);
    one_ = zeros({1}, TensorOptions(kByte).device(device_));
  }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }
  bool handles(Device device) const override { return device.is_cpu() || device == device_; }
  std::unique_ptr<Transport> split(const std::vector<int>& ranks) override {
    return std::make_unique<NcclTransport>(notes_, world_rank_, ranks, device_, limit_, false);
  }
  void post(int rank, const Note& note) override {
    if (notes_->below) notes_->below->post(rank, note);
  }
  std::optional<std::pair<int, Note>> poll() override {
    notes_->read();
    if (notes_->kept.empty()) return std::nullopt;
    const auto first = notes_->kept.front();
    notes_->kept.pop_front();
    return first;
  }
  void abort() override { comm_->abort(); }
  void close(bool healthy) override {
    healthy ? comm_->destroy() : comm_->abort();
    if (is_world_ && notes_->below) notes_->below->close(healthy);
  }
  std::unique_ptr<Operation> start(const Request& request) override;

 private:
  // Rank 0 of the group makes the id and sends it to the members. All processes make groups in one order.
  ncclUniqueId exchange_id() {
    ncclUniqueId id{};
    if (rank_ == 0) {
      nccl::call<decltype(ncclGetUniqueId)>("ncclGetUniqueId", &id);
      Note note{Note::Kind::setup, 0, 0, {}};
      static_assert(sizeof id <= sizeof note.text);
      std::memcpy(note.text, &id, sizeof id);
      for (const int member : members_)
        if (member != world_rank_) post(member, note);
      return id;
    }
    std::deque<ncclUniqueId>& arrived = notes_->setups[members_[0]];
    for (const auto until = Clock::now() + limit_; arrived.empty();
         std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      EBB_CHECK(
          Clock::now() < until, "rank ", members_[0],
          " has not sent the id of the group within the time limit. All ranks must make the same groups");
      notes_->read();
    }
    id = arrived.front();
    arrived.pop_front();
    return id;
  }
  // NCCL reads and writes only memory of its device.
  void* on_device(const void* host, std::int64_t bytes, Flight& flight, bool writes) const;
  void collective(const Request& request, ncclComm_t comm) const;
  void exchange(const Request& request, const Counts& to, const Counts& from, ncclComm_t comm) const;

  std::shared_ptr<Notes> notes_;
  std::vector<int> members_;
  int world_rank_, rank_;
  Device device_;
  std::chrono::milliseconds limit_;
  bool is_world_;
  cuda::Stream stream_;
  std::shared_ptr<Communicator> comm_;
  Variable one_;  // of barriers
};

std::unique_ptr<Operation> NcclTransport::start(const Request& request) {
  const cuda::DeviceGuard guard(device_);
  const cuda::StreamGuard on_stream(stream_);
  const bool on_host = request.device.is_cpu();
  auto flight = std::make_unique<Flight>(comm_, on_host);
  flight->peer = request.root;
  if (request.ready) stream_.wait(*request.ready);
  Request direct = request;
  if (on_host) {
    const std::int64_t size = element_size(request.dtype);
    if (request.send) direct.send = on_device(request.send, request.send_count * size, *flight, false);
    if (request.receive)
      direct.receive = on_device(request.receive, request.receive_count * size, *flight, true);
  }
  comm_->call([&](ncclComm_t comm) {
    nccl::call<decltype(ncclGroupStart)>("ncclGroupStart");
    try {
      collective(direct, comm);
    } catch (...) {
      reinterpret_cast<decltype(&ncclGroupEnd)>(symbol("ncclGroupEnd"))();
      throw;
    }
    nccl::call<decltype(ncclGroupEnd)>("ncclGroupEnd");
  });
  flight->event.record(stream_);
  return flight;
}

void* NcclTransport::on_device(const void* host, std::int64_t bytes, Flight& flight, bool writes) const {
  const NoGradGuard no_grad;
  const Variable outside = from_blob(const_cast<void*>(host), {bytes}, TensorOptions(kByte));
  const Variable inside = empty({bytes}, TensorOptions(kByte).device(device_));
  inside.copy_(outside);
  flight.then = [outside, inside, writes, before = flight.then] {
    const NoGradGuard no_grad_either;
    if (before) before();
    if (writes) outside.copy_(inside);
  };
  return inside.data_ptr();
}

void NcclTransport::collective(const Request& request, ncclComm_t comm) const {
  const std::int64_t element = element_size(request.dtype);
  const char* const send = static_cast<const char*>(request.send);
  char* const receive = static_cast<char*>(request.receive);
  cudaStream_t const stream = static_cast<cudaStream_t>(stream_.handle());
  const auto bytes = [element](std::int64_t elements) {
    return static_cast<std::size_t>(elements * element);
  };
  const auto count = static_cast<std::size_t>(request.receive_count);
  const Counts none(members_.size());
  const auto only = [&](std::int64_t elements) {
    Counts counts = none;
    counts[static_cast<std::size_t>(request.root)] = elements;
    return counts;
  };
  const Counts& parts = request.receive_counts;
  const bool even = std::adjacent_find(parts.begin(), parts.end(), std::not_equal_to<>()) == parts.end();
  const bool is_root = rank_ == request.root;
  switch (request.kind) {
    case Collective::all_reduce:
      nccl::call<decltype(ncclAllReduce)>("ncclAllReduce", receive, receive, count, type_of(request.dtype),
                                          op_of(request.op, request.dtype), comm, stream);
      break;
    case Collective::reduce:
      nccl::call<decltype(ncclReduce)>("ncclReduce", receive, receive, count, type_of(request.dtype),
                                       op_of(request.op, request.dtype), request.root, comm, stream);
      break;
    case Collective::broadcast:
      nccl::call<decltype(ncclBroadcast)>("ncclBroadcast", receive, receive, bytes(request.receive_count),
                                          ncclUint8, request.root, comm, stream);
      break;
    case Collective::all_gather:
      if (even) {
        nccl::call<decltype(ncclAllGather)>("ncclAllGather", send, receive, bytes(request.send_count),
                                            ncclUint8, comm, stream);
      } else {
        char* part = receive;
        for (int root = 0; root < size(); ++root) {
          const std::size_t length = bytes(parts[static_cast<std::size_t>(root)]);
          nccl::call<decltype(ncclBroadcast)>("ncclBroadcast", send, part, length, ncclUint8, root, comm,
                                              stream);
          part += length;
        }
      }
      break;
    case Collective::reduce_scatter: {
      const ncclDataType_t type = type_of(request.dtype);
      const ncclRedOp_t op = op_of(request.op, request.dtype);
      if (even) {
        nccl::call<decltype(ncclReduceScatter)>("ncclReduceScatter", send, receive, count, type, op, comm,
                                                stream);
      } else {
        const char* part = send;
        for (int root = 0; root < size(); ++root) {
          const std::int64_t elements = parts[static_cast<std::size_t>(root)];
          nccl::call<decltype(ncclReduce)>("ncclReduce", part, receive, static_cast<std::size_t>(elements),
                                           type, op, root, comm, stream);
          part += bytes(elements);
        }
      }
      break;
    }
    case Collective::all_to_all:
      exchange(request, request.send_counts, request.receive_counts, comm);
      break;
    case Collective::gather:
      exchange(request, only(request.send_count), is_root ? request.receive_counts : none, comm);
      break;
    case Collective::scatter:
      exchange(request, is_root ? request.send_counts : none, only(request.receive_count), comm);
      break;
    case Collective::send:
    case Collective::receive:
      EBB_CHECK(request.tag == 0, "NCCL has no tags, but the tag is ", request.tag, ". Use the tag 0");
      EBB_CHECK(request.root != kAnySource,
                "NCCL does not receive from any rank. Name the rank of the source");
      if (request.kind == Collective::send)
        exchange(request, only(request.send_count), none, comm);
      else
        exchange(request, none, only(request.receive_count), comm);
      break;
    case Collective::barrier:
      nccl::call<decltype(ncclAllReduce)>("ncclAllReduce", one_.data_ptr(), one_.data_ptr(), 1, ncclUint8,
                                          ncclMax, comm, stream);
      break;
  }
}

void NcclTransport::exchange(const Request& request, const Counts& to, const Counts& from,
                             ncclComm_t comm) const {
  const std::int64_t size = element_size(request.dtype);
  const char* send = static_cast<const char*>(request.send);
  char* receive = static_cast<char*>(request.receive);
  cudaStream_t const stream = static_cast<cudaStream_t>(stream_.handle());
  for (std::size_t rank = 0; rank < to.size(); ++rank) {
    const auto out = static_cast<std::size_t>(to[rank] * size),
               in = static_cast<std::size_t>(from[rank] * size);
    if (out > 0)
      nccl::call<decltype(ncclSend)>("ncclSend", send, out, ncclUint8, static_cast<int>(rank), comm, stream);
    if (in > 0)
      nccl::call<decltype(ncclRecv)>("ncclRecv", receive, in, ncclUint8, static_cast<int>(rank), comm,
                                     stream);
    send += out;
    receive += in;
  }
}

// Opens the world on the GPU of the local rank, which becomes the current device of the thread.
Transport* open_world(const Setup& setup) {
  symbol("ncclGetVersion");  // says what to install
  const auto devices = static_cast<int>(cuda::device_count());
  const Launch& launch = setup.launch;
  EBB_CHECK(devices > 0,
            "distributed::init: the backend \"nccl\" needs a GPU, and this machine has none that "
            "ebb can use. Use the backend \"mpi\"");
  EBB_CHECK(launch.local_rank < devices, "distributed::init: the local rank ", launch.local_rank,
            " has no GPU of its own, because this machine has ", devices, ". Start at most ", devices,
            " ranks on it");
  cuda::set_device(launch.local_rank);
  auto notes = std::make_shared<Notes>();
  const bool has_master = !launch.master_address.empty() && launch.master_port != 0;
  if (launch.world_size > 1) notes->below = has_master ? open_rendezvous(setup) : setup.open("mpi");
  std::vector<int> members(static_cast<std::size_t>(launch.world_size));
  std::iota(members.begin(), members.end(), 0);
  return new NcclTransport(std::move(notes), launch.rank, std::move(members),
                           Device(Device::CUDA, launch.local_rank), setup.timeout, true);
}

}  // namespace
}  // namespace ebb::distributed::nccl

extern "C" EBB_API ebb::distributed::Transport* ebb_distributed_transport(int abi,
                                                                          const ebb::distributed::Setup&);

ebb::distributed::Transport* ebb_distributed_transport(int abi, const ebb::distributed::Setup& setup) {
  EBB_CHECK(abi == ebb::distributed::kTransportAbi,
            "distributed::init: libebb_nccl.so is of another version of ebb. Install the matching one");
  return ebb::distributed::nccl::open_world(setup);
}
