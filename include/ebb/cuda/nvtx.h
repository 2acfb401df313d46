// Named ranges on the timeline of a profiler such as Nsight Systems (torch.cuda.nvtx,
// torch.autograd.profiler.emit_nvtx).
#pragma once

#include <ebb/core/api.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace ebb::cuda {

/// Calls of NVIDIA's Tools Extension. Without a GPU, its plugin or a profiler that listens they do nothing;
/// none of them throws.
namespace nvtx {

/// Opens a range of the calling thread; ranges nest. Returns how many were open before, negative where nobody
/// counts (torch.cuda.nvtx.range_push).
EBB_API int range_push(const char* message) noexcept;
inline int range_push(const std::string& message) noexcept { return range_push(message.c_str()); }
/// Closes the one opened last and returns how many are open now, negative where nobody counts.
EBB_API int range_pop() noexcept;
/// A moment.
EBB_API void mark(const char* message) noexcept;
inline void mark(const std::string& message) noexcept { mark(message.c_str()); }
/// A range that need not nest and that another thread may end; 0 where nobody listens.
EBB_API std::uint64_t range_start(const char* message) noexcept;
inline std::uint64_t range_start(const std::string& message) noexcept { return range_start(message.c_str()); }
EBB_API void range_end(std::uint64_t id) noexcept;

/// A range of the calling thread for a lifetime.
class Range {
 public:
  explicit Range(const char* message) noexcept { range_push(message); }
  explicit Range(const std::string& message) noexcept { range_push(message); }
  ~Range() { range_pop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace nvtx

/// Whether ebb opens ranges by itself, in all threads: "mm, seq = 7" around the kernels of an op on a GPU,
/// "MmBackward0, seq = 7" around the node of backward that belongs to it, "ebb::nn::Linear encoder.0" around
/// a module's forward (called as net(x), by a Sequential, or a module of ebb's own in any way). The number is
/// the node's, and left out where nothing records. Off unless set; what is off costs a load an op.
EBB_API void emit_nvtx(bool on) noexcept;
EBB_API bool is_nvtx_emitted() noexcept;

/// The same for a lifetime (torch.autograd.profiler.emit_nvtx).
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

/// What emit_nvtx() sets.
extern EBB_API constinit std::atomic<bool> nvtx_emitted;

}  // namespace ebb::detail
