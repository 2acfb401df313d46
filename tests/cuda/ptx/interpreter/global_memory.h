// Global memory of the interpreter: live allocations, and shadow memory for race detection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

// Shadow memory for race detection: the last writer and the last readers of each byte.

namespace ebb::ptx {

/// One access, packed: the time interval in which it happened, its thread, whether it was strong, and the
/// interval of its warp. A block's interval ends at a barrier, and a warp's interval at a __syncwarp. Blocks
/// run one after another and interval numbers only grow, so the number also identifies the block and the
/// launch.
class AccessRecord {
 public:
  constexpr AccessRecord() = default;
  constexpr AccessRecord(std::uint32_t interval, unsigned thread, bool strong, std::uint32_t warp_interval)
      : bits_(std::uint64_t{interval} << 32 | std::uint64_t{thread} << 22 | std::uint64_t{strong} << 21 |
              (warp_interval & kWarpInterval)) {}

  constexpr std::uint32_t interval() const { return static_cast<std::uint32_t>(bits_ >> 32); }
  constexpr unsigned thread() const { return static_cast<unsigned>(bits_ >> 22) & 1023; }
  constexpr bool strong() const { return (bits_ >> 21 & 1) != 0; }
  constexpr bool same_warp_interval(std::uint32_t other) const {
    return (bits_ & kWarpInterval) == (other & kWarpInterval);
  }
  constexpr bool operator==(const AccessRecord&) const = default;

 private:
  static constexpr std::uint64_t kWarpInterval = (std::uint64_t{1} << 21) - 1;
  std::uint64_t bits_ = 0;
};

/// The last accesses of a byte. `other` is the last read by another thread than `reader`: a write conflicts
/// with both.
struct ShadowByte {
  AccessRecord writer, reader, other;
};

/// Shadow of a range of memory. Freed ranges are reused without clearing: their accesses are older than any
/// launch that may check them.
class ShadowOfRange {
 public:
  ShadowOfRange() = default;
  explicit ShadowOfRange(std::size_t bytes);
  ShadowByte* at(std::size_t offset) { return bytes_ ? bytes_.get() + offset : nullptr; }

 private:
  struct Release {
    std::size_t bytes;
    void operator()(ShadowByte* range) const;
  };
  std::unique_ptr<ShadowByte[], Release> bytes_{nullptr, {0}};
};

/// A conflict of an access with an earlier one.
enum class Conflict { none, warp, block, grid };

/// The time of an access, and its thread.
struct Moment {
  std::uint32_t interval;  // of the block
  std::uint32_t warp_interval;
  std::uint32_t block_start;   // the interval in which the block began
  std::uint32_t launch_start;  // the interval in which the launch began
  unsigned thread;

  /// How the access conflicts with an earlier one: by another thread between the same two barriers of a
  /// block, between the same two __syncwarp of a warp, or by another block of the same launch.
  Conflict conflict(const AccessRecord& earlier) const {
    if (earlier.interval() < launch_start || earlier == AccessRecord()) return Conflict::none;
    if (earlier.interval() < block_start) return Conflict::grid;
    if (earlier.interval() != interval || earlier.thread() == thread) return Conflict::none;
    if (earlier.thread() / 32 != thread / 32) return Conflict::block;
    return earlier.same_warp_interval(warp_interval) ? Conflict::warp : Conflict::none;
  }
};

/// Strong accesses may be concurrent: volatile, relaxed, acquire and release ones, and atomic updates.
enum class Access { read, write, strong_read, strong_write, update };
constexpr bool reads(Access access) {
  return access == Access::read || access == Access::strong_read || access == Access::update;
}
constexpr bool writes(Access access) { return access != Access::read && access != Access::strong_read; }
constexpr bool is_strong(Access access) { return access != Access::read && access != Access::write; }

/// A finding at one byte: the kind of conflict, and the conflicting access.
struct Found {
  Conflict conflict = Conflict::none;
  AccessRecord with;
  bool with_read = false;
};

/// Checks and records an access of a byte. Two strong accesses never conflict.
inline Found check_access(ShadowByte& byte, const Moment& now, Access access) {
  const bool strong = is_strong(access);
  const AccessRecord mine(now.interval, now.thread, strong, now.warp_interval);
  Found found;
  if (byte.writer.interval() >= now.launch_start && !(strong && byte.writer.strong()))
    found = {now.conflict(byte.writer), byte.writer, false};
  if (!writes(access)) {
    if (byte.reader == mine) return found;
    if (byte.reader.thread() != now.thread || byte.reader.interval() < now.block_start)
      byte.other = byte.reader;
    byte.reader = mine;
    return found;
  }
  // A strong write may follow a plain read: algorithms read a value before they update it with a comparison.
  if (found.conflict == Conflict::none && !strong) {
    for (const AccessRecord& reader : {byte.reader, byte.other})
      if (const Conflict conflict = now.conflict(reader);
          conflict != Conflict::none && found.conflict == Conflict::none)
        found = {conflict, reader, true};
  }
  byte.writer = mine;
  return found;
}

// Global memory of the interpreter: live allocations, which of their bytes were written, and the last
// accesses of each byte.

/// An allocation of global memory with the bytes [first, last).
struct Allocation {
  std::uint64_t first = 0, last = 0;
  /// One flag per byte: 1 if it was written. Null for memory that counts as written.
  std::unique_ptr<unsigned char[], void (*)(void*)> written{nullptr, nullptr};
  /// The last accesses of each byte. Null for memory without race detection.
  ShadowOfRange shadow;
};

/// The live allocations. All functions are thread-safe.
class GlobalMemory {
 public:
  /// Adds device memory, which counts as unwritten.
  void add_device(const void* first, std::size_t bytes);
  /// Adds host memory that kernels may access. It counts as written and has no race detection, because the
  /// host writes it without notice.
  void add_host(const void* first, std::size_t bytes);
  /// Removes the allocation that begins at the address, if there is one.
  void remove(const void* first);
  /// Marks bytes as written by a copy, a fill or a library.
  void mark_written(const void* first, std::size_t bytes);
  /// The allocation that contains the address, or null. The pointer is valid until the allocation is removed.
  Allocation* around(std::uint64_t address);
  /// The last allocation that begins at or before the address, or null; used for messages.
  Allocation* before(std::uint64_t address);

 private:
  void add(std::uint64_t first, std::size_t bytes, bool device);

  std::mutex mutex_;
  std::map<std::uint64_t, Allocation> live_;  // by first address
};

}  // namespace ebb::ptx
