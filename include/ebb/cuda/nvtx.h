// NVTX ranges: named ranges on the timeline of a profiler such as Nsight Systems (torch.cuda.nvtx,
// torch.autograd.profiler.emit_nvtx).
#pragma once

#include <ebb/core/api.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace ebb::cuda {

/// Functions of NVIDIA's Tools Extension. They do nothing without a GPU, its plugin or an attached profiler,
/// and never throw.
namespace nvtx {

/// Opens a range of the calling thread; ranges nest. Returns the number of ranges that were already open, or
/// a negative number without a profiler (torch.cuda.nvtx.range_push).
EBB_API int range_push(const char* message) noexcept;
inline int range_push(const std::string& message) noexcept { return range_push(message.c_str()); }
/// Closes the innermost range. Returns the number of ranges still open, or a negative number without a
/// profiler.
EBB_API int range_pop() noexcept;
/// Marks one point in time.
EBB_API void mark(const char* message) noexcept;
inline void mark(const std::string& message) noexcept { mark(message.c_str()); }
/// Opens a range that need not nest and that another thread may close. Returns its id; 0 without a profiler.
EBB_API std::uint64_t range_start(const char* message) noexcept;
inline std::uint64_t range_start(const std::string& message) noexcept { return range_start(message.c_str()); }
EBB_API void range_end(std::uint64_t id) noexcept;

/// Opens a range of the calling thread for a scope.
class Range {
 public:
  explicit Range(const char* message) noexcept { range_push(message); }
  explicit Range(const std::string& message) noexcept { range_push(message); }
  ~Range() { range_pop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace nvtx

/// Switches NVTX ranges of all threads on or off. ebb opens a range "mm, seq = 7" around the kernels of an op
/// on a GPU, "MmBackward0, seq = 7" around its node in backward, and "ebb::nn::Linear encoder.0" around a
/// module's forward. The number is the sequence number of the node; ranges of ops that record no node have no
/// number. A module of ebb always has a range. Another module has one if it is called as net(x) or by a
/// Sequential. The default is off, which costs one memory load per op.
EBB_API void emit_nvtx(bool on) noexcept;
EBB_API bool is_nvtx_emitted() noexcept;

/// Sets emit_nvtx for a scope (torch.autograd.profiler.emit_nvtx).
class EmitNvtx {
 public:
  explicit EmitNvtx(bool on = true) noexcept : previous_(is_nvtx_emitted()) { emit_nvtx(on); }
  ~EmitNvtx() { emit_nvtx(previous_); }
  EmitNvtx(const EmitNvtx&) = delete;
  EmitNvtx& operator=(const EmitNvtx&) = delete;

 private:
  bool previous_;
};

}  // namespace ebb::cuda

namespace ebb::detail {

/// The flag that emit_nvtx() sets.
extern EBB_API constinit std::atomic<bool> nvtx_emitted;

}  // namespace ebb::detail
