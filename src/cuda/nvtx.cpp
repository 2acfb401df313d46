// Ranges of NVIDIA's Tools Extension, whose header loads the profiler that listens, if one does.
#include "cuda/nvtx.h"

#include <nvtx3/nvToolsExt.h>

namespace ebb::cuda {

int push_range(const char* message) noexcept { return nvtxRangePushA(message); }
int pop_range() noexcept { return nvtxRangePop(); }
void set_mark(const char* message) noexcept { nvtxMarkA(message); }
std::uint64_t start_range(const char* message) noexcept { return nvtxRangeStartA(message); }
void end_range(std::uint64_t id) noexcept { nvtxRangeEnd(id); }

}  // namespace ebb::cuda
