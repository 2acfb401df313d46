// A stand-in of NCCL between processes of one machine, for the emulated device, whose memory is that of the
// host. Calls run in a thread and in shared memory. They fail if the ranks call different collectives, and if
// a program does not wait for the call before.
#include <ebb/core/visit.h>

#include <fcntl.h>
#include <nccl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kMostRanks = 8;
constexpr std::size_t kCapacity = 1 << 22;

enum class Kind { all_reduce, reduce, broadcast, all_gather, reduce_scatter, send, receive };

struct Call {
  Kind kind{};
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  ncclDataType_t type{};
  ncclRedOp_t op{};
  int root = 0;
};

struct Place {  // of a rank
  Call call;
  char data[kCapacity];
};
struct Mail {  // from one rank to another
  std::atomic<bool> full;
  std::size_t bytes;
  char data[kCapacity];
};
struct Shared {
  std::atomic<int> arrived, round;
  Place places[kMostRanks];
  Mail mails[kMostRanks][kMostRanks];
};

}  // namespace

struct ncclComm {
  Shared* shared = nullptr;
  int rank = 0, size = 1;
  std::atomic<bool> aborted{false};
  bool finalized = false;
  std::atomic<ncclResult_t> state{ncclSuccess};
  std::thread worker;  // runs the last call

  // Runs a call in a thread, as NCCL does for a communicator that does not block.
  ncclResult_t run(std::function<ncclResult_t()> call) {
    if (worker.joinable()) worker.join();
    state = ncclInProgress;
    worker = std::thread([this, call = std::move(call)] { state = call(); });
    return ncclInProgress;
  }
};

namespace {

thread_local std::vector<std::pair<ncclComm_t, Call>> group;
thread_local int depth = 0;

ebb::DType dtype_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
      return ebb::kChar;
    case ncclUint8:
      return ebb::kByte;
    case ncclInt32:
      return ebb::kInt;
    case ncclInt64:
      return ebb::kLong;
    case ncclFloat16:
      return ebb::kHalf;
    case ncclBfloat16:
      return ebb::kBFloat16;
    case ncclFloat64:
      return ebb::kDouble;
    default:
      return ebb::kFloat;
  }
}

// Waits until `ready`, or until the communicator is aborted.
bool wait(ncclComm_t comm, const std::function<bool()>& ready) {
  while (!ready()) {
    if (comm->aborted) return false;
    usleep(50);
  }
  return true;
}

// Waits for ever, or for the abort of `comm`, if the variable EBB_STAND_IN_HANGS has this name of a call.
bool hangs(const std::string& name, ncclComm_t comm) {
  const char* const chosen = std::getenv("EBB_STAND_IN_HANGS");
  while (chosen && chosen == name && !(comm && comm->aborted)) usleep(1000);
  return chosen && chosen == name;
}

bool meet(ncclComm_t comm) {
  Shared& shared = *comm->shared;
  const int round = shared.round;
  if (++shared.arrived == comm->size) {
    shared.arrived = 0;
    ++shared.round;
    return true;
  }
  return wait(comm, [&] { return shared.round != round; });
}

// Reduces `count` elements from an offset in the places of all ranks.
void reduce(ncclComm_t comm, const Call& call, std::size_t offset, void* result) {
  ebb::visit_all(dtype_of(call.type), "stand-in", [&]<class T> {
    for (std::size_t i = 0; i < call.count; ++i) {
      double value = 0;
      for (int rank = 0; rank < comm->size; ++rank) {
        T element;
        std::memcpy(&element, comm->shared->places[rank].data + (offset + i) * sizeof(T), sizeof(T));
        const double each = static_cast<double>(element);
        if (rank == 0)
          value = each;
        else if (call.op == ncclProd)
          value *= each;
        else if (call.op == ncclMin)
          value = std::min(value, each);
        else if (call.op == ncclMax)
          value = std::max(value, each);
        else
          value += each;
      }
      static_cast<T*>(result)[i] = static_cast<T>(call.op == ncclAvg ? value / comm->size : value);
    }
  });
}

ncclResult_t collective(ncclComm_t comm, const Call& call) {
  Shared& shared = *comm->shared;
  const std::size_t size = static_cast<std::size_t>(ebb::element_size(dtype_of(call.type)));
  const std::size_t bytes = call.count * size;
  const auto ranks = static_cast<std::size_t>(comm->size);
  const std::size_t input = call.kind == Kind::reduce_scatter ? bytes * ranks : bytes;
  if (input > kCapacity || (bytes > 0 && !call.receive)) return ncclInvalidArgument;
  Place& own = shared.places[comm->rank];
  own.call = call;
  const bool sends = call.kind != Kind::broadcast || comm->rank == call.root;
  if (input > 0 && sends) std::memcpy(own.data, call.send, input);
  if (!meet(comm)) return ncclInternalError;
  bool same = true;
  for (int rank = 0; rank < comm->size; ++rank) {
    const Call& other = shared.places[rank].call;
    same = same && other.kind == call.kind && other.count == call.count && other.type == call.type &&
           other.op == call.op && other.root == call.root;
  }
  if (same) {
    char* const result = static_cast<char*>(call.receive);
    if (call.kind == Kind::broadcast) {
      if (bytes > 0) std::memcpy(result, shared.places[call.root].data, bytes);
    } else if (call.kind == Kind::all_gather) {
      for (std::size_t rank = 0; rank < ranks && bytes > 0; ++rank)
        std::memcpy(result + rank * bytes, shared.places[rank].data, bytes);
    } else if (call.kind != Kind::reduce || comm->rank == call.root) {
      const bool scatters = call.kind == Kind::reduce_scatter;
      reduce(comm, call, scatters ? static_cast<std::size_t>(comm->rank) * call.count : 0, result);
    }
  }
  if (!meet(comm)) return ncclInternalError;
  return same ? ncclSuccess : ncclInvalidUsage;
}

// Runs the sends and receives of a group, in any order.
ncclResult_t messages(std::vector<std::pair<ncclComm_t, Call>> calls) {
  ncclResult_t result = ncclSuccess;
  while (!calls.empty()) {
    const ncclComm_t comm = calls[0].first;
    const std::size_t before = calls.size();
    std::erase_if(calls, [&](const auto& each) {
      const Call& call = each.second;
      const bool sends = call.kind == Kind::send;
      Mail& mail =
          sends ? comm->shared->mails[comm->rank][call.root] : comm->shared->mails[call.root][comm->rank];
      if (mail.full == sends) return false;
      if (sends) {
        std::memcpy(mail.data, call.send, mail.bytes = call.count);
      } else {
        if (mail.bytes != call.count) result = ncclInvalidUsage;
        std::memcpy(call.receive, mail.data, std::min(mail.bytes, call.count));
      }
      mail.full = sends;
      return true;
    });
    if (comm->aborted) return ncclInternalError;
    if (calls.size() == before) usleep(50);
  }
  return result;
}

ncclResult_t enqueue(ncclComm_t comm, const Call& call) {
  if (!comm || comm->state != ncclSuccess || comm->finalized || depth == 0) return ncclInvalidUsage;
  group.emplace_back(comm, call);
  return ncclSuccess;
}

}  // namespace

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static int made = 0;
  std::snprintf(id->internal, sizeof id->internal, "/ebb_stand_in_%d_%d", getpid(), made++);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (size > kMostRanks || config->blocking != 0) return ncclInvalidArgument;
  const int file = shm_open(id.internal, O_CREAT | O_RDWR, 0600);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) return ncclSystemError;
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  const ncclComm_t comm = *made = new ncclComm;
  comm->shared = static_cast<Shared*>(memory);
  comm->rank = rank;
  comm->size = size;
  return comm->run([comm, id] {
    const bool met = !hangs("init", comm) && meet(comm);
    shm_unlink(id.internal);
    return met ? ncclSuccess : ncclInternalError;
  });
}
ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (comm->state != ncclSuccess) return ncclInvalidUsage;
  comm->finalized = true;
  return comm->run([comm] { return hangs("finalize", comm) ? ncclInternalError : ncclSuccess; });
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm->state != ncclSuccess || !comm->finalized) return ncclInvalidUsage;
  return ncclCommAbort(comm);
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  hangs("abort", nullptr);
  comm->aborted = true;
  if (comm->worker.joinable()) comm->worker.join();
  munmap(comm->shared, sizeof(Shared));
  delete comm;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* result) {
  *result = comm->state;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclInvalidUsage ? "invalid usage" : "an error of the stand-in";
}
const char* ncclGetLastError(ncclComm_t) { return "stand-in"; }
ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (--depth > 0 || group.empty()) return ncclSuccess;
  const ncclComm_t comm = group[0].first;
  return comm->run([calls = std::exchange(group, {})] {
    ncclResult_t result = ncclSuccess;
    std::vector<std::pair<ncclComm_t, Call>> sent;
    for (const auto& [own, call] : calls)
      if (call.kind >= Kind::send)
        sent.emplace_back(own, call);
      else if (const ncclResult_t each = collective(own, call); each != ncclSuccess)
        result = each;
    const ncclResult_t last = messages(std::move(sent));
    return result == ncclSuccess ? last : result;
  });
}
ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t) {
  return enqueue(comm, {Kind::all_reduce, send, receive, count, type, op, 0});
}
ncclResult_t ncclReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t) {
  return enqueue(comm, {Kind::reduce, send, receive, count, type, op, root});
}
ncclResult_t ncclBroadcast(const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t) {
  return enqueue(comm, {Kind::broadcast, send, receive, count, type, {}, root});
}
ncclResult_t ncclAllGather(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t) {
  return enqueue(comm, {Kind::all_gather, send, receive, count, type, {}, 0});
}
ncclResult_t ncclReduceScatter(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t) {
  return enqueue(comm, {Kind::reduce_scatter, send, receive, count, type, op, 0});
}
ncclResult_t ncclSend(const void* send, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t) {
  return enqueue(comm, {Kind::send, send, nullptr, count, type, {}, peer});
}
ncclResult_t ncclRecv(void* receive, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t) {
  return enqueue(comm, {Kind::receive, nullptr, receive, count, type, {}, peer});
}
