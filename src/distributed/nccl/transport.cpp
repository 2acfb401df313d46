// NcclTransport: the backend "nccl".
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/environment.h>
#include <ebb/cuda/cuda.h>
#include <ebb/cuda/device.h>
#include <ebb/ops/creation.h>

#include "distributed/nccl/library.h"
#include "distributed/nccl/rendezvous.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <future>
#include <numeric>
#include <thread>

namespace ebb::distributed::nccl {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Counts = std::vector<std::int64_t>;

// The longest waits at the end of a process, and for an abort.
constexpr milliseconds kEndTime(10000), kAbortTime(2000);

/// The process, and its notes. Those of the kind setup have ids of communicators.
struct World {
  int rank;
  Device device;
  milliseconds limit;
  std::unique_ptr<Transport> below;  // null in a world of one process
  std::deque<std::pair<int, Note>> notes;

  void read() {
    while (auto received = below ? below->poll() : std::nullopt) notes.push_back(*received);
  }
  template <class Wanted>
  std::optional<std::pair<int, Note>> take(const Wanted& is_wanted) {
    const auto found = std::find_if(notes.begin(), notes.end(), is_wanted);
    if (found == notes.end()) return std::nullopt;
    const auto result = *found;
    notes.erase(found);
    return result;
  }
};

ncclDataType_t type_of(DType dtype) {
  constexpr std::pair<DType, ncclDataType_t> kTypes[] = {
      {kFloat, ncclFloat32},     {kDouble, ncclFloat64}, {kHalf, ncclFloat16},
      {kBFloat16, ncclBfloat16}, {kInt, ncclInt32},      {kLong, ncclInt64},
      {kChar, ncclInt8},         {kByte, ncclUint8},     {kBool, ncclUint8}};
  for (const auto& [each, type] : kTypes)
    if (each == dtype) return type;
  ebb::detail::fail("NCCL does not reduce tensors of ", dtype, ". Convert them, for example to Int");
}

ncclRedOp_t op_of(ReduceOp op, DType dtype) {
  if (dtype == kBool) return op == ReduceOp::SUM || op == ReduceOp::MAX ? ncclMax : ncclMin;
  constexpr ncclRedOp_t kOps[] = {ncclSum, ncclAvg, ncclProd, ncclMin, ncclMax};
  return kOps[static_cast<int>(op)];
}

/// One communicator. NCCL connects ranks in a thread of its own, so that no call waits for a rank that is
/// gone or hangs. The engine watches the time limits, and aborts the communicator.
class NcclTransport : public Transport {
 public:
  NcclTransport(std::shared_ptr<World> world, std::vector<int> members, bool is_world)
      : world_(std::move(world)),
        members_(std::move(members)),
        rank_(static_cast<int>(std::find(members_.begin(), members_.end(), world_->rank) - members_.begin())),
        is_world_(is_world),
        stream_(cuda::Stream::from_pool(world_->device)),
        copies_(cuda::Stream::from_pool(world_->device)) {}
  ~NcclTransport() override { abort(); }
  void connect();

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }
  bool handles(Device device) const override { return device.is_cpu() || device == world_->device; }
  std::unique_ptr<Operation> start(const Request& request) override;
  std::unique_ptr<Transport> split(const std::vector<int>& ranks) override {
    auto group = std::make_unique<NcclTransport>(world_, ranks, /*is_world=*/false);
    group->connect();
    return group;
  }
  void post(int rank, const Note& note) override {
    if (world_->below) world_->below->post(rank, note);
  }
  std::optional<std::pair<int, Note>> poll() override {
    world_->read();
    return world_->take([](const auto& each) { return each.second.kind != Note::Kind::setup; });
  }
  void abort() override;
  void close(bool healthy) override;

 private:
  class Flight;

  // Returns whether NCCL has enqueued all calls so far. Throws if one of them failed.
  bool is_idle() const {
    ncclResult_t state = ncclSuccess;
    if (comm_) comm_get_async_error(comm_, &state);
    check(state, "NCCL");
    return state != ncclInProgress;
  }
  // Reads notes while it waits, because rank 0 forwards those of others.
  template <class Ready>
  void wait_until(const Ready& is_ready, milliseconds limit) {
    for (const auto until = Clock::now() + limit; !is_ready();
         std::this_thread::sleep_for(std::chrono::microseconds(100))) {
      EBB_CHECK(Clock::now() < until,
                "the ranks of the group do not connect within the time limit: one is gone "
                "or hangs, or has not made the same groups");
      world_->read();
    }
  }
  void enqueue(const Request& request);
  // Sends to[i] bytes to rank i and receives from[i] bytes from it. Parts follow each other, except that all
  // ranks get the `same` part.
  void exchange(const Request& request, const Counts& to, const Counts& from, bool same = false);

  std::shared_ptr<World> world_;
  std::vector<int> members_;
  int rank_;
  bool is_world_;
  // Copies have a stream of their own: behind a collective, they would wait for its ranks.
  cuda::Stream stream_, copies_;
  ncclComm_t comm_ = nullptr;
  Variable one_;  // of barriers
};

/// Is complete when the stream has reached its event. A request on the CPU then copies its result back.
class NcclTransport::Flight : public Operation {
 public:
  Flight(NcclTransport& transport, const Request& request)
      : transport_(transport), on_host_(request.device.is_cpu()), root_(request.root) {}

  bool test() override {
    const bool is_idle = transport_.is_idle();
    if (!is_recorded_) {
      if (!is_idle) return false;
      event_.record(transport_.stream_);
      is_recorded_ = true;
    }
    if (!event_.query()) return false;
    const NoGradGuard no_grad;
    const cuda::StreamGuard on_stream(transport_.copies_);
    if (result_.defined()) std::exchange(result_, {}).copy_(staged_.back());
    return true;
  }
  const cuda::Event* done() const override { return on_host_ || !is_recorded_ ? nullptr : &event_; }
  int source() const override { return root_; }

  // Returns a copy of bytes of the host, because NCCL uses only memory of its device.
  void* stage(const void* host, std::int64_t bytes, bool is_result) {
    const NoGradGuard no_grad;
    const cuda::StreamGuard on_stream(transport_.copies_);
    const Variable outside = from_blob(const_cast<void*>(host), {bytes}, TensorOptions(kByte));
    staged_.push_back(outside.to(transport_.world_->device));
    if (is_result) result_ = outside;
    return staged_.back().data_ptr();
  }

 private:
  NcclTransport& transport_;
  bool on_host_;
  int root_;
  cuda::Event event_;
  std::atomic<bool> is_recorded_{false};
  std::vector<Variable> staged_;
  Variable result_;
};

// Rank 0 of the group makes the id and sends it to the members. All processes make groups in one order.
void NcclTransport::connect() {
  const cuda::DeviceGuard guard(world_->device);
  ncclUniqueId id{};
  Note note{Note::Kind::setup, 0, 0, {}};
  static_assert(sizeof id <= sizeof note.text);
  if (rank_ == 0) {
    get_unique_id(&id);
    std::memcpy(note.text, &id, sizeof id);
    for (const int member : members_)
      if (member != world_->rank) post(member, note);
  } else {
    wait_until(
        [&] {
          const auto received = world_->take([this](const auto& each) {
            return each.second.kind == Note::Kind::setup && each.first == members_[0];
          });
          if (received) std::memcpy(&id, received->second.text, sizeof id);
          return received.has_value();
        },
        world_->limit);
  }
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  static std::deque<ncclComm_t> handles;  // stay, because a thread of NCCL writes its handle again
  comm_init_rank_config(&handles.emplace_back(nullptr), size(), id, rank_, &config);
  comm_ = handles.back();
  wait_until([this] { return is_idle(); }, world_->limit);
  const cuda::StreamGuard on_stream(stream_);
  one_ = zeros({1}, TensorOptions(kByte).device(world_->device));
}

// Aborts in a thread, because NCCL may wait in the call for kernels of other groups.
void NcclTransport::abort() {
  const ncclComm_t comm = std::exchange(comm_, nullptr);
  if (!comm) return;
  const auto done = std::make_shared<std::promise<void>>();
  std::thread([comm, done] {
    comm_abort.unchecked(comm);
    done->set_value();
  }).detach();
  done->get_future().wait_for(kAbortTime);
}

void NcclTransport::close(bool healthy) {
  try {
    if (healthy && comm_) {
      comm_finalize(comm_);
      wait_until([this] { return is_idle(); }, std::min(world_->limit, kEndTime));
      comm_destroy(std::exchange(comm_, nullptr));
    }
  } catch (const Error&) {  // all results are there, so that the program need not fail
  }
  abort();
  if (is_world_ && world_->below) world_->below->close(healthy);
}

std::unique_ptr<Operation> NcclTransport::start(const Request& request) {
  const cuda::DeviceGuard guard(world_->device);
  auto flight = std::make_unique<Flight>(*this, request);
  Request direct = request;
  if (request.device.is_cpu()) {
    const std::int64_t size = element_size(request.dtype);
    if (request.send) direct.send = flight->stage(request.send, request.send_count * size, false);
    if (request.receive) direct.receive = flight->stage(request.receive, request.receive_count * size, true);
  }
  if (request.ready) stream_.wait(*request.ready);
  // NCCL takes no call while it connects the ranks for the one before.
  wait_until([this] { return is_idle(); }, world_->limit);
  group_start();
  try {
    enqueue(direct);
  } catch (...) {
    group_end.unchecked();
    throw;
  }
  group_end();
  return flight;
}

void NcclTransport::enqueue(const Request& request) {
  const bool reduces = request.kind == Collective::all_reduce || request.kind == Collective::reduce ||
                       request.kind == Collective::reduce_scatter;
  const ncclDataType_t type = reduces ? type_of(request.dtype) : ncclUint8;
  const ncclRedOp_t op = op_of(request.op, request.dtype);
  const std::int64_t unit = reduces ? 1 : element_size(request.dtype);
  const auto count = static_cast<std::size_t>(request.receive_count * unit);
  const char* const send = static_cast<const char*>(request.send);
  void* const receive = request.receive;
  const auto stream = static_cast<cudaStream_t>(stream_.handle());
  const Counts& parts = request.receive_counts;
  const bool even = std::adjacent_find(parts.begin(), parts.end(), std::not_equal_to<>()) == parts.end();
  const Counts none(members_.size());
  const auto only_root = [&](std::int64_t elements) {
    Counts counts = none;
    counts[static_cast<std::size_t>(request.root)] = elements;
    return counts;
  };
  const bool is_root = rank_ == request.root;
  switch (request.kind) {
    case Collective::all_reduce:
      all_reduce(receive, receive, count, type, op, comm_, stream);
      break;
    case Collective::reduce:
      reduce(receive, receive, count, type, op, request.root, comm_, stream);
      break;
    case Collective::broadcast:
      broadcast(receive, receive, count, type, request.root, comm_, stream);
      break;
    case Collective::all_gather:
      if (even)
        all_gather(send, receive, static_cast<std::size_t>(request.send_count * unit), type, comm_, stream);
      else
        exchange(request, Counts(members_.size(), request.send_count), parts, /*same=*/true);
      break;
    case Collective::reduce_scatter:
      if (even) {
        reduce_scatter(send, receive, count, type, op, comm_, stream);
      } else {
        std::int64_t at = 0;
        for (int root = 0; root < size(); ++root) {
          const std::int64_t part = parts[static_cast<std::size_t>(root)];
          reduce(send + at * element_size(request.dtype), receive, static_cast<std::size_t>(part), type, op,
                 root, comm_, stream);
          at += part;
        }
      }
      break;
    case Collective::all_to_all:
      exchange(request, request.send_counts, parts);
      break;
    case Collective::gather:
      exchange(request, only_root(request.send_count), is_root ? parts : none);
      break;
    case Collective::scatter:
      exchange(request, is_root ? request.send_counts : none, only_root(request.receive_count));
      break;
    case Collective::send:
    case Collective::receive:
      EBB_CHECK(request.tag == 0, "NCCL has no tags, but the tag is ", request.tag, ". Use the tag 0");
      EBB_CHECK(request.root != kAnySource,
                "NCCL does not receive from any rank. Name the rank of the source");
      exchange(request, only_root(request.send_count), only_root(request.receive_count));
      break;
    case Collective::barrier:
      all_reduce(one_.data_ptr(), one_.data_ptr(), 1, ncclUint8, ncclMax, comm_, stream);
      break;
  }
}

void NcclTransport::exchange(const Request& request, const Counts& to, const Counts& from, bool same) {
  const std::int64_t size = element_size(request.dtype);
  const char* out = static_cast<const char*>(request.send);
  char* in = static_cast<char*>(request.receive);
  const auto stream = static_cast<cudaStream_t>(stream_.handle());
  for (std::size_t rank = 0; rank < to.size(); ++rank) {
    const int peer = static_cast<int>(rank);
    const auto sent = static_cast<std::size_t>(to[rank] * size);
    const auto received = static_cast<std::size_t>(from[rank] * size);
    if (sent > 0) send(out, sent, ncclUint8, peer, comm_, stream);
    if (received > 0) receive(in, received, ncclUint8, peer, comm_, stream);
    out += same ? 0 : sent;
    in += received;
  }
}

// Opens the world on the GPU of the local rank, which becomes the current device of the thread.
Transport* open_world(const Setup& setup) {
  symbol(get_version.name);  // says what to install
  const Launch& launch = setup.launch;
  const auto devices = static_cast<int>(cuda::device_count());
  EBB_CHECK(devices > 0,
            "distributed::init: the backend \"nccl\" needs a GPU, and this machine has none that "
            "ebb can use. Use the backend \"mpi\"");
  // Slurm may show each rank only its own GPU.
  const bool has_own = devices == 1 && ebb::detail::environment("CUDA_VISIBLE_DEVICES");
  const int device = has_own ? 0 : launch.local_rank;
  EBB_CHECK(device < devices, "distributed::init: the local rank ", launch.local_rank,
            " has no GPU of its own, because this machine has ", devices, ". Start at most ", devices,
            " ranks on it");
  cuda::set_device(device);
  auto world =
      std::make_shared<World>(World{launch.rank, Device(Device::CUDA, device), setup.timeout, nullptr, {}});
  const bool has_master = !launch.master_address.empty() && launch.master_port != 0;
  if (launch.world_size > 1)
    world->below = has_master && launch.launcher != "Open MPI" ? open_rendezvous(setup) : setup.open("mpi");
  std::vector<int> members(static_cast<std::size_t>(launch.world_size));
  std::iota(members.begin(), members.end(), 0);
  auto transport = std::make_unique<NcclTransport>(std::move(world), std::move(members), /*is_world=*/true);
  transport->connect();
  return transport.release();
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
