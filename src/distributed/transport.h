// Transport: the interface that a backend implements. The plugin libebb_<backend>.so has one.
#pragma once

#include <ebb/core/dtype.h>
#include <ebb/cuda/stream.h>
#include <ebb/distributed/collectives.h>

#include "distributed/launch.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ebb::distributed {

enum class Collective : std::uint8_t {
  all_reduce,      // reduces `receive` in place
  reduce,          // the same, on rank `root`; others keep their values
  broadcast,       // `receive` holds the values on rank `root`
  all_gather,      // receive_counts[i] elements come from rank i
  reduce_scatter,  // rank i receives receive_counts[i] elements
  all_to_all,      // send_counts[i] elements go to rank i, and receive_counts[i] come from it
  gather,          // receive_counts[i] elements come from rank i, on rank `root`
  scatter,         // send_counts[i] elements go to rank i, on rank `root`
  send,            // to rank `root`
  receive,         // from rank `root`, or from any if it is kAnySource
  barrier
};
/// Returns "all_reduce", ...
const char* to_string(Collective kind);

/// One collective on contiguous memory. Parts for several ranks follow each other without gaps.
struct Request {
  Collective kind{};
  DType dtype = kByte;
  Device device = Device::CPU;  // of the memory
  ReduceOp op = ReduceOp::SUM;
  int root = 0;  // a rank of the group
  int tag = 0;
  const void* send = nullptr;  // null: none, or in place
  void* receive = nullptr;
  std::int64_t send_count = 0;  // in elements, all parts together
  std::int64_t receive_count = 0;
  /// The elements of each part, for the kinds that state them. gather and scatter state both on all ranks,
  /// with zeros for parts that no one sends.
  std::vector<std::int64_t> send_counts, receive_counts;
  /// On a device: the inputs are complete after this event. Null on the CPU.
  std::shared_ptr<cuda::Event> ready;
};

/// A collective that has started. The memory of its request stays until the operation is destroyed.
class Operation {
 public:
  virtual ~Operation() = default;
  /// Makes progress. Returns true when the result is in the memory. Throws ebb::Error if the collective
  /// failed. Never blocks.
  virtual bool test() = 0;
  /// Returns an event after which the result is in the memory, for transports of a device. Work::wait() then
  /// makes the current stream wait for it, and does not wait for test(). Null on the CPU.
  virtual const cuda::Event* done() const { return nullptr; }
  /// Returns the rank from which a `receive` received.
  virtual int source() const { return kAnySource; }
};

/// A message of the engine to the engine of another process, out of the order of collectives.
struct Note {
  enum class Kind : std::int32_t {
    query,   // asks for an answer
    answer,  // states the last collective of the sender in the group
    left,    // the same, from a rank that calls no more collectives
    failed,  // states the error of the group and the number of the failed collective
    setup    // between transports; poll() keeps it back
  } kind{};
  std::int32_t group = 0;
  std::int64_t sequence = 0;  // the number of the collective in the group
  char text[240] = {};
};

/// The connection of the processes of one group. One thread at a time makes all calls, to all transports of
/// the process and their operations, but not always the same one: the progress thread, or a thread that waits
/// for a collective. Only init() and destroy_process_group() construct, close and destroy the transport of
/// the world.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Returns whether requests may have memory of this device. Other tensors are copied to the CPU, which
  /// every transport handles.
  virtual bool handles(Device device) const { return device.is_cpu(); }
  /// Starts a collective. All ranks start the same ones in the same order.
  virtual std::unique_ptr<Operation> start(const Request& request) = 0;
  /// Returns the transport of a group of these ranks. Its members call it, after all ranks have agreed.
  virtual std::unique_ptr<Transport> split(const std::vector<int>& ranks) = 0;
  /// Sends a note, and returns a note that has arrived with the rank of its sender. Only the transport of the
  /// world is asked. Neither waits, and neither throws if the other process is gone.
  virtual void post(int, const Note&) {}
  virtual std::optional<std::pair<int, Note>> poll() { return std::nullopt; }
  /// Makes the work of a failed group end on the device, so that no stream waits for it.
  virtual void abort() {}
  /// Ends the transport before it is destroyed. After a failure (`healthy` is false) it must not wait for
  /// other processes: it cancels what is in flight, and ends the world's backend without them.
  virtual void close(bool /*healthy*/) {}
};

/// The data with which a backend starts.
struct Setup {
  Launch launch;
  std::chrono::milliseconds timeout{};
  /// Opens another backend, for transports that use one below them. Throws if it is missing.
  std::function<std::unique_ptr<Transport>(const std::string& backend)> open;
};

/// The version of this header, and the function that a plugin exports with C linkage and default visibility.
/// It returns the transport of the world, or throws ebb::Error. `abi` is the value of the caller.
constexpr int kTransportAbi = 2;
constexpr const char* kTransportEntry = "ebb_distributed_transport";
using TransportEntry = Transport* (*)(int abi, const Setup& setup);

/// Opens the plugin libebb_<backend>.so beside the library, on the system's path, or in a folder of
/// EBB_PLUGIN_PATH, and returns the transport of the world. "self" needs no plugin.
std::unique_ptr<Transport> open_transport(const std::string& backend, const Setup& setup);

}  // namespace ebb::distributed
